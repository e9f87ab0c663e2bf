/* Saves and loads memory: the table of mappings, then the pages with contents that a new mapping would not have. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "guest/region.h"
#include "guest/state_priv.h"

#define AREAS_MAX UINT32_C(1 << 20) /* limit of mappings in a checkpoint */
#define PAGES_END UINT64_MAX        /* instead of the address of a run of pages: end of the list */

/* Bits of an entry of /proc/self/pagemap. */
#define PAGE_PRESENT (UINT64_C(1) << 63) /* the page is in memory */
#define PAGE_SWAP    (UINT64_C(1) << 62) /* the page is swapped out */
#define PAGE_SHARED  (UINT64_C(1) << 61) /* the page belongs to a file or to shared memory */

enum { RUN_PAGES = 64 }; /* maximum number of consecutive pages that are checked and written at once */

static bool is_shared_file(const struct guest_area *a)
{
    return a->inode != 0 && (a->flags & MAP_SHARED);
}

/* ---- saving */

struct saver {
    struct guest_memory *memory;
    struct fields *fields;
    int pagemap;             /* /proc/self/pagemap; -1: not readable, so that all pages count as touched */
    int bytes;               /* /proc/self/mem, which can also read PROT_NONE pages */
    FILE *maps;              /* /proc/self/maps, read up to the line that ends at `map_end` */
    uint64_t map_end;        /* host address */
    char map_path[PATH_MAX]; /* path in that line; empty: none */
};

/* Returns the host path of the file mapped at guest address `addr`. Addresses must increase from call to call. */
static const char *mapped_path(struct saver *s, uint64_t addr)
{
    char line[PATH_MAX + 128];
    uint64_t host = (uint64_t)(uintptr_t)s->memory->base + addr;
    while (s->map_end <= host && fgets(line, sizeof line, s->maps)) {
        uint64_t start;
        int path = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &start, &s->map_end, &path) < 2)
            return "";
        line[strcspn(line, "\n")] = 0;
        snprintf(s->map_path, sizeof s->map_path, "%s", path ? line + path : "");
    }
    return s->map_path;
}

static int find_mapped_file(struct saver *s, const struct files *f, const struct guest_area *a, struct place *place,
                            struct error *err)
{
    char what[160];
    struct stat st;
    const char *path = mapped_path(s, a->start);
    snprintf(what, sizeof what, "the mapping of %.100s", a->name ? a->name : path);
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        fd = files_make_private(fd);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_dev != a->dev || st.st_ino != a->inode) {
        if (fd >= 0)
            close(fd);
        return error_set(err, -ENOTSUP, "%s cannot be saved: the file has been deleted or replaced", what);
    }
    int code = place_find(f, fd, what, place, err);
    close(fd);
    return code;
}

static void area_fields(struct fields *f, struct guest_area *a)
{
    bool of_file = a->inode != 0;
    field_u64(f, &a->start);
    field_u64(f, &a->end);
    field_int(f, &a->prot);
    field_int(f, &a->flags);
    field_u64(f, &a->offset);
    field_string(f, &a->name);
    field_bool(f, &of_file);
    a->inode =
        of_file ? a->inode | (f->from != NULL) : 0; /* when loading only a flag; map_area sets the inode number */
}

static int save_areas(struct saver *s, const struct files *files, struct error *err)
{
    struct areas *table = &s->memory->areas;
    uint32_t count = (uint32_t)table->count;
    struct place place;
    field_u32(s->fields, &count);
    for (size_t i = 0; i < table->count; i++) {
        struct guest_area *a = &table->area[i];
        area_fields(s->fields, a);
        if (a->inode == 0)
            continue;
        int code = find_mapped_file(s, files, a, &place, err);
        if (code < 0)
            return code;
        place_fields(s->fields, &place);
    }
    return 0;
}

/* Whether a page must be saved, by its pagemap entry. Pages of shared memory are always saved, because another process,
 * which has ended, may have written them. */
static bool is_own(const struct guest_area *a, uint64_t entry)
{
    if (a->flags & MAP_SHARED)
        return true;
    return (entry & (PAGE_PRESENT | PAGE_SWAP)) != 0 && (a->inode == 0 || !(entry & PAGE_SHARED));
}

static bool is_zero(const uint8_t *page)
{
    return page[0] == 0 && memcmp(page, page + 1, GUEST_PAGE - 1) == 0;
}

static void write_run(struct fields *f, uint64_t addr, uint32_t pages, uint8_t *bytes)
{
    if (pages == 0)
        return;
    field_u64(f, &addr);
    field_u32(f, &pages);
    field_bytes(f, bytes, (size_t)pages * GUEST_PAGE);
}

/* Saves up to RUN_PAGES pages, except those that have the same contents in a new mapping. */
static int save_pages(struct saver *s, const struct guest_area *a, uint64_t addr, uint32_t count, struct error *err)
{
    static const uint64_t touched = PAGE_PRESENT;
    uint64_t entry[RUN_PAGES], host = (uint64_t)(uintptr_t)s->memory->base + addr;
    uint8_t bytes[RUN_PAGES * GUEST_PAGE];
    size_t table = count * sizeof *entry;
    if (s->pagemap < 0 || !io_pread_exactly(s->pagemap, entry, table, host / GUEST_PAGE * sizeof *entry))
        for (uint32_t i = 0; i < count; i++)
            entry[i] = touched;
    uint32_t run = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *page = bytes + i * GUEST_PAGE;
        bool save = is_own(a, entry[i]);
        if (save && !io_pread_exactly(s->bytes, page, GUEST_PAGE, host + i * GUEST_PAGE)) {
            if (!area_may_be_short(a))
                return error_set(err, -EIO, "the guest's memory at 0x%" PRIx64 " cannot be read", addr);
            save = false; /* the page lies behind the end of its file or shared object */
        }
        save = save && (a->inode != 0 || !is_zero(page));
        if (!save) {
            write_run(s->fields, addr + (i - run) * GUEST_PAGE, run, page - run * GUEST_PAGE);
            run = 0;
        } else {
            run++;
        }
    }
    write_run(s->fields, addr + (count - run) * GUEST_PAGE, run, bytes + (count - run) * GUEST_PAGE);
    return 0;
}

static int save_contents(struct saver *s, struct error *err)
{
    const struct areas *table = &s->memory->areas;
    uint64_t end = PAGES_END;
    for (size_t i = 0; i < table->count; i++) {
        const struct guest_area *a = &table->area[i];
        for (uint64_t at = a->start; at < a->end && !is_shared_file(a); at += RUN_PAGES * GUEST_PAGE) {
            uint64_t left = (a->end - at) / GUEST_PAGE;
            int code = save_pages(s, a, at, left < RUN_PAGES ? (uint32_t)left : RUN_PAGES, err);
            if (code < 0 || !fields_good(s->fields))
                return code;
        }
    }
    field_u64(s->fields, &end);
    return 0;
}

static int save(struct process *p, struct fields *f, struct error *err)
{
    struct saver s = {.memory = p->memory, .fields = f};
    s.maps = fopen("/proc/self/maps", "re");
    s.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    s.bytes = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    int code = s.maps && s.bytes >= 0 ? 0 : error_set(err, -EIO, "/proc/self/maps or /proc/self/mem cannot be read");
    if (code == 0)
        code = save_areas(&s, p->files, err);
    if (code == 0)
        code = save_contents(&s, err);
    if (s.maps)
        fclose(s.maps);
    if (s.pagemap >= 0)
        close(s.pagemap);
    if (s.bytes >= 0)
        close(s.bytes);
    return code;
}

/* ---- loading */

static bool area_is_possible(const struct guest_area *a, uint64_t above)
{
    return a->start % GUEST_PAGE == 0 && a->end % GUEST_PAGE == 0 && a->offset % GUEST_PAGE == 0 &&
           a->start >= LOWEST_ADDRESS && a->start >= above && a->start < a->end && a->end <= GUEST_SPACE &&
           (a->prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC)) == 0 &&
           (a->flags == MAP_PRIVATE || a->flags == MAP_SHARED) && a->offset <= INT64_MAX - GUEST_SPACE;
}

/* Opens a mapped file. For a shared mapping, opens it writable if possible, because the guest may make the mapping
 * writable later. */
static int open_mapped(const struct files *files, const struct guest_area *a, const struct place *place,
                       struct error *err)
{
    struct error ignored;
    int fd = a->flags & MAP_SHARED ? place_open(files, place, O_RDWR, &ignored) : -EACCES;
    return fd >= 0 ? fd : place_open(files, place, O_RDONLY, err);
}

/* Maps an area writable, so that its saved pages can be filled in. Pages of a shared file are not saved, so its mapping
 * gets its final protection. */
static int map_area(struct guest_memory *m, struct guest_area *a, int fd, struct error *err)
{
    struct stat st = {0};
    int prot = is_shared_file(a) ? a->prot : PROT_READ | PROT_WRITE;
    a->offset = fd < 0 ? 0 : a->offset;
    if (fd >= 0 && fstat(fd, &st) != 0)
        return error_set(err, -errno, "cannot read the status of a mapped file: %s", strerror(errno));
    int64_t result = region_map(m, a->start, a->end, prot, a->flags | (fd < 0 ? MAP_ANONYMOUS : 0), fd, a->offset);
    if (result < 0)
        return error_set(err, (int)result, "memory at 0x%" PRIx64 " cannot be mapped: %s", a->start,
                         strerror((int)-result));
    a->dev = st.st_dev;
    a->inode = st.st_ino;
    a->object = fd < 0 && (a->flags & MAP_SHARED) ? m->next_object++ : 0;
    a->charged = memory_takes(m, a);
    areas_add(&m->areas, a);
    return 0;
}

static int load_area(struct process *p, struct fields *f, uint64_t *above, struct error *err)
{
    struct guest_area area = {0};
    struct place place;
    int fd = -1, code = 0;
    area_fields(f, &area);
    if (fields_check(f, area_is_possible(&area, *above), "a mapping is impossible") && area.inode != 0) {
        place_fields(f, &place);
        if (fields_good(f))
            code = fd = open_mapped(p->files, &area, &place, err);
    }
    *above = area.end;
    if (fields_good(f) && code >= 0)
        code = map_area(p->memory, &area, fd, err);
    if (!fields_good(f) || code < 0)
        free(area.name);
    if (fd >= 0)
        close(fd);
    return code < 0 ? code : 0;
}

/* Whether saved pages may be loaded to the range: all of it is mapped, and not by shared files. */
static bool may_fill(const struct guest_memory *m, uint64_t start, uint64_t pages)
{
    if (start % GUEST_PAGE != 0 || start >= GUEST_SPACE || pages > (GUEST_SPACE - start) / GUEST_PAGE)
        return false;
    uint64_t end = start + pages * GUEST_PAGE;
    for (size_t i = areas_first_above(&m->areas, start); start < end; i++) {
        const struct guest_area *a = &m->areas.area[i];
        if (i >= m->areas.count || a->start > start || is_shared_file(a))
            return false;
        start = a->end;
    }
    return true;
}

/* Loads a page. If the page belongs to a mapped file, the kernel copies it: behind the end of the file that fails,
 * where a direct write would kill the emulator with SIGBUS. An area with contents of its own counts against the limit.
 */
static void load_page(struct guest_memory *m, struct fields *f, uint64_t at)
{
    struct guest_area *a = &m->areas.area[areas_first_above(&m->areas, at)];
    a->charged = true;
    if (a->inode == 0) {
        field_bytes(f, m->base + at, GUEST_PAGE);
        return;
    }
    uint8_t page[GUEST_PAGE];
    field_bytes(f, page, sizeof page);
    struct iovec from = {page, sizeof page}, to = {m->base + at, sizeof page};
    ssize_t copied = process_vm_writev(getpid(), &from, 1, &to, 1, 0);
    fields_check(f, copied == (ssize_t)sizeof page, "a page lies behind the end of its file");
}

static void load_contents(struct guest_memory *m, struct fields *f)
{
    for (;;) {
        uint64_t at = 0;
        uint32_t pages = 0;
        field_u64(f, &at);
        if (at == PAGES_END || !fields_good(f))
            return;
        field_u32(f, &pages);
        fields_check(f, pages > 0 && may_fill(m, at, pages), "a page lies in no mapping");
        for (uint32_t i = 0; i < pages && fields_good(f); i++)
            load_page(m, f, at + (uint64_t)i * GUEST_PAGE);
    }
}

static int load(struct process *p, struct fields *f, struct error *err)
{
    struct guest_memory *m = p->memory;
    uint32_t count = 0;
    uint64_t above = 0;
    field_u32(f, &count);
    fields_check(f, count <= AREAS_MAX, "there are too many mappings");
    for (uint32_t i = 0; i < count && fields_good(f); i++) {
        int code = load_area(p, f, &above, err);
        if (code < 0)
            return code;
    }
    load_contents(m, f);
    for (size_t i = 0; i < m->areas.count; i++) {
        const struct guest_area *a = &m->areas.area[i];
        int64_t result = region_protect(m, a->start, a->end, a->prot);
        if (result < 0)
            return error_set(err, (int)result, "memory at 0x%" PRIx64 " cannot be protected: %s", a->start,
                             strerror((int)-result));
    }
    return 0;
}

int state_memory(struct process *p, struct fields *f, struct error *err)
{
    struct guest_memory *m = p->memory;
    field_u64(f, &m->mmap_top);
    field_u64(f, &m->brk_start);
    field_u64(f, &m->brk);
    fields_check(f,
                 m->mmap_top <= GUEST_SPACE && m->mmap_top % GUEST_PAGE == 0 && m->brk_start <= m->brk &&
                     m->brk <= GUEST_SPACE,
                 "its heap is impossible");
    return f->to ? save(p, f, err) : load(p, f, err);
}
