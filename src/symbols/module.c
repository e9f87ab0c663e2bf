/* One mapped file: opens it, reads its loaded segments and sections, and finds the bias of its views. */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "symbols/symbols_priv.h"

/* Consecutive views belong to one loading of the file. The bias of a view is voted on by this many views before it and
 * after it. */
enum { NEIGHBOR_VIEWS = 16 };

/* ---- files */

/* Opens a file below the sysroot; absolute symbolic links are resolved within the sysroot. */
static int open_below(const char *sysroot, const char *path, int flags)
{
    int root = open(sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -1;
    struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT};
    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd < 0 && errno != ENOENT) /* a kernel without the call, or a filter that forbids it */
        fd = openat(root, path + strspn(path, "/"), flags);
    close(root);
    return fd;
}

static int open_guest_file(const char *sysroot, const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK; /* the path may be a FIFO by now */
    int fd = -1;
    if (sysroot && path[0] == '/')
        fd = open_below(sysroot, path, flags);
    if (fd < 0)
        fd = open(path, flags);
    struct stat st;
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Sections are read on use, not mapped, so that a file that shrinks meanwhile does no harm. `header` is set if the
 * result has an ELF file. */
static struct image image_open(const char *sysroot, const char *path, GElf_Ehdr *header)
{
    struct image image = {.fd = open_guest_file(sysroot, path)};
    if (image.fd < 0)
        return image;
    elf_version(EV_CURRENT);
    image.elf = elf_begin(image.fd, ELF_C_READ, NULL);
    if (image.elf && elf_kind(image.elf) == ELF_K_ELF && gelf_getehdr(image.elf, header) &&
        header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
        header->e_machine == EM_RISCV && (header->e_type == ET_EXEC || header->e_type == ET_DYN))
        return image;
    elf_end(image.elf);
    close(image.fd);
    return (struct image){.elf = NULL};
}

static void image_close(struct image *image)
{
    if (image->elf == NULL)
        return;
    elf_end(image->elf);
    close(image->fd);
    image->elf = NULL;
}

Elf_Scn *image_section(const struct image *image, uint32_t type, const char *name)
{
    size_t names;
    if (image->elf == NULL || elf_getshdrstrndx(image->elf, &names) < 0)
        return NULL;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(image->elf, scn));) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) == NULL || header.sh_type != type)
            continue;
        const char *own = name ? elf_strptr(image->elf, names, header.sh_name) : NULL;
        if (name == NULL || (own && strcmp(own, name) == 0))
            return scn;
    }
    return NULL;
}

/* ---- loaded segments and sections */

static void read_segments(struct module *m)
{
    size_t count = 0;
    if (elf_getphdrnum(m->image.elf, &count) < 0 || count == 0)
        return;
    m->segments = calloc(count, sizeof *m->segments);
    if (m->segments == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr ph;
        if (gelf_getphdr(m->image.elf, (int)i, &ph) == NULL || ph.p_type != PT_LOAD ||
            (ph.p_vaddr - ph.p_offset) % GUEST_PAGE != 0 || ph.p_offset + ph.p_filesz < ph.p_offset ||
            ph.p_vaddr + ph.p_memsz < ph.p_vaddr)
            continue;
        m->segments[m->segment_count++] = (struct segment){.offset = ph.p_offset,
                                                           .file_bytes = ph.p_filesz,
                                                           .address = ph.p_vaddr,
                                                           .memory_bytes = ph.p_memsz,
                                                           .exec = ph.p_flags & PF_X};
    }
}

static int compare_sections(const void *a, const void *b)
{
    const struct section *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void read_sections(struct module *m)
{
    size_t count = 0, kept = 0;
    if (elf_getshdrnum(m->image.elf, &count) < 0 || count == 0)
        return;
    m->sections = calloc(count, sizeof *m->sections);
    if (m->sections == NULL)
        return;
    count = 0;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(m->image.elf, scn));) {
        GElf_Shdr sh;
        if (gelf_getshdr(scn, &sh) == NULL || !(sh.sh_flags & SHF_ALLOC) || sh.sh_size == 0 ||
            sh.sh_addr + sh.sh_size < sh.sh_addr || (sh.sh_flags & SHF_TLS && sh.sh_type == SHT_NOBITS))
            continue; /* the addresses of .tbss overlap other sections */
        m->sections[count++] = (struct section){sh.sh_addr, sh.sh_addr + sh.sh_size, sh.sh_flags & SHF_EXECINSTR};
    }
    qsort(m->sections, count, sizeof *m->sections, compare_sections);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || m->sections[i].start >= m->sections[kept - 1].end)
            m->sections[kept++] = m->sections[i];
    m->section_count = kept;
}

void module_open(struct module *m, const char *sysroot)
{
    if (m->opened)
        return;
    m->opened = true;
    GElf_Ehdr header;
    if (m->is_file)
        m->image = image_open(sysroot, m->path, &header);
    if (m->image.elf == NULL)
        return;
    m->fixed = header.e_type == ET_EXEC;
    read_segments(m);
    read_sections(m);
}

void module_open_debug(struct module *m, const char *sysroot)
{
    const void *id, *other;
    char path[160] = "/usr/lib/debug/.build-id/";
    if (m->debug_sought || m->image.elf == NULL)
        return;
    m->debug_sought = true;
    ssize_t length = dwelf_elf_gnu_build_id(m->image.elf, &id);
    if (length < 2 || length > 64)
        return;
    char *at = path + strlen(path);
    for (ssize_t i = 0; i < length; i++)
        at += sprintf(at, i == 0 ? "%02x/" : "%02x", ((const unsigned char *)id)[i]);
    strcpy(at, ".debug");
    GElf_Ehdr header;
    m->debug = image_open(sysroot, path, &header);
    if (m->debug.elf == NULL)
        return;
    if (dwelf_elf_gnu_build_id(m->debug.elf, &other) != length || memcmp(id, other, (size_t)length) != 0)
        image_close(&m->debug);
}

const struct segment *module_segment(const struct module *m, uint64_t address)
{
    for (size_t i = 0; i < m->segment_count; i++)
        if (address - m->segments[i].address < m->segments[i].memory_bytes)
            return &m->segments[i];
    return NULL;
}

ptrdiff_t module_section(const struct module *m, uint64_t address)
{
    size_t low = 0, high = m->section_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->sections[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < m->sections[low - 1].end ? (ptrdiff_t)low - 1 : -1;
}

/* ---- bias */

/* True if the view may map this segment, in whole pages; then `bias` is the bias that this implies. */
static bool view_shows(const struct module *m, const struct view *v, const struct segment *g, uint64_t *bias)
{
    uint64_t first = g->offset - g->offset % GUEST_PAGE;
    if (g->file_bytes == 0 || v->offset < first || v->offset - first >= g->offset - first + g->file_bytes)
        return false;
    *bias = v->start - v->offset - (g->address - g->offset);
    return *bias % GUEST_PAGE == 0 && (!m->fixed || *bias == 0);
}

/* Number of neighboring views that some segment explains with the same bias. */
static unsigned count_votes(const struct module *m, size_t view, uint64_t bias)
{
    unsigned votes = 0;
    size_t first = view < NEIGHBOR_VIEWS ? 0 : view - NEIGHBOR_VIEWS;
    for (size_t i = first; i < m->view_count && i <= view + NEIGHBOR_VIEWS; i++) {
        bool agrees = false;
        uint64_t other;
        for (size_t k = 0; k < m->segment_count && i != view && !agrees; k++)
            agrees = view_shows(m, &m->views[i], &m->segments[k], &other) && other == bias;
        votes += agrees;
    }
    return votes;
}

/* In small programs one page of the file holds the end of code and the beginning of data, and is mapped twice. To
 * decide which segment a view maps, takes the bias on which most views agree; ties go to a segment that begins at the
 * view's offset, then to code before data. */
static void find_bias(struct module *m, size_t view)
{
    struct view *v = &m->views[view];
    unsigned best = 0;
    v->has_bias = false;
    v->seen = m->view_count;
    for (size_t i = 0; i < m->segment_count; i++) {
        const struct segment *g = &m->segments[i];
        uint64_t bias;
        if (!view_shows(m, v, g, &bias))
            continue;
        bool begins = v->offset == g->offset - g->offset % GUEST_PAGE;
        unsigned score = 4 * count_votes(m, view, bias) + 2 * begins + g->exec + 1;
        if (score > best) {
            best = score;
            v->bias = bias;
            v->has_bias = true;
        }
    }
}

bool module_bias(struct module *m, size_t view, uint64_t *bias)
{
    struct view *v = &m->views[view];
    if (v->seen == 0 || (v->seen < m->view_count && v->seen <= view + NEIGHBOR_VIEWS))
        find_bias(m, view);
    *bias = v->bias;
    return v->has_bias;
}

/* ---- creation and end */

ssize_t module_add_view(struct module *m, uint64_t start, uint64_t offset)
{
    struct view *views = array_grow(m->views, m->view_count, &m->view_room, sizeof *views);
    if (views == NULL)
        return -ENOMEM;
    m->views = views;
    m->views[m->view_count] = (struct view){.start = start, .offset = offset};
    return (ssize_t)m->view_count++;
}

struct module *module_new(const char *path)
{
    struct module *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    if (path[0] == '\0')
        path = "[anonymous]";
    m->is_file = path[0] != '[';
    m->path = strdup(path);
    const char *slash = strrchr(path, '/'), *last = m->is_file && slash && slash[1] ? slash + 1 : path;
    if (asprintf(&m->label, m->is_file ? "[%s]" : "%s", last) < 0)
        m->label = NULL;
    if (m->path == NULL || m->label == NULL) {
        module_free(m);
        return NULL;
    }
    return m;
}

void module_free(struct module *m)
{
    if (m == NULL)
        return;
    table_free(m);
    lines_free(m->lines);
    image_close(&m->image);
    image_close(&m->debug);
    free(m->segments);
    free(m->sections);
    free(m->views);
    free(m->label);
    free(m->path);
    free(m);
}
