/* libFuzzer target: any bytes as a program. Reading and mapping it must end in a mapping or in a sentence. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* What a caller may rely on after a success. */
static void check(const struct elf_image *elf, const struct elf_mapping *mapping, const struct guest_memory *m)
{
    if (elf->segment_count == 0 || elf->low >= elf->high || mapping->end > GUEST_SPACE)
        abort();
    for (unsigned i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *s = &elf->segments[i];
        uint64_t last = mapping->base + s->vaddr + s->mem_bytes - 1;
        const struct guest_area *area = guest_area_at_or_above(m, last);
        if (!area || area->start > last)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static struct guest_memory *memory; /* kept from one input to the next: reserving it takes long */
    struct error err = {""};
    struct elf_image elf;
    struct elf_mapping mapping;
    if (!memory)
        memory = guest_memory_new(UINT64_C(1) << 30, &err);
    int fd = memfd_create("elf", MFD_CLOEXEC);
    if (!memory || fd < 0 || write(fd, bytes, length) != (ssize_t)length)
        abort();
    int result = elf_read(&elf, fd, "input", &err);
    if (result == 0)
        result = elf_map(&elf, fd, "input", memory, elf.interpreter[0] ? 0 : ELF_PIE_BASE, &mapping, &err);
    if (result == 0)
        check(&elf, &mapping, memory);
    else if (err.text[0] == 0)
        abort();
    guest_memory_clear(memory);
    close(fd);
    return 0;
}
