#include "guest/elf.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/io.h"

#ifndef EF_RISCV_RVE
#define EF_RISCV_RVE 0x0008
#endif

static const char what_runs[] = "Cyclescope runs 64-bit little-endian RISC-V";

static uint64_t page_down(uint64_t n)
{
    return n & ~(uint64_t)(GUEST_PAGE - 1);
}

static uint64_t page_up(uint64_t n)
{
    return page_down(n + GUEST_PAGE - 1);
}

/* Returns the name of an ELF machine with its article, for a message; NULL if unknown. */
static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {
        {EM_X86_64, "an x86-64"}, {EM_386, "an i386"},   {EM_AARCH64, "an AArch64"},    {EM_ARM, "an ARM"},
        {EM_PPC64, "a PowerPC"},  {EM_PPC, "a PowerPC"}, {EM_MIPS, "a MIPS"},           {EM_S390, "an S/390"},
        {EM_SPARCV9, "a SPARC"},  {EM_SPARC, "a SPARC"}, {EM_LOONGARCH, "a LoongArch"}, {EM_IA_64, "an Itanium"},
        {EM_ALPHA, "an Alpha"},   {EM_68K, "a 68000"},   {EM_PARISC, "a PA-RISC"},      {EM_BPF, "a BPF"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].machine == machine)
            return names[i].name;
    return NULL;
}

static int check_machine(const Elf64_Ehdr *header, const char *name, struct error *err)
{
    /* The byte order comes first: the other fields cannot be read without it. */
    unsigned machine = header->e_machine;
    if (header->e_ident[EI_DATA] == ELFDATA2MSB)
        machine = __builtin_bswap16(header->e_machine);
    else if (header->e_ident[EI_DATA] != ELFDATA2LSB)
        return error_set(err, -ENOEXEC, "%s is a corrupt ELF file: its byte order is %d; 1 is little-endian", name,
                         header->e_ident[EI_DATA]);
    if (machine != EM_RISCV) {
        const char *other = machine_name(machine);
        if (other)
            return error_set(err, -ENOEXEC, "%s is %s program; %s", name, other, what_runs);
        return error_set(err, -ENOEXEC, "%s is a program for ELF machine %u; %s", name, machine, what_runs);
    }
    if (header->e_ident[EI_CLASS] == ELFCLASS32)
        return error_set(err, -ENOEXEC, "%s is a 32-bit program; %s", name, what_runs);
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return error_set(err, -ENOEXEC, "%s is a corrupt ELF file: its class is %d; 2 is 64-bit", name,
                         header->e_ident[EI_CLASS]);
    if (header->e_ident[EI_DATA] == ELFDATA2MSB)
        return error_set(err, -ENOEXEC, "%s is a big-endian program; %s", name, what_runs);
    if (header->e_flags & EF_RISCV_RVE)
        return error_set(err, -ENOEXEC, "%s is an RV64E program, with 16 registers; %s", name, what_runs);
    return 0;
}

static int check_header(const Elf64_Ehdr *header, const char *name, struct error *err)
{
    int result = check_machine(header, name, err);
    if (result < 0)
        return result;
    if (header->e_ident[EI_VERSION] != EV_CURRENT || header->e_version != EV_CURRENT)
        return error_set(err, -ENOEXEC, "%s is a corrupt ELF file: its version is %u, not 1", name, header->e_version);
    switch (header->e_type) {
    case ET_EXEC:
    case ET_DYN: break;
    case ET_REL: return error_set(err, -ENOEXEC, "%s is a relocatable object file: link it into a program first", name);
    case ET_CORE: return error_set(err, -ENOEXEC, "%s is a core file, not a program", name);
    default:
        return error_set(err, -ENOEXEC, "%s is a corrupt ELF file: its type is %u; 2 and 3 are programs", name,
                         header->e_type);
    }
    if (header->e_phnum == 0)
        return error_set(err, -ENOEXEC, "%s has no loadable segment: it has no program headers", name);
    if (header->e_phentsize != sizeof(Elf64_Phdr))
        return error_set(err, -ENOEXEC, "%s is a corrupt ELF file: its program headers are %u bytes long, not %zu",
                         name, header->e_phentsize, sizeof(Elf64_Phdr));
    if (header->e_phnum > ELF_MAX_SEGMENTS)
        return error_set(err, -ENOEXEC, "%s has %u program headers; at most %d are supported", name, header->e_phnum,
                         ELF_MAX_SEGMENTS);
    return 0;
}

static int segment_prot(uint32_t flags)
{
    return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) | (flags & PF_X ? PROT_EXEC : 0);
}

static int add_segment(struct elf_image *elf, const Elf64_Phdr *ph, uint64_t size, const char *name, struct error *err)
{
    unsigned number = elf->segment_count;
    uint64_t file_end, mem_end;
    if (ph->p_memsz == 0)
        return 0;
    if (ph->p_filesz > ph->p_memsz)
        return error_set(err, -ENOEXEC,
                         "%s is a corrupt ELF file: segment %u has more bytes in the file than in memory", name,
                         number);
    if (__builtin_add_overflow(ph->p_offset, ph->p_filesz, &file_end) || file_end > size)
        return error_set(err, -ENOEXEC, "%s is truncated: segment %u lies beyond its end at %" PRIu64 " bytes", name,
                         number, size);
    if (__builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &mem_end) || mem_end > GUEST_SPACE - GUEST_PAGE)
        return error_set(err, -ENOEXEC, "%s is a corrupt ELF file: segment %u lies beyond the 38 bits of addresses",
                         name, number);
    if ((ph->p_vaddr - ph->p_offset) % GUEST_PAGE != 0)
        return error_set(err, -ENOEXEC,
                         "%s is a corrupt ELF file: address and file offset of segment %u differ modulo the page size",
                         name, number);
    if (number > 0) {
        const struct elf_segment *last = &elf->segments[number - 1];
        if (ph->p_vaddr < last->vaddr + last->mem_bytes)
            return error_set(err, -ENOEXEC, "%s is a corrupt ELF file: segment %u overlaps or precedes the one before",
                             name, number);
    }
    uint64_t align = ph->p_align;
    if (align > elf->alignment && (align & (align - 1)) == 0 && align <= GUEST_SPACE / 16)
        elf->alignment = align;
    if (number == 0)
        elf->low = page_down(ph->p_vaddr);
    elf->high = page_up(mem_end);
    elf->segments[elf->segment_count++] =
        (struct elf_segment){ph->p_vaddr, ph->p_offset, ph->p_filesz, ph->p_memsz, segment_prot(ph->p_flags)};
    return 0;
}

static int read_interpreter(struct elf_image *elf, int fd, const Elf64_Phdr *ph, const char *name, struct error *err)
{
    if (elf->interpreter[0] != 0)
        return error_set(err, -ENOEXEC, "%s is a corrupt ELF file: it names two interpreters", name);
    if (ph->p_filesz < 2 || ph->p_filesz > sizeof elf->interpreter)
        return error_set(err, -ENOEXEC,
                         "%s is a corrupt ELF file: the name of its interpreter is %" PRIu64 " bytes long", name,
                         ph->p_filesz);
    if (!io_pread_exactly(fd, elf->interpreter, ph->p_filesz, ph->p_offset))
        return error_set(err, -ENOEXEC, "%s is truncated: the name of its interpreter lies beyond its end", name);
    if (elf->interpreter[ph->p_filesz - 1] != 0 || elf->interpreter[0] == 0) {
        elf->interpreter[0] = 0;
        return error_set(err, -ENOEXEC, "%s is a corrupt ELF file: the name of its interpreter does not end", name);
    }
    return 0;
}

/* Sets `phdr_addr` if a segment contains the program headers, which lie at `offset` in the file. */
static void find_headers_in_memory(struct elf_image *elf, uint64_t offset, uint64_t bytes)
{
    for (unsigned i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *s = &elf->segments[i];
        uint64_t into = offset - s->offset;
        if (s->offset <= offset && into <= s->file_bytes && bytes <= s->file_bytes - into) {
            elf->phdr_addr = s->vaddr + into;
            return;
        }
    }
}

int elf_read(struct elf_image *elf, int fd, const char *name, struct error *err)
{
    Elf64_Ehdr header;
    Elf64_Phdr ph[ELF_MAX_SEGMENTS];
    struct stat file;
    memset(elf, 0, sizeof *elf);
    if (fstat(fd, &file) < 0)
        return error_set(err, -errno, "cannot read the status of %s: %s", name, strerror(errno));
    uint64_t size = (uint64_t)file.st_size;
    memset(&header, 0, sizeof header);
    if (!io_pread_exactly(fd, header.e_ident, SELFMAG, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return error_set(err, -ENOEXEC, "%s is not an ELF file", name);
    if (!io_pread_exactly(fd, &header, sizeof header, 0))
        return error_set(err, -ENOEXEC, "%s is truncated: it ends within the ELF header", name);
    int result = check_header(&header, name, err);
    if (result < 0)
        return result;
    uint64_t table_bytes = header.e_phnum * sizeof ph[0];
    if (header.e_phoff > size || table_bytes > size - header.e_phoff ||
        !io_pread_exactly(fd, ph, table_bytes, header.e_phoff))
        return error_set(err, -ENOEXEC, "%s is truncated: its program headers lie beyond its end at %" PRIu64 " bytes",
                         name, size);

    elf->relocatable = header.e_type == ET_DYN;
    elf->entry = header.e_entry;
    elf->phdr_count = header.e_phnum;
    elf->alignment = GUEST_PAGE;
    for (unsigned i = 0; i < header.e_phnum && result == 0; i++) {
        if (ph[i].p_type == PT_LOAD)
            result = add_segment(elf, &ph[i], size, name, err);
        else if (ph[i].p_type == PT_INTERP)
            result = read_interpreter(elf, fd, &ph[i], name, err);
        else if (ph[i].p_type == PT_GNU_STACK)
            elf->stack_exec = ph[i].p_flags & PF_X;
    }
    if (result < 0)
        return result;
    if (elf->segment_count == 0)
        return error_set(err, -ENOEXEC, "%s has no loadable segment", name);
    find_headers_in_memory(elf, header.e_phoff, table_bytes);
    return 0;
}

/* Maps the pages that consist of bytes of the file only: all pages before the one in which the zeros begin. */
static int map_file_pages(const struct elf_segment *s, uint64_t start, uint64_t end, int fd, const char *name,
                          struct guest_memory *m)
{
    if (start >= end)
        return 0;
    int64_t at = guest_mmap(m, start, end - start, s->prot, MAP_PRIVATE | MAP_FIXED, fd, page_down(s->offset), name);
    return at < 0 ? (int)at : 0;
}

/* Maps zero pages at [start, end) and reads `bytes` bytes at `offset` of the file into the first of them. Linux maps
 * the file there and clears the rest of the page; anonymous memory also works for a segment that is read-only. */
static int map_zero_pages(const struct elf_segment *s, uint64_t start, uint64_t end, uint64_t offset, uint64_t bytes,
                          int fd, struct guest_memory *m)
{
    if (start >= end)
        return 0;
    int64_t at =
        guest_mmap(m, start, end - start, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0, NULL);
    if (at < 0)
        return (int)at;
    void *to = guest_ptr(m, start, bytes, PROT_WRITE);
    if (!to || !io_pread_exactly(fd, to, bytes, offset))
        return -EIO;
    return (int)guest_mprotect(m, start, end - start, s->prot);
}

static int map_segment(const struct elf_segment *s, uint64_t base, int fd, const char *name, struct guest_memory *m)
{
    uint64_t start = page_down(base + s->vaddr), end = page_up(base + s->vaddr + s->mem_bytes);
    uint64_t file_end = base + s->vaddr + s->file_bytes;
    bool has_zeros = s->mem_bytes > s->file_bytes;
    uint64_t zeros_start = has_zeros ? page_down(file_end) : end;
    if (zeros_start < start)
        zeros_start = start;
    int result = map_file_pages(s, start, zeros_start, fd, name, m);
    if (result < 0 || !has_zeros)
        return result;
    uint64_t file_bytes = s->file_bytes > 0 ? file_end - zeros_start : 0;
    return map_zero_pages(s, zeros_start, end, page_down(s->offset) + (zeros_start - start), file_bytes, fd, m);
}

/* Returns the address of a relocatable image's first page, or a negative errno. Maps nothing. */
static int64_t choose_base(const struct elf_image *elf, struct guest_memory *m, uint64_t wish)
{
    uint64_t bytes = elf->high - elf->low, align = elf->alignment;
    uint64_t start = (wish + align - 1) & ~(align - 1);
    if (wish == 0) {
        if (bytes > GUEST_SPACE - align)
            return -ENOMEM;
        int64_t at = guest_mmap(m, 0, bytes + align - GUEST_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, NULL);
        if (at < 0)
            return at;
        guest_munmap(m, (uint64_t)at, bytes + align - GUEST_PAGE);
        start = ((uint64_t)at + align - 1) & ~(align - 1);
    }
    if (start > GUEST_STACK_TOP || bytes > GUEST_STACK_TOP - start)
        return -ENOMEM;
    return (int64_t)start;
}

int elf_map(const struct elf_image *elf, int fd, const char *name, struct guest_memory *m, uint64_t base,
            struct elf_mapping *mapping, struct error *err)
{
    *mapping = (struct elf_mapping){0, 0, 0, 0};
    if (elf->relocatable) {
        int64_t start = choose_base(elf, m, base);
        if (start < 0)
            return error_set(err, (int)start, "%s does not fit into the guest's memory: %s", name,
                             strerror((int)-start));
        mapping->base = (uint64_t)start - elf->low;
    }
    for (unsigned i = 0; i < elf->segment_count; i++) {
        int result = map_segment(&elf->segments[i], mapping->base, fd, name, m);
        if (result < 0)
            return error_set(err, result, "cannot map segment %u of %s: %s", i, name, strerror(-result));
    }
    mapping->entry = mapping->base + elf->entry;
    mapping->phdr_addr = elf->phdr_addr ? mapping->base + elf->phdr_addr : 0;
    mapping->end = mapping->base + elf->high;
    return 0;
}
