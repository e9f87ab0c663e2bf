/* What the files of this module share.
 *
 * symbols.c has the mappings and answers questions: mapping, then module, then the address that the file itself uses
 * (address less bias). module.c opens files and finds the bias; table.c makes a module's symbols into a sorted array of
 * pieces, plt.c adds the stubs of the procedure linkage table, names.c makes names readable, lines.c reads DWARF.
 *
 * Files are not trusted: everything that comes out of one is checked against the bounds of what it lies in. Whatever is
 * wrong, or memory running out, costs names and nothing else. */
#ifndef CYCLESCOPE_SYMBOLS_SYMBOLS_PRIV_H
#define CYCLESCOPE_SYMBOLS_SYMBOLS_PRIV_H

#include <gelf.h>
#include <stddef.h>

#include "symbols/symbols.h"

#define NO_SYMBOL UINT32_MAX

enum { GUEST_PAGE = 4096 };

/* An open ELF file. */
struct image {
    int fd;
    Elf *elf; /* NULL: there is none, and `fd` is not open */
};

/* A part of a file that is loaded. */
struct segment {
    uint64_t offset, file_bytes;    /* in the file */
    uint64_t address, memory_bytes; /* without bias; what the file does not fill is zero */
    bool exec;
};

/* A section that is loaded. A module's are sorted and disjoint. */
struct section {
    uint64_t start, end; /* without bias */
    bool exec;
};

struct symbol {
    uint64_t start; /* without bias */
    uint64_t size;  /* 0: not known; never past the end of the section */
    const char *name;
    uint32_t section; /* index of the section that contains `start` */
    bool typed;       /* a function or an object, not a mere label */
    bool local;
    bool plt;   /* the stub that leads to the function of this name */
    bool ready; /* `name` is as it is shown */
    bool owned; /* `name` is ours to free */
};

/* From `start` to the next piece, addresses belong to one symbol. */
struct piece {
    uint64_t start;  /* without bias */
    uint32_t symbol; /* index, or NO_SYMBOL */
    bool inside;     /* the symbol contains them, as opposed to being the nearest before them */
};

/* One call of symbols_map for a file. */
struct view {
    uint64_t start, offset;
    uint64_t bias; /* what its addresses are above those in the file */
    size_t seen;   /* how many views there were when `bias` was found; 0: it was not yet sought */
    bool has_bias; /* what is mapped there is a part that is loaded */
};

/* What can be mapped: a file or something that only has a name. */
struct module {
    char *path;  /* as mapped, or "[anonymous]" */
    char *label; /* its name for addresses without a symbol */
    bool is_file;

    struct view *views; /* in order of mapping */
    size_t view_count, view_room;

    bool opened;        /* the rest is valid */
    struct image image; /* the file, if it is a RISC-V program or library */
    bool fixed;         /* it is loaded where the file says: the bias is 0 */
    struct segment *segments;
    size_t segment_count;
    struct section *sections;
    size_t section_count;

    bool debug_sought;
    struct image debug; /* the file with its debugging information, if that is another one */

    bool table_made;
    struct symbol *symbols; /* sorted by start, one per start */
    size_t symbol_count, symbol_room;
    struct piece *pieces; /* sorted by start */
    size_t piece_count;

    bool lines_sought;
    struct lines *lines; /* NULL: it has none */
};

/* ---- module.c */

/* NULL when out of memory. */
struct module *module_new(const char *path);
void module_free(struct module *m);
/* Opens the file unless that was done. */
void module_open(struct module *m, const char *sysroot);
/* Finds the other file with debugging information, if there is one, unless that was done. */
void module_open_debug(struct module *m, const char *sysroot);
/* -ENOMEM, or the new view's index. */
ssize_t module_add_view(struct module *m, uint64_t start, uint64_t offset);
/* False: what was mapped there is not loaded by the module's program headers. The module must be open. */
bool module_bias(struct module *m, size_t view, uint64_t *bias);
/* The segment that an address without bias is in, or NULL. */
const struct segment *module_segment(const struct module *m, uint64_t address);
/* Index of the section that contains an address without bias, or -1. */
ptrdiff_t module_section(const struct module *m, uint64_t address);
/* The first section of this type, or with `name` also of this name; NULL if there is none. */
Elf_Scn *image_section(const struct image *image, uint32_t type, const char *name);

/* ---- table.c */

/* The piece that an address without bias is in; NULL: no symbol is known. Reads the symbols at the first call. */
const struct piece *table_find(struct module *m, const char *sysroot, uint64_t address);
/* Reads the symbols unless that was done. */
void table_make(struct module *m, const char *sysroot);
void table_free(struct module *m);
/* While it is made: takes the symbol if its address is in a section, which it sets, and cuts it at the section's end.
 * Without memory it is left out. */
void table_add(struct module *m, struct symbol s);

/* The strings of a section, as far as they end. */
struct strings {
    const char *text;
    size_t length; /* the last byte is zero, if there is one */
};
struct strings strings_of(Elf *elf, size_t section);

/* ---- plt.c */

/* Adds the stubs to the table that is being made. */
void plt_add_symbols(struct module *m);

/* ---- names.c */

/* The name as it is shown; made when first asked for. */
const char *symbol_name(struct symbol *s);
/* Whether this is a name that people gave, and not the assembler. */
bool name_is_real(const char *name);
/* Of two names for one thing, negative if the first is the better: fewer underscores before it, shorter. */
int name_compare(const char *a, const char *b);

/* ---- lines.c */

/* The line of an address without bias. Reads the DWARF at the first call. */
bool lines_find(struct module *m, const char *sysroot, uint64_t address, const char **file, unsigned *line);
void lines_free(struct lines *l);

#endif
