/* What makes a file a program, and the sentence for each way in which it is not one. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/elf.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A program of two segments: code from the start of the file, data with a page and a half of zeros behind it. */
struct program {
    Elf64_Ehdr header;
    Elf64_Phdr ph[3];
    char interpreter[32];
    uint8_t rest[0x1800];
};

enum { FILE_BYTES = sizeof(struct program), DATA_OFFSET = 0x1000, DATA_BYTES = 0x234 };

static struct program good_program(void)
{
    struct program p;
    memset(&p, 0, sizeof p);
    memcpy(p.header.e_ident, ELFMAG, SELFMAG);
    p.header.e_ident[EI_CLASS] = ELFCLASS64;
    p.header.e_ident[EI_DATA] = ELFDATA2LSB;
    p.header.e_ident[EI_VERSION] = EV_CURRENT;
    p.header.e_type = ET_EXEC;
    p.header.e_machine = EM_RISCV;
    p.header.e_version = EV_CURRENT;
    p.header.e_entry = 0x10200;
    p.header.e_phoff = offsetof(struct program, ph);
    p.header.e_phentsize = sizeof(Elf64_Phdr);
    p.header.e_phnum = 2;
    p.ph[0] = (Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, 0x10000, 0x10000, 0x800, 0x800, 0x1000};
    p.ph[1] = (Elf64_Phdr){PT_LOAD, PF_R | PF_W, DATA_OFFSET, 0x12000, 0x12000, DATA_BYTES, 0x1e00, 0x1000};
    memset((uint8_t *)&p + DATA_OFFSET, 0xaa, FILE_BYTES - DATA_OFFSET);
    return p;
}

static int file_of(const void *bytes, size_t length)
{
    int fd = memfd_create("program", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    return fd;
}

static void expect_sentence(const void *bytes, size_t length, const char *sentence)
{
    struct elf_image elf;
    struct error err = {""};
    int fd = file_of(bytes, length);
    assert_int_equal(elf_read(&elf, fd, "prog", &err), -ENOEXEC);
    assert_string_equal(err.text, sentence);
    close(fd);
}

static struct guest_memory *new_memory(void)
{
    struct error err;
    struct guest_memory *m = guest_memory_new(UINT64_C(1) << 30, &err);
    assert_non_null(m);
    return m;
}

static void a_good_program_is_mapped(void **state)
{
    (void)state;
    struct program p = good_program();
    struct elf_image elf;
    struct elf_mapping mapping;
    struct error err;
    struct guest_memory *m = new_memory();
    int fd = file_of(&p, sizeof p);
    assert_int_equal(elf_read(&elf, fd, "prog", &err), 0);
    assert_int_equal(elf.segment_count, 2);
    assert_int_equal(elf_map(&elf, fd, "prog", m, ELF_PIE_BASE, &mapping, &err), 0);
    assert_int_equal(mapping.base, 0);
    assert_int_equal(mapping.entry, 0x10200);
    assert_int_equal(mapping.phdr_addr, 0x10000 + offsetof(struct program, ph));
    assert_int_equal(mapping.end, 0x14000);
    /* The zeros begin behind the segment's last byte in the file, in the middle of a page. */
    const uint8_t *data = guest_ptr(m, 0x12000, 0x2000, PROT_READ | PROT_WRITE);
    assert_non_null(data);
    assert_int_equal(data[DATA_BYTES - 1], 0xaa);
    for (unsigned i = DATA_BYTES; i < 0x2000; i++)
        assert_int_equal(data[i], 0);
    assert_non_null(guest_ptr(m, 0x10000, 0x1000, PROT_READ | PROT_EXEC));
    assert_null(guest_ptr(m, 0x10000, 1, PROT_WRITE));
    assert_null(guest_ptr(m, 0x11000, 1, PROT_READ));
    close(fd);
    guest_memory_free(m);
}

static void a_position_independent_program_moves(void **state)
{
    (void)state;
    struct program p = good_program();
    p.header.e_type = ET_DYN;
    p.ph[0].p_align = 0x200000;
    struct elf_image elf;
    struct elf_mapping low, high;
    struct error err;
    struct guest_memory *m = new_memory();
    int fd = file_of(&p, sizeof p);
    assert_int_equal(elf_read(&elf, fd, "prog", &err), 0);
    assert_int_equal(elf_map(&elf, fd, "prog", m, ELF_PIE_BASE, &low, &err), 0);
    assert_int_equal((low.base + 0x10000) % 0x200000, 0);
    assert_true(low.base + 0x10000 >= ELF_PIE_BASE && low.base < ELF_PIE_BASE + 0x200000);
    assert_int_equal(low.entry, low.base + 0x10200);
    assert_int_equal(elf_map(&elf, fd, "prog", m, 0, &high, &err), 0); /* as an interpreter */
    assert_true(high.base > low.end);
    assert_int_equal((high.base + 0x10000) % 0x200000, 0);
    close(fd);
    guest_memory_free(m);
}

static void zeros_in_a_read_only_page_are_no_trouble(void **state)
{
    (void)state;
    struct program p = good_program();
    p.ph[1].p_flags = PF_R;
    struct elf_image elf;
    struct elf_mapping mapping;
    struct error err;
    struct guest_memory *m = new_memory();
    int fd = file_of(&p, sizeof p);
    assert_int_equal(elf_read(&elf, fd, "prog", &err), 0);
    assert_int_equal(elf_map(&elf, fd, "prog", m, 0, &mapping, &err), 0);
    const uint8_t *data = guest_ptr(m, 0x12000, 0x2000, PROT_READ);
    assert_non_null(data);
    assert_null(guest_ptr(m, 0x12000, 1, PROT_WRITE));
    assert_int_equal(data[0], 0xaa);
    assert_int_equal(data[DATA_BYTES], 0);
    close(fd);
    guest_memory_free(m);
}

static void the_interpreter_is_named(void **state)
{
    (void)state;
    struct program p = good_program();
    strcpy(p.interpreter, "/lib/ld.so");
    p.header.e_phnum = 3;
    p.ph[2] = (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = offsetof(struct program, interpreter), .p_filesz = 11};
    struct elf_image elf;
    struct error err;
    int fd = file_of(&p, sizeof p);
    assert_int_equal(elf_read(&elf, fd, "prog", &err), 0);
    assert_string_equal(elf.interpreter, "/lib/ld.so");
    close(fd);
    p.ph[2].p_filesz = 10;
    expect_sentence(&p, sizeof p, "prog is a corrupt ELF file: the name of its interpreter does not end");
    p.ph[2].p_filesz = 1 << 20;
    expect_sentence(&p, sizeof p, "prog is a corrupt ELF file: the name of its interpreter is 1048576 bytes long");
    p.ph[2].p_filesz = 11;
    p.ph[2].p_offset = UINT64_MAX - 5;
    expect_sentence(&p, sizeof p, "prog is truncated: the name of its interpreter lies beyond its end");
}

/* One field of a good program changed, and the sentence that follows. */
static const struct {
    size_t offset, size;
    uint64_t value;
    const char *sentence;
} rows[] = {
#define ROW(field, value, sentence)                                                                                    \
    {                                                                                                                  \
        offsetof(struct program, field), sizeof((struct program *)0)->field, value, sentence                           \
    }
    ROW(header.e_ident[0], 0, "prog is not an ELF file"),
    ROW(header.e_ident[EI_CLASS], ELFCLASS32, "prog is a 32-bit program; Cyclescope runs 64-bit little-endian RISC-V"),
    ROW(header.e_ident[EI_CLASS], 7, "prog is a corrupt ELF file: its class is 7; 2 is 64-bit"),
    ROW(header.e_ident[EI_DATA], 3, "prog is a corrupt ELF file: its byte order is 3; 1 is little-endian"),
    ROW(header.e_machine, EM_X86_64, "prog is an x86-64 program; Cyclescope runs 64-bit little-endian RISC-V"),
    ROW(header.e_machine, EM_AARCH64, "prog is an AArch64 program; Cyclescope runs 64-bit little-endian RISC-V"),
    ROW(header.e_machine, 4242, "prog is a program for ELF machine 4242; Cyclescope runs 64-bit little-endian RISC-V"),
    ROW(header.e_version, 9, "prog is a corrupt ELF file: its version is 9, not 1"),
    ROW(header.e_type, ET_REL, "prog is a relocatable object file: link it into a program first"),
    ROW(header.e_type, ET_CORE, "prog is a core file, not a program"),
    ROW(header.e_type, 77, "prog is a corrupt ELF file: its type is 77; 2 and 3 are programs"),
    ROW(header.e_flags, 8, "prog is an RV64E program, with 16 registers; Cyclescope runs 64-bit little-endian RISC-V"),
    ROW(header.e_phnum, 0, "prog has no loadable segment: it has no program headers"),
    ROW(header.e_phnum, 60000, "prog has 60000 program headers; at most 128 are supported"),
    ROW(header.e_phentsize, 32, "prog is a corrupt ELF file: its program headers are 32 bytes long, not 56"),
    ROW(header.e_phoff, 1 << 20, "prog is truncated: its program headers lie beyond its end at 6408 bytes"),
    ROW(header.e_phoff, UINT64_MAX - 55, "prog is truncated: its program headers lie beyond its end at 6408 bytes"),
    ROW(ph[0].p_filesz, 0x900, "prog is a corrupt ELF file: segment 0 has more bytes in the file than in memory"),
    ROW(ph[0].p_offset, 0x2000, "prog is truncated: segment 0 lies beyond its end at 6408 bytes"),
    ROW(ph[0].p_offset, UINT64_MAX - 0xfff, "prog is truncated: segment 0 lies beyond its end at 6408 bytes"),
    ROW(ph[0].p_offset, 0x10,
        "prog is a corrupt ELF file: address and file offset of segment 0 differ modulo the page size"),
    ROW(ph[1].p_memsz, UINT64_MAX, "prog is a corrupt ELF file: segment 1 lies beyond the 38 bits of addresses"),
    ROW(ph[1].p_vaddr, UINT64_C(1) << 38, "prog is a corrupt ELF file: segment 1 lies beyond the 38 bits of addresses"),
    ROW(ph[1].p_vaddr, UINT64_MAX - 0xfff,
        "prog is a corrupt ELF file: segment 1 lies beyond the 38 bits of addresses"),
    ROW(ph[1].p_vaddr, 0x10000, "prog is a corrupt ELF file: segment 1 overlaps or precedes the one before"),
#undef ROW
};

static void each_fault_has_its_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct program p = good_program();
        memcpy((char *)&p + rows[i].offset, &rows[i].value, rows[i].size);
        expect_sentence(&p, sizeof p, rows[i].sentence);
    }
    struct program p = good_program();
    p.ph[0].p_type = p.ph[1].p_type = PT_NULL;
    expect_sentence(&p, sizeof p, "prog has no loadable segment");
    p = good_program();
    p.header.e_ident[EI_DATA] = ELFDATA2MSB;
    p.header.e_machine = __builtin_bswap16(EM_RISCV);
    expect_sentence(&p, sizeof p, "prog is a big-endian program; Cyclescope runs 64-bit little-endian RISC-V");
    p.header.e_machine = __builtin_bswap16(EM_PPC64);
    expect_sentence(&p, sizeof p, "prog is a PowerPC program; Cyclescope runs 64-bit little-endian RISC-V");
}

static void every_truncation_is_noticed(void **state)
{
    (void)state;
    struct program p = good_program();
    const size_t needed = DATA_OFFSET + DATA_BYTES;
    for (size_t length = 0; length <= needed; length++) {
        struct elf_image elf;
        struct error err = {""};
        int fd = file_of(&p, length);
        int result = elf_read(&elf, fd, "prog", &err);
        assert_int_equal(result, length < needed ? -ENOEXEC : 0);
        if (length >= SELFMAG && length < needed)
            assert_non_null(strstr(err.text, "prog is truncated: "));
        close(fd);
    }
}

static void a_program_must_fit_into_memory(void **state)
{
    (void)state;
    struct program p = good_program();
    p.ph[1].p_memsz = UINT64_C(100) << 30;
    struct elf_image elf;
    struct elf_mapping mapping;
    struct error err;
    struct guest_memory *m = new_memory();
    int fd = file_of(&p, sizeof p);
    assert_int_equal(elf_read(&elf, fd, "prog", &err), 0);
    assert_int_equal(elf_map(&elf, fd, "prog", m, 0, &mapping, &err), -ENOMEM);
    assert_string_equal(err.text, "cannot map segment 1 of prog: Cannot allocate memory");
    close(fd);
    guest_memory_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_program_is_mapped),
        cmocka_unit_test(a_position_independent_program_moves),
        cmocka_unit_test(zeros_in_a_read_only_page_are_no_trouble),
        cmocka_unit_test(the_interpreter_is_named),
        cmocka_unit_test(each_fault_has_its_sentence),
        cmocka_unit_test(every_truncation_is_noticed),
        cmocka_unit_test(a_program_must_fit_into_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
