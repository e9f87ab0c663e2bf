#include "core/firmware.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"

/* The bytes of an image: in memory, or in the open file `fd`. */
struct source {
    const struct firmware_image *image;
    int fd;
};

static bool read_at(const struct source *s, void *to, uint64_t length, uint64_t offset)
{
    if (s->image->bytes == NULL)
        return io_pread_exactly(s->fd, to, length, offset);
    if (offset > s->image->size || length > s->image->size - offset)
        return false;
    memcpy(to, (const char *)s->image->bytes + offset, length);
    return true;
}

static int check_header(const Elf64_Ehdr *h, const char *path, struct error *err)
{
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return error_set(err, -ENOEXEC, "the firmware %s is not an ELF file", path);
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != EM_RISCV)
        return error_set(err, -ENOEXEC, "the firmware %s is not for 64-bit little-endian RISC-V", path);
    if (h->e_type != ET_EXEC)
        return error_set(err, -ENOEXEC, "the firmware %s has no fixed addresses: link it with -static -no-pie", path);
    if (h->e_phentsize != sizeof(Elf64_Phdr))
        return error_set(err, -ENOEXEC, "the firmware %s is a corrupt ELF file: its program headers have %u bytes",
                         path, h->e_phentsize);
    return 0;
}

/* Whether the bytes lie in the memory of machine mode. */
static bool lies_inside(uint64_t addr, uint64_t bytes)
{
    return addr - FIRMWARE_BASE < FIRMWARE_SPACE && bytes <= FIRMWARE_SPACE - (addr - FIRMWARE_BASE);
}

static int load_segment(struct firmware *f, const struct source *s, const Elf64_Phdr *ph, struct error *err)
{
    const char *path = s->image->name;
    uint64_t end = ph->p_vaddr + ph->p_memsz;
    if (ph->p_memsz == 0)
        return 0;
    if (!lies_inside(ph->p_vaddr, ph->p_memsz))
        return error_set(err, -ENOEXEC,
                         "the firmware %s has a segment at 0x%" PRIx64 ": link it between 0x%" PRIx64 " and 0x%" PRIx64,
                         path, (uint64_t)ph->p_vaddr, FIRMWARE_BASE, FIRMWARE_BASE + FIRMWARE_SPACE);
    if (ph->p_filesz > ph->p_memsz)
        return error_set(err, -ENOEXEC,
                         "the firmware %s is a corrupt ELF file: a segment is larger in the file than in memory", path);
    if (!read_at(s, f->memory + (ph->p_vaddr - FIRMWARE_BASE), ph->p_filesz, ph->p_offset))
        return error_set(err, -ENOEXEC, "the firmware %s is truncated: a segment lies beyond its end", path);
    if (end > f->free)
        f->free = (end + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1);
    return 0;
}

static int load(struct firmware *f, const struct source *s, struct error *err)
{
    const char *path = s->image->name;
    Elf64_Ehdr h = {0};
    Elf64_Phdr ph;
    if (!read_at(s, &h, sizeof h, 0))
        return error_set(err, -ENOEXEC, "the firmware %s is not an ELF file", path);
    int code = check_header(&h, path, err);
    for (unsigned i = 0; code == 0 && i < h.e_phnum; i++) {
        if (!read_at(s, &ph, sizeof ph, h.e_phoff + i * sizeof ph))
            code = error_set(err, -ENOEXEC, "the firmware %s is truncated: it ends within its program headers", path);
        else if (ph.p_type == PT_LOAD)
            code = load_segment(f, s, &ph, err);
    }
    if (code == 0 && (h.e_entry % 2 != 0 || h.e_entry < FIRMWARE_BASE || h.e_entry >= f->free))
        code = error_set(err, -ENOEXEC, "the firmware %s starts at 0x%" PRIx64 ", where it has no code", path,
                         (uint64_t)h.e_entry);
    f->entry = h.e_entry;
    return code;
}

int firmware_load(struct firmware *f, const struct firmware_image *image, struct error *err)
{
    struct source s = {.image = image, .fd = -1};
    *f = (struct firmware){.free = FIRMWARE_BASE};
    if (image->bytes == NULL && (s.fd = open(image->name, O_RDONLY | O_CLOEXEC)) < 0)
        return error_set(err, -errno, "the firmware %s cannot be opened: %s", image->name, strerror(errno));
    void *memory =
        mmap(NULL, FIRMWARE_SPACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int code = memory == MAP_FAILED ? error_set(err, -ENOMEM, "out of memory for firmware") : 0;
    if (code == 0) {
        f->memory = memory;
        code = load(f, &s, err);
    }
    if (s.fd >= 0)
        close(s.fd);
    if (code != 0)
        firmware_free(f);
    return code;
}

void firmware_free(struct firmware *f)
{
    if (f->memory)
        munmap(f->memory, FIRMWARE_SPACE);
    *f = (struct firmware){0};
}

int firmware_share(struct firmware *f, struct error *err)
{
    void *memory =
        mmap(NULL, FIRMWARE_SPACE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return error_set(err, -ENOMEM, "out of memory for firmware");
    memcpy(memory, f->memory, f->free - FIRMWARE_BASE);
    munmap(f->memory, FIRMWARE_SPACE);
    f->memory = memory;
    return 0;
}

enum { PAGES = FIRMWARE_SPACE / GUEST_PAGE };

struct firmware_copy {
    size_t count;         /* number of pages that were ever touched */
    uint32_t page[PAGES]; /* numbers of these pages */
    uint8_t *bytes;       /* contents of these pages */
};

struct firmware_copy *firmware_copy(const struct firmware *f)
{
    struct firmware_copy *copy = calloc(1, sizeof *copy);
    unsigned char touched[PAGES];
    if (copy == NULL || mincore(f->memory, FIRMWARE_SPACE, touched) != 0) {
        free(copy);
        return NULL;
    }
    for (uint32_t i = 0; i < PAGES; i++)
        if (touched[i] & 1)
            copy->page[copy->count++] = i;
    copy->bytes = malloc(copy->count * GUEST_PAGE + 1);
    for (size_t i = 0; copy->bytes && i < copy->count; i++)
        memcpy(copy->bytes + i * GUEST_PAGE, f->memory + (size_t)copy->page[i] * GUEST_PAGE, GUEST_PAGE);
    if (copy->bytes)
        return copy;
    free(copy);
    return NULL;
}

void firmware_copy_free(struct firmware_copy *copy)
{
    if (copy)
        free(copy->bytes);
    free(copy);
}

/* Maps the copy at the same host address, which other modules keep. If the mapping fails, the process goes on sharing
 * the memory. */
void firmware_take(struct firmware *f, const struct firmware_copy *copy)
{
    if (copy == NULL || mmap(f->memory, FIRMWARE_SPACE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return;
    for (size_t i = 0; i < copy->count; i++)
        memcpy(f->memory + (size_t)copy->page[i] * GUEST_PAGE, copy->bytes + i * GUEST_PAGE, GUEST_PAGE);
}
