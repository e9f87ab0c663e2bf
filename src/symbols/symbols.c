/* Mappings; translation of an address to a module and an address within the module's file; queries. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "symbols/symbols_priv.h"

/* A range of addresses that one view of a module fills. */
struct mapping {
    uint64_t start, end;
    struct module *module;
    size_t view;     /* of `module` */
    uint64_t number; /* of the symbols_map call; a later mapping hides an earlier one */
};

/* Sorted and disjoint. */
struct mappings {
    struct mapping *map;
    size_t count, room;
};

struct symbols {
    char *sysroot; /* or NULL */
    struct module **modules;
    size_t module_count, module_room;
    struct mappings mapped; /* from symbols_map */
    uint64_t number;        /* calls of symbols_map so far */
    /* For each loaded module, the range from its lowest to its highest address. It also covers variables in memory that
     * is not mapped from the file (.bss). Computed when needed. */
    struct mappings loaded;
    uint64_t loaded_number; /* `number` when `loaded` was computed */
};

/* ---- mappings */

/* Index of the first mapping that ends above `address`. */
static size_t first_above(const struct mappings *t, uint64_t address)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->map[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct mapping *find_mapping(const struct mappings *t, uint64_t address)
{
    size_t i = first_above(t, address);
    return i < t->count && t->map[i].start <= address ? &t->map[i] : NULL;
}

/* Inserts `new`, and cuts away the parts of other mappings that it covers. */
static int add_mapping(struct mappings *t, struct mapping new)
{
    struct mapping *map = array_grow(t->map, t->count + 1, &t->room, sizeof *map); /* for two more */
    if (map == NULL)
        return -ENOMEM;
    t->map = map;
    size_t first = first_above(t, new.start), behind = first;
    while (behind < t->count && t->map[behind].start < new.end)
        behind++;
    struct mapping parts[3];
    size_t part_count = 0;
    if (first < behind && t->map[first].start < new.start) {
        parts[part_count] = t->map[first];
        parts[part_count++].end = new.start;
    }
    parts[part_count++] = new;
    if (first < behind && t->map[behind - 1].end > new.end) {
        parts[part_count] = t->map[behind - 1];
        parts[part_count++].start = new.end;
    }
    memmove(t->map + first + part_count, t->map + behind, (t->count - behind) * sizeof *t->map);
    memcpy(t->map + first, parts, part_count * sizeof *parts);
    t->count += part_count - (behind - first);
    return 0;
}

/* ---- loaded modules */

static int compare_numbers(const void *a, const void *b)
{
    const struct mapping *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Changes a mapping to the whole range of addresses that its module is loaded to. False: not a loaded module. */
static bool load_range(const struct symbols *s, struct mapping *map)
{
    struct module *m = map->module;
    uint64_t bias, low = UINT64_MAX, high = 0;
    module_open(m, s->sysroot);
    if (m->image.elf == NULL || !module_bias(m, map->view, &bias))
        return false;
    for (size_t i = 0; i < m->segment_count; i++) {
        uint64_t end = m->segments[i].address + m->segments[i].memory_bytes;
        low = m->segments[i].address < low ? m->segments[i].address : low;
        high = end > high ? end : high;
    }
    map->start = bias + low;
    map->end = bias + high;
    return map->start < map->end;
}

static void make_loaded(struct symbols *s)
{
    if (s->loaded_number == s->number)
        return;
    s->loaded_number = s->number;
    s->loaded.count = 0;
    struct mapping *files = calloc(s->mapped.count + 1, sizeof *files);
    size_t count = 0;
    if (files == NULL)
        return;
    for (size_t i = 0; i < s->mapped.count; i++)
        if (s->mapped.map[i].module->is_file)
            files[count++] = s->mapped.map[i];
    qsort(files, count, sizeof *files, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (load_range(s, &files[i]) && add_mapping(&s->loaded, files[i]) < 0)
            break;
    free(files);
}

/* ---- creation */

struct symbols *symbols_new(const char *sysroot, struct error *err)
{
    struct symbols *s = calloc(1, sizeof *s);
    if (s && sysroot) {
        s->sysroot = strdup(sysroot);
        if (s->sysroot == NULL) {
            free(s);
            s = NULL;
        }
    }
    if (s == NULL)
        error_set(err, -ENOMEM, "out of memory for symbols");
    return s;
}

void symbols_free(struct symbols *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->module_count; i++)
        module_free(s->modules[i]);
    free(s->modules);
    free(s->mapped.map);
    free(s->loaded.map);
    free(s->sysroot);
    free(s);
}

static struct module *find_module(const struct symbols *s, const char *path)
{
    for (size_t i = s->module_count; i > 0; i--)
        if (strcmp(s->modules[i - 1]->path, path) == 0)
            return s->modules[i - 1];
    return NULL;
}

static struct module *get_module(struct symbols *s, const char *path)
{
    struct module *m = find_module(s, *path ? path : "[anonymous]");
    if (m)
        return m;
    struct module **modules = array_grow(s->modules, s->module_count, &s->module_room, sizeof *modules);
    if (modules == NULL)
        return NULL;
    s->modules = modules;
    m = module_new(path);
    if (m)
        s->modules[s->module_count++] = m;
    return m;
}

int symbols_map(struct symbols *s, uint64_t start, uint64_t length, uint64_t offset, const char *path,
                struct error *err)
{
    if (length == 0)
        return 0;
    if (start + length < start)
        return error_set(err, -EINVAL, "'%.200s' cannot be mapped at 0x%" PRIx64 ": 0x%" PRIx64 " bytes do not fit",
                         path, start, length);
    struct module *m = get_module(s, path);
    ssize_t view = m && m->is_file ? module_add_view(m, start, offset) : 0;
    struct mapping map = {start, start + length, m, (size_t)view, s->number + 1};
    if (m == NULL || view < 0 || add_mapping(&s->mapped, map) < 0)
        return error_set(err, -ENOMEM, "out of memory for the mapping of '%.200s'", path);
    s->number++;
    return 0;
}

/* ---- queries */

/* Translates an address to the one in the mapping's file; false if the file does not load anything there. */
static bool file_address(const struct symbols *s, const struct mapping *map, uint64_t address, uint64_t *in_file)
{
    uint64_t bias;
    if (map == NULL || !map->module->is_file)
        return false;
    module_open(map->module, s->sysroot);
    if (map->module->image.elf == NULL || !module_bias(map->module, map->view, &bias))
        return false;
    *in_file = address - bias;
    return true;
}

static void place_module(const struct module *m, uint64_t start, struct place *p)
{
    *p = (struct place){.module = m->path, .name = m->label, .start = start};
}

/* If a symbol covers `address`, which is `in_file` in the module's file, puts it in `p`. */
static void place_symbol(const struct symbols *s, struct module *m, uint64_t address, uint64_t in_file, struct place *p)
{
    const struct piece *piece = table_find(m, s->sysroot, in_file);
    if (piece == NULL)
        return;
    struct symbol *symbol = &m->symbols[piece->symbol];
    p->name = symbol_name(symbol);
    p->start = symbol->start + (address - in_file);
    p->size = piece->inside ? symbol->size : 0;
    p->has_symbol = true;
}

static const struct mapping *place_mapping(const struct symbols *s, uint64_t address, struct place *p)
{
    const struct mapping *map = find_mapping(&s->mapped, address);
    uint64_t in_file;
    if (map == NULL)
        *p = (struct place){.module = "[unknown]", .name = "[unknown]"};
    else
        place_module(map->module, map->start, p);
    if (file_address(s, map, address, &in_file))
        place_symbol(s, map->module, address, in_file, p);
    return map;
}

void symbols_code(struct symbols *s, uint64_t pc, struct place *p)
{
    place_mapping(s, pc, p);
}

void symbols_data(struct symbols *s, uint64_t addr, struct place *p)
{
    const struct mapping *map = place_mapping(s, addr, p);
    uint64_t in_file;
    if (map && map->module->is_file)
        return;
    make_loaded(s);
    const struct mapping *range = find_mapping(&s->loaded, addr);
    if (!file_address(s, range, addr, &in_file) || module_segment(range->module, in_file) == NULL)
        return;
    place_module(range->module, map ? map->start : range->start, p);
    place_symbol(s, range->module, addr, in_file, p);
}

bool symbols_line(struct symbols *s, uint64_t pc, const char **file, unsigned *line)
{
    const struct mapping *map = find_mapping(&s->mapped, pc);
    uint64_t in_file;
    return file_address(s, map, pc, &in_file) && lines_find(map->module, s->sysroot, in_file, file, line);
}

unsigned symbols_bytes(struct symbols *s, uint64_t pc, void *to, unsigned n)
{
    unsigned done = 0;
    while (done < n) {
        uint64_t at = pc + done, in_file;
        const struct mapping *map = find_mapping(&s->mapped, at);
        if (!file_address(s, map, at, &in_file))
            break;
        const struct view *view = &map->module->views[map->view];
        uint64_t offset = view->offset + (at - view->start);
        uint64_t here = map->end - at < n - done ? map->end - at : n - done;
        ssize_t got = io_pread(map->module->image.fd, (char *)to + done, here, offset);
        if (got <= 0)
            break;
        done += (unsigned)got;
    }
    return done;
}
