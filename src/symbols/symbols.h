/* Names for addresses of a guest process: modules, functions, data objects, source lines.
 *
 * The caller says which files were mapped where; names come from the files' own symbol tables, full or dynamic, and
 * lines from their DWARF, all looked up when first asked for and kept. A later mapping hides what it covers of earlier
 * ones. Nothing fails for want of a file: an address whose file is gone, stripped or unknown still has a module and an
 * offset, and a name that says so.
 *
 * Names live as long as the `struct symbols`. Functions are told by the symbol that contains the address or, in code
 * without one (stripped files have only dynamic symbols), by the nearest before it in the same section; `size` is then
 * 0. C++ and Rust names are demangled. Stubs of the procedure linkage table are called NAME@plt. */
#ifndef CYCLESCOPE_SYMBOLS_SYMBOLS_H
#define CYCLESCOPE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct symbols;

/* `sysroot`: the folder that guest paths are looked up in first, or NULL. */
struct symbols *symbols_new(const char *sysroot, struct error *err) MUST_CHECK;
void symbols_free(struct symbols *s);

/* The bytes from `offset` on of the file that the guest knows as `path` are at `start`; also for data. A path that is
 * empty or begins with '[' ("[stack]", "[heap]") is no file and only names the module. */
int symbols_map(struct symbols *s, uint64_t start, uint64_t length, uint64_t offset, const char *path,
                struct error *err) MUST_CHECK;

/* Where an address lies. */
struct place {
    const char *module; /* the path as mapped, "[anonymous]" for one without, "[unknown]" outside of all mappings */
    const char
        *name;       /* of the function or object, demangled; "[MODULE]" with the module's last component without any */
    uint64_t start;  /* address of the function or object; without a symbol, of the mapping */
    uint64_t size;   /* its bytes, 0: not known */
    bool has_symbol; /* `name` is a symbol's */
};

void symbols_code(struct symbols *s, uint64_t pc, struct place *p);
void symbols_data(struct symbols *s, uint64_t addr, struct place *p);

/* The source line of an instruction; false if nobody knows. `file` is as the compiler was given it, joined with its
 * folder. */
bool symbols_line(struct symbols *s, uint64_t pc, const char **file, unsigned *line);

/* Up to `n` bytes of a mapped file's code at `pc`, for disassembly; the number that were there. */
unsigned symbols_bytes(struct symbols *s, uint64_t pc, void *to, unsigned n);

/* Calls `each` for every function symbol with a size that the code of this module has, stubs included, in order of
 * address. Of several names for one address only the one that is shown counts. */
void symbols_functions(struct symbols *s, const char *module, void (*each)(void *context, const struct place *p),
                       void *context);

#endif
