/* Shared by the files of src/symbols.
 *
 * symbols.c keeps the mappings and serves queries: it finds the mapping of an address, then the module, then the
 * address within the file (address minus bias). module.c opens files and finds the bias. table.c turns a module's
 * symbols into a sorted array of pieces. plt.c adds the stubs of the procedure linkage table. names.c makes names
 * readable. lines.c reads DWARF.
 *
 * Files are not trusted: every offset and size from a file is checked against the bounds of its container. A damaged
 * file, or lack of memory, only costs names. */
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
    Elf *elf; /* NULL: no file, and `fd` is not open */
};

/* A loaded segment of a file (PT_LOAD). */
struct segment {
    uint64_t offset, file_bytes;    /* in the file */
    uint64_t address, memory_bytes; /* without bias; bytes beyond file_bytes are zero */
    bool exec;
};

/* A loaded section. The sections of a module are sorted and disjoint. */
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
    bool plt;   /* a PLT stub; `name` is the function that it calls */
    bool ready; /* `name` is in its final form (symbol_name) */
    bool owned; /* table_free frees `name` */
};

/* A range of addresses, up to the next piece, that belongs to one symbol. */
struct piece {
    uint64_t start;  /* without bias */
    uint32_t symbol; /* index, or NO_SYMBOL */
    bool inside;     /* true: the symbol contains the range; false: the symbol has no size, and the range follows it */
};

/* One call of symbols_map for a file. */
struct view {
    uint64_t start, offset;
    uint64_t bias; /* mapped address minus the address in the file */
    size_t seen;   /* number of views when find_bias ran; 0: it has not run */
    bool has_bias; /* the view maps a loaded segment, so `bias` is valid */
};

/* A mapped file, or a mapping that only has a name, such as "[stack]". */
struct module {
    char *path;  /* as mapped, or "[anonymous]" */
    char *label; /* name of addresses without a symbol */
    bool is_file;

    struct view *views; /* in order of mapping */
    size_t view_count, view_room;

    bool opened;        /* module_open has run, so the fields below are valid */
    struct image image; /* the file, if it is a RISC-V program or library */
    bool fixed;         /* ET_EXEC: loaded at the file's own addresses, so the bias is 0 */
    struct segment *segments;
    size_t segment_count;
    struct section *sections;
    size_t section_count;

    bool debug_sought;
    struct image debug; /* a separate file with debugging information, if there is one */

    bool table_made;
    struct symbol *symbols; /* sorted by start, one per start */
    size_t symbol_count, symbol_room;
    struct piece *pieces; /* sorted by start */
    size_t piece_count;

    bool lines_sought;
    struct lines *lines; /* NULL: no line information */
};

/* ---- module.c */

/* NULL when out of memory. */
struct module *module_new(const char *path);
void module_free(struct module *m);
/* Opens the file; does nothing after the first call. */
void module_open(struct module *m, const char *sysroot);
/* Opens the separate file with debugging information, if there is one; does nothing after the first call. */
void module_open_debug(struct module *m, const char *sysroot);
/* The new view's index, or -ENOMEM. */
ssize_t module_add_view(struct module *m, uint64_t start, uint64_t offset);
/* False if the view does not map a segment of the module's program headers. The module must be open. */
bool module_bias(struct module *m, size_t view, uint64_t *bias);
/* The segment that contains an address without bias, or NULL. */
const struct segment *module_segment(const struct module *m, uint64_t address);
/* Index of the section that contains an address without bias, or -1. */
ptrdiff_t module_section(const struct module *m, uint64_t address);
/* The first section of this type, and of this name unless `name` is NULL; or NULL. */
Elf_Scn *image_section(const struct image *image, uint32_t type, const char *name);

/* ---- table.c */

/* The piece that contains an address without bias; NULL: no symbol is known. Reads the symbols at the first call. */
const struct piece *table_find(struct module *m, const char *sysroot, uint64_t address);
/* Reads the symbols; does nothing after the first call. */
void table_make(struct module *m, const char *sysroot);
void table_free(struct module *m);
/* Adds a symbol while the table is made. Sets its section and cuts it at the section's end. Drops a symbol outside all
 * sections, and any symbol when out of memory. */
void table_add(struct module *m, struct symbol s);

/* The strings of a section, up to the last terminating zero. */
struct strings {
    const char *text;
    size_t length; /* 0, or including the last zero byte */
};
struct strings strings_of(Elf *elf, size_t section);

/* ---- plt.c */

/* Adds symbols for the stubs while the table is made. */
void plt_add_symbols(struct module *m);

/* ---- names.c */

/* The demangled name without symbol version; computed at the first call. */
const char *symbol_name(struct symbol *s);
/* False for mapping symbols and local labels of assembler and compiler. */
bool name_is_real(const char *name);
/* Compares two names of one address by preference: negative if the first is better, that is, has fewer leading
 * underscores or is shorter. */
int name_compare(const char *a, const char *b);

/* ---- lines.c */

/* The line of an address without bias. Reads the DWARF at the first call. */
bool lines_find(struct module *m, const char *sysroot, uint64_t address, const char **file, unsigned *line);
void lines_free(struct lines *l);

#endif
