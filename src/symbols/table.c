/* The symbols of one module, sorted once, and found by binary search.
 *
 * Symbols may nest, overlap, have aliases, or lack a size. This is resolved when the table is made: the addresses are
 * cut into pieces. Each piece belongs to the innermost symbol that contains it. A symbol without a size, such as a
 * label of an assembly program, reaches to the next symbol or to the end of its section. What lies behind the end of a
 * symbol with a size belongs to no symbol: in a stripped file, it is most likely a function whose name is gone. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/symbols_priv.h"

struct strings strings_of(Elf *elf, size_t section)
{
    struct strings s = {NULL, 0};
    GElf_Shdr header;
    Elf_Scn *scn = elf_getscn(elf, section);
    if (scn == NULL || gelf_getshdr(scn, &header) == NULL || header.sh_type != SHT_STRTAB)
        return s;
    Elf_Data *data = elf_getdata(scn, NULL);
    if (data == NULL || data->d_buf == NULL)
        return s;
    const char *text = data->d_buf, *last = memrchr(text, '\0', data->d_size);
    if (last)
        s = (struct strings){text, (size_t)(last - text) + 1};
    return s;
}

/* ---- reading */

void table_add(struct module *m, struct symbol s)
{
    ptrdiff_t section = module_section(m, s.start);
    if (section < 0)
        return;
    s.section = (uint32_t)section;
    if (s.size > m->sections[section].end - s.start)
        s.size = m->sections[section].end - s.start;
    struct symbol *symbols = array_grow(m->symbols, m->symbol_count, &m->symbol_room, sizeof *symbols);
    if (symbols == NULL)
        return;
    m->symbols = symbols;
    m->symbols[m->symbol_count++] = s;
}

/* Marks of the linker and the C library in data, such as __bss_start and data_start, would name the data that happens
 * to follow them. Other labels without type and size are kept: assembly programs use them for variables. */
static bool is_mark(const GElf_Sym *symbol, const char *name)
{
    return symbol->st_size == 0 && (name[0] == '_' || GELF_ST_BIND(symbol->st_info) == STB_WEAK);
}

static void add_elf_symbol(struct module *m, const GElf_Sym *symbol, const char *name)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    bool typed = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT || type == STT_COMMON;
    if ((!typed && type != STT_NOTYPE) || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
        return;
    ptrdiff_t section = module_section(m, symbol->st_value);
    if (section < 0 || !name_is_real(name) || (!m->sections[section].exec && is_mark(symbol, name)))
        return;
    table_add(m, (struct symbol){.start = symbol->st_value,
                                 .size = symbol->st_size,
                                 .name = name,
                                 .typed = typed,
                                 .local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL});
}

static void read_symbols(struct module *m, Elf *elf, Elf_Scn *scn)
{
    GElf_Shdr header;
    if (scn == NULL || gelf_getshdr(scn, &header) == NULL)
        return;
    struct strings names = strings_of(elf, header.sh_link);
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) && symbol.st_name < names.length)
            add_elf_symbol(m, &symbol, names.text + symbol.st_name);
    }
}

/* Reads the full table from the file or its debugging file, or else the dynamic symbol table. */
static void read_best_symbols(struct module *m, const char *sysroot)
{
    Elf_Scn *scn = image_section(&m->image, SHT_SYMTAB, NULL);
    if (scn) {
        read_symbols(m, m->image.elf, scn);
        return;
    }
    module_open_debug(m, sysroot);
    scn = image_section(&m->debug, SHT_SYMTAB, NULL);
    if (scn)
        read_symbols(m, m->debug.elf, scn);
    else
        read_symbols(m, m->image.elf, image_section(&m->image, SHT_DYNSYM, NULL));
}

/* ---- sorting */

/* By start; aliases of one start in order of preference. */
static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->typed != y->typed)
        return x->typed ? -1 : 1;
    if (x->local != y->local)
        return x->local ? 1 : -1;
    if ((x->size == 0) != (y->size == 0))
        return x->size == 0 ? 1 : -1;
    return name_compare(x->name, y->name);
}

/* Keeps the preferred name of each start; it inherits a size if it has none. */
static void drop_aliases(struct module *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->symbol_count; i++) {
        struct symbol *s = &m->symbols[i], *last = kept ? &m->symbols[kept - 1] : NULL;
        if (last == NULL || s->start != last->start)
            m->symbols[kept++] = *s;
        else if (last->size == 0)
            last->size = s->size;
    }
    m->symbol_count = kept;
}

/* ---- cutting into pieces */

struct cutting {
    struct module *m;
    uint32_t *open; /* symbols that contain the current address, innermost last */
    size_t open_count;
};

static uint64_t symbol_end(const struct module *m, uint32_t i)
{
    return m->symbols[i].start + m->symbols[i].size;
}

static void put_piece(struct module *m, uint64_t start, uint32_t symbol, bool inside)
{
    if (m->piece_count > 0 && m->pieces[m->piece_count - 1].start == start)
        m->piece_count--;
    m->pieces[m->piece_count++] = (struct piece){start, symbol, inside};
}

/* Closes the symbols that end at or before `address`. A symbol that ends no later than an inner one has been hidden by
 * it to its end, and gets no further piece. */
static void close_symbols(struct cutting *c, uint64_t address)
{
    struct module *m = c->m;
    while (c->open_count > 0 && symbol_end(m, c->open[c->open_count - 1]) <= address) {
        uint32_t inner = c->open[--c->open_count];
        uint64_t end = symbol_end(m, inner);
        while (c->open_count > 0 && symbol_end(m, c->open[c->open_count - 1]) <= end)
            c->open_count--;
        if (c->open_count > 0)
            put_piece(m, end, c->open[c->open_count - 1], true);
        else
            put_piece(m, end, NO_SYMBOL, false);
    }
}

static void close_section(struct cutting *c, uint32_t section)
{
    uint64_t end = c->m->sections[section].end;
    close_symbols(c, end);
    put_piece(c->m, end, NO_SYMBOL, false);
}

static void cut_pieces(struct cutting *c)
{
    struct module *m = c->m;
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct symbol *s = &m->symbols[i];
        if (i > 0 && s->section != s[-1].section)
            close_section(c, s[-1].section);
        close_symbols(c, s->start);
        if (s->size > 0) {
            put_piece(m, s->start, i, true);
            c->open[c->open_count++] = i;
        } else if (c->open_count == 0) {
            put_piece(m, s->start, i, false);
        }
    }
    if (m->symbol_count > 0)
        close_section(c, m->symbols[m->symbol_count - 1].section);
}

void table_make(struct module *m, const char *sysroot)
{
    if (m->table_made)
        return;
    m->table_made = true;
    module_open(m, sysroot);
    if (m->image.elf == NULL)
        return;
    read_best_symbols(m, sysroot);
    plt_add_symbols(m);
    if (m->symbol_count == 0)
        return;
    qsort(m->symbols, m->symbol_count, sizeof *m->symbols, compare_symbols);
    drop_aliases(m);
    /* A symbol creates at most three pieces: its own, one behind it and one behind its section. */
    m->pieces = calloc(m->symbol_count, 3 * sizeof *m->pieces);
    struct cutting c = {.m = m, .open = calloc(m->symbol_count, sizeof *c.open)};
    if (m->pieces && c.open && m->symbol_count < NO_SYMBOL)
        cut_pieces(&c);
    free(c.open);
}

const struct piece *table_find(struct module *m, const char *sysroot, uint64_t address)
{
    table_make(m, sysroot);
    size_t low = 0, high = m->piece_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->pieces[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && m->pieces[low - 1].symbol != NO_SYMBOL ? &m->pieces[low - 1] : NULL;
}

void table_free(struct module *m)
{
    for (size_t i = 0; i < m->symbol_count; i++)
        if (m->symbols[i].owned)
            free((char *)m->symbols[i].name);
    free(m->symbols);
    free(m->pieces);
}
