/* Reads, checks and maps ELF files. Files may be hostile: every number is checked before it is used.
 *
 * Accepts 64-bit little-endian RISC-V programs, with fixed addresses (ET_EXEC) or position-independent (ET_DYN).
 * Loadable segments must be in ascending order of address, must not overlap, and must lie within the file and within
 * the guest's address space. Limits: rejects programs for RV64E and files with more than ELF_MAX_SEGMENTS program
 * headers. */
#ifndef CYCLESCOPE_GUEST_ELF_H
#define CYCLESCOPE_GUEST_ELF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "guest/memory.h"

enum { ELF_MAX_SEGMENTS = 128 };

/* Base of position-independent programs: two thirds of the address space, as in Linux without randomization. */
#define ELF_PIE_BASE UINT64_C(0x2aaaaaa000)

struct elf_segment {
    uint64_t vaddr, offset; /* address in memory and offset in the file; equal modulo the page size */
    uint64_t file_bytes;    /* bytes that come from the file */
    uint64_t mem_bytes;     /* size in memory; bytes from `file_bytes` on are zero */
    int prot;               /* PROT_ bits */
};

/* Contents of the headers of a file. Addresses are those in the file. */
struct elf_image {
    bool relocatable;    /* ET_DYN: elf_map chooses a base and adds it to all addresses */
    bool stack_exec;     /* the program asks for an executable stack (PT_GNU_STACK) */
    uint64_t entry;      /* address of the first instruction */
    uint64_t phdr_addr;  /* address of the program headers in memory; 0: no segment contains them */
    unsigned phdr_count; /* number of program headers, of all types */
    uint64_t alignment;  /* alignment of the base, at least a page */
    uint64_t low, high;  /* page-aligned range [low, high) that contains all segments */
    unsigned segment_count;
    struct elf_segment segments[ELF_MAX_SEGMENTS]; /* loadable segments, in ascending order of address */
    char interpreter[PATH_MAX];                    /* path of the dynamic loader; empty: none */
};

/* Where elf_map has put a program, in guest addresses. */
struct elf_mapping {
    uint64_t base;      /* amount added to the addresses in the file */
    uint64_t entry;     /* address of the first instruction */
    uint64_t phdr_addr; /* address of the program headers; 0: not in memory */
    uint64_t end;       /* end of the last segment, page-aligned */
};

/* Reads and checks the headers of an open file. `name` is the file's name in error messages. Returns 0, or -ENOEXEC or
 * the errno of a failed read, with a message in `err`. */
int elf_read(struct elf_image *elf, int fd, const char *name, struct error *err) MUST_CHECK;
/* Maps the segments into guest memory. A relocatable image goes to `base`, or to an address that guest_mmap chooses if
 * `base` is 0. Returns 0, or a negative errno with a message in `err`. */
int elf_map(const struct elf_image *elf, int fd, const char *name, struct guest_memory *m, uint64_t base,
            struct elf_mapping *mapping, struct error *err) MUST_CHECK;

#endif
