/* ELF files: checking and mapping. Files are taken to be hostile: every number is checked before it is used.
 *
 * Accepted are 64-bit little-endian RISC-V programs, of fixed address (ET_EXEC) or position-independent (ET_DYN), whose
 * loadable segments are in ascending order, do not overlap and lie within the file and the guest's address space.
 * Limits: the RV64E base and files with more than ELF_MAX_SEGMENTS program headers are refused. */
#ifndef CYCLESCOPE_GUEST_ELF_H
#define CYCLESCOPE_GUEST_ELF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "guest/memory.h"

enum { ELF_MAX_SEGMENTS = 128 };

#define ELF_PIE_BASE UINT64_C(0x2aaaaaa000) /* two thirds of the address space, as Linux does without randomization */

struct elf_segment {
    uint64_t vaddr, offset;         /* congruent modulo the page size */
    uint64_t file_bytes, mem_bytes; /* the rest of the memory is zero */
    int prot;                       /* PROT_ bits */
};

/* What is known of a file before anything is mapped. */
struct elf_image {
    bool relocatable; /* ET_DYN: addresses are relative to a base yet to be chosen */
    bool stack_exec;  /* asks for an executable stack */
    uint64_t entry;
    uint64_t phdr_addr; /* where the program headers are in memory, or 0 */
    unsigned phdr_count;
    uint64_t alignment; /* of the base, at least a page */
    uint64_t low, high; /* page-aligned range that all segments lie in */
    unsigned segment_count;
    struct elf_segment segments[ELF_MAX_SEGMENTS];
    char interpreter[PATH_MAX]; /* empty if it needs none */
};

/* Where it was put. */
struct elf_mapping {
    uint64_t base; /* added to the addresses in the file */
    uint64_t entry, phdr_addr;
    uint64_t end; /* behind the last segment, page-aligned */
};

/* `name` is how messages call the file. 0, or -ENOEXEC (or what reading failed with) and a sentence. */
int elf_read(struct elf_image *elf, int fd, const char *name, struct error *err) MUST_CHECK;
/* Maps the segments; a relocatable image goes to `base`, or where memory.c chooses if that is 0. 0 or negative errno.
 */
int elf_map(const struct elf_image *elf, int fd, const char *name, struct guest_memory *m, uint64_t base,
            struct elf_mapping *mapping, struct error *err) MUST_CHECK;

#endif
