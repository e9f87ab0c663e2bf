/* Names for addresses of a guest process: modules, functions, data objects, source lines.
 *
 * The caller says which files were mapped where. Names come from the files' symbol tables, full or dynamic; lines come
 * from their DWARF. Both are read on first use and kept. A later mapping hides the part of earlier ones that it covers.
 * A missing file is not an error: an address whose file is gone, stripped or unknown still gets a module, an offset and
 * a placeholder name.
 *
 * Names live as long as the `struct symbols`. The function of an address is the symbol that contains the address. A
 * symbol without a size contains everything up to the next symbol of its section; `size` is then 0. Code behind the end
 * of a symbol, which stripped files have much of, has no function. C++ and Rust names are demangled. Stubs of the
 * procedure linkage table are called NAME@plt. */
#ifndef CYCLESCOPE_SYMBOLS_SYMBOLS_H
#define CYCLESCOPE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct symbols;

/* `sysroot`: the folder in which guest paths are looked up first, or NULL. */
struct symbols *symbols_new(const char *sysroot, struct error *err) MUST_CHECK;
void symbols_free(struct symbols *s);

/* Declares that `length` bytes from `offset` of the guest's file `path` are mapped at `start`; call it for code and for
 * data. A path that is empty or begins with '[' ("[stack]", "[heap]") is not a file and only names the module. */
int symbols_map(struct symbols *s, uint64_t start, uint64_t length, uint64_t offset, const char *path,
                struct error *err) MUST_CHECK;

/* The place of an address. */
struct place {
    const char *module; /* path as mapped; "[anonymous]" if the mapping has none, "[unknown]" outside all mappings */
    const char *name;   /* function or object, demangled; without a symbol "[MODULE]", the module's last component */
    uint64_t start;     /* address of the function or object; without a symbol, of the mapping */
    uint64_t size;      /* of the function or object in bytes; 0: not known */
    bool has_symbol;    /* `name` comes from a symbol */
};

void symbols_code(struct symbols *s, uint64_t pc, struct place *p);
void symbols_data(struct symbols *s, uint64_t addr, struct place *p);

/* The source line of an instruction; false if it is not known. `file` is the compiler's path; a relative path is joined
 * with the folder of the compilation. */
bool symbols_line(struct symbols *s, uint64_t pc, const char **file, unsigned *line);

/* Copies up to `n` bytes of code at `pc` from the mapped file, for disassembly; returns the number of bytes copied. */
unsigned symbols_bytes(struct symbols *s, uint64_t pc, void *to, unsigned n);

#endif
