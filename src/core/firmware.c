#include "core/firmware.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool read_at(int fd, void *to, uint64_t length, uint64_t offset)
{
    char *bytes = to;
    while (length > 0) {
        ssize_t n = pread(fd, bytes, length, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        offset += (uint64_t)n;
        length -= (uint64_t)n;
    }
    return true;
}

static int check_header(const Elf64_Ehdr *h, const char *path, struct error *err)
{
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return error_set(err, -ENOEXEC, "the firmware %s is not an ELF file", path);
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != EM_RISCV)
        return error_set(err, -ENOEXEC, "the firmware %s is not for 64-bit little-endian RISC-V", path);
    if (h->e_type != ET_EXEC)
        return error_set(err, -ENOEXEC, "the firmware %s has no fixed addresses: link it by -static -no-pie", path);
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

static int load_segment(struct firmware *f, int fd, const Elf64_Phdr *ph, const char *path, struct error *err)
{
    uint64_t end = ph->p_vaddr + ph->p_memsz;
    if (ph->p_memsz == 0)
        return 0;
    if (!lies_inside(ph->p_vaddr, ph->p_memsz))
        return error_set(err, -ENOEXEC,
                         "the firmware %s has a segment at 0x%" PRIx64 ": link it between 0x%" PRIx64 " and 0x%" PRIx64,
                         path, (uint64_t)ph->p_vaddr, FIRMWARE_BASE, FIRMWARE_BASE + FIRMWARE_SPACE);
    if (ph->p_filesz > ph->p_memsz)
        return error_set(err, -ENOEXEC, "the firmware %s is a corrupt ELF file: a segment does not fit itself", path);
    if (!read_at(fd, f->memory + (ph->p_vaddr - FIRMWARE_BASE), ph->p_filesz, ph->p_offset))
        return error_set(err, -ENOEXEC, "the firmware %s is truncated: a segment lies beyond its end", path);
    if (end > f->free)
        f->free = (end + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1);
    return 0;
}

static int load(struct firmware *f, int fd, const char *path, struct error *err)
{
    Elf64_Ehdr h = {0};
    Elf64_Phdr ph;
    if (!read_at(fd, &h, sizeof h, 0))
        return error_set(err, -ENOEXEC, "the firmware %s is not an ELF file", path);
    int code = check_header(&h, path, err);
    for (unsigned i = 0; code == 0 && i < h.e_phnum; i++) {
        if (!read_at(fd, &ph, sizeof ph, h.e_phoff + i * sizeof ph))
            code = error_set(err, -ENOEXEC, "the firmware %s is truncated: it ends within its program headers", path);
        else if (ph.p_type == PT_LOAD)
            code = load_segment(f, fd, &ph, path, err);
    }
    if (code == 0 && (h.e_entry % 2 != 0 || h.e_entry < FIRMWARE_BASE || h.e_entry >= f->free))
        code = error_set(err, -ENOEXEC, "the firmware %s starts at 0x%" PRIx64 ", where it has no code", path,
                         (uint64_t)h.e_entry);
    f->entry = h.e_entry;
    return code;
}

int firmware_load(struct firmware *f, const char *path, struct error *err)
{
    *f = (struct firmware){.free = FIRMWARE_BASE};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, -errno, "the firmware %s cannot be opened: %s", path, strerror(errno));
    void *memory =
        mmap(NULL, FIRMWARE_SPACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int code = memory == MAP_FAILED ? error_set(err, -ENOMEM, "out of memory for firmware") : 0;
    if (code == 0) {
        f->memory = memory;
        code = load(f, fd, path, err);
    }
    close(fd);
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
