/* Source lines from DWARF. The address ranges of all compilation units are read at once; the line table of a unit is
 * read when one of its addresses is first looked up. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "symbols/symbols_priv.h"

enum { ZEROS_BEHIND = 64 }; /* bytes behind the copy of the file */

struct unit {
    Dwarf_Die die;
    Dwarf_Lines *rows; /* line table, sorted by address; owned by libdw */
    size_t row_count;
    char **paths; /* of its files by number, joined with its folder; entries are NULL until first used */
    size_t path_count;
    bool read; /* the fields above are set */
};

/* An address range of a unit. Ranges may overlap: the linker leaves discarded code at address 0. */
struct unit_range {
    uint64_t low, high;
    uint64_t reach; /* highest `high` of this range and all before it */
    uint32_t unit;
};

struct lines {
    char *file; /* copy of the file, with ZEROS_BEHIND bytes of zeros behind it */
    Elf *elf;
    Dwarf *dwarf;
    struct unit *units;
    size_t unit_count, unit_room;
    struct unit_range *ranges; /* sorted by low */
    size_t range_count, range_room;
};

static bool add_range(struct lines *l, uint64_t low, uint64_t high, uint32_t unit)
{
    struct unit_range *ranges = array_grow(l->ranges, l->range_count, &l->range_room, sizeof *ranges);
    if (ranges == NULL)
        return false;
    l->ranges = ranges;
    l->ranges[l->range_count++] = (struct unit_range){.low = low, .high = high, .unit = unit};
    return true;
}

static bool add_unit(struct lines *l, const Dwarf_Die *die)
{
    struct unit *units = array_grow(l->units, l->unit_count, &l->unit_room, sizeof *units);
    if (units == NULL)
        return false;
    l->units = units;
    l->units[l->unit_count++] = (struct unit){.die = *die};
    return true;
}

/* Adds a unit and its ranges. Skips ranges outside code sections: the linker leaves discarded code at address 0. False:
 * out of memory. */
static bool read_unit(struct lines *l, const struct module *m, Dwarf_Die *die)
{
    Dwarf_Addr base, low, high;
    bool added = false;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
        ptrdiff_t section = low < high ? module_section(m, low) : -1;
        if (section < 0 || !m->sections[section].exec)
            continue;
        if (!added && !add_unit(l, die))
            return false;
        added = true;
        if (!add_range(l, low, high, (uint32_t)l->unit_count - 1))
            return false;
    }
    return true;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* libdw trusts that strings are terminated. Gives it a copy of the file with zeros behind it, so that every string
 * ends. */
static bool copy_file(struct lines *l, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_size <= 0)
        return false;
    size_t length = (size_t)st.st_size;
    l->file = malloc(length + ZEROS_BEHIND);
    if (l->file == NULL)
        return false;
    ssize_t got = io_pread(fd, l->file, length, 0);
    size_t done = got > 0 ? (size_t)got : 0;
    memset(l->file + done, 0, length - done + ZEROS_BEHIND);
    l->elf = elf_memory(l->file, length);
    l->dwarf = l->elf ? dwarf_begin_elf(l->elf, DWARF_C_READ, NULL) : NULL;
    return l->dwarf != NULL;
}

static void read_units(struct lines *l, const struct module *m)
{
    Dwarf_CU *unit = NULL, *next;
    Dwarf_Die die;
    while (dwarf_get_units(l->dwarf, unit, &next, NULL, NULL, &die, NULL) == 0 && read_unit(l, m, &die))
        unit = next;
    if (l->range_count > 0)
        qsort(l->ranges, l->range_count, sizeof *l->ranges, compare_ranges);
    for (size_t i = 0; i < l->range_count; i++) {
        uint64_t before = i ? l->ranges[i - 1].reach : 0;
        l->ranges[i].reach = l->ranges[i].high > before ? l->ranges[i].high : before;
    }
}

static struct lines *lines_read(const struct module *m, const struct image *image)
{
    struct lines *l = image_section(image, SHT_PROGBITS, ".debug_line") ? calloc(1, sizeof *l) : NULL;
    if (l == NULL)
        return NULL;
    if (copy_file(l, image->fd))
        read_units(l, m);
    if (l->range_count > 0)
        return l;
    lines_free(l);
    return NULL;
}

/* Reads the module's own DWARF, or else that of its separate file with debugging information. */
static void lines_open(struct module *m, const char *sysroot)
{
    if (m->lines_sought)
        return;
    m->lines_sought = true;
    module_open(m, sysroot);
    m->lines = lines_read(m, &m->image);
    if (m->lines)
        return;
    module_open_debug(m, sysroot);
    m->lines = lines_read(m, &m->debug);
}

static void read_rows(struct unit *u)
{
    Dwarf_Files *files;
    if (u->read)
        return;
    u->read = true;
    if (dwarf_getsrclines(&u->die, &u->rows, &u->row_count) != 0)
        u->row_count = 0;
    if (dwarf_getsrcfiles(&u->die, &files, &u->path_count) == 0)
        u->paths = calloc(u->path_count, sizeof *u->paths);
    if (u->paths == NULL)
        u->path_count = 0;
}

/* The path of a row's file. libdw returns relative paths as they were given to the compiler: joins them with the
 * compilation's folder. */
static const char *row_path(struct unit *u, Dwarf_Line *row)
{
    Dwarf_Files *files;
    Dwarf_Attribute attribute;
    size_t number;
    const char *path = dwarf_linesrc(row, NULL, NULL);
    if (path == NULL || path[0] == '/' || dwarf_line_file(row, &files, &number) != 0 || number >= u->path_count)
        return path;
    if (u->paths[number])
        return u->paths[number];
    const char *folder = dwarf_formstring(dwarf_attr(&u->die, DW_AT_comp_dir, &attribute));
    if (folder == NULL || asprintf(&u->paths[number], "%s/%s", folder, path) < 0) {
        u->paths[number] = NULL;
        return path;
    }
    return u->paths[number];
}

/* A row is valid up to the next row; a row that ends a sequence has no line. Of several rows for one address the last
 * one counts. */
static bool unit_find(struct unit *u, uint64_t address, const char **file, unsigned *line)
{
    read_rows(u);
    size_t low = 0, high = u->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        Dwarf_Addr start = 0;
        dwarf_lineaddr(dwarf_onesrcline(u->rows, middle), &start);
        if (start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    bool ends;
    int number;
    Dwarf_Line *row = low > 0 ? dwarf_onesrcline(u->rows, low - 1) : NULL;
    if (row == NULL || dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineno(row, &number) != 0 || number <= 0)
        return false;
    *line = (unsigned)number;
    *file = row_path(u, row);
    return *file != NULL;
}

bool lines_find(struct module *m, const char *sysroot, uint64_t address, const char **file, unsigned *line)
{
    lines_open(m, sysroot);
    struct lines *l = m->lines;
    size_t low = 0, high = l ? l->range_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->ranges[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i > 0 && l->ranges[i - 1].reach > address; i--)
        if (l->ranges[i - 1].high > address && unit_find(&l->units[l->ranges[i - 1].unit], address, file, line))
            return true;
    return false;
}

void lines_free(struct lines *l)
{
    if (l == NULL)
        return;
    dwarf_end(l->dwarf);
    elf_end(l->elf);
    free(l->file);
    for (size_t i = 0; i < l->unit_count; i++) {
        for (size_t k = 0; k < l->units[i].path_count; k++)
            free(l->units[i].paths[k]);
        free(l->units[i].paths);
    }
    free(l->units);
    free(l->ranges);
    free(l);
}
