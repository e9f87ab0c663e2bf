/* Firmware: a program for machine mode, and the memory that it has for itself.
 *
 * That memory lies above the 38 bits of addresses that programs have, so no program can read, write, execute, map or
 * unmap it, and it outlives exec. All of it may be read, written and executed in machine mode.
 *
 * Firmware is a statically linked ELF program for RV64 with fixed addresses in this memory, in a file or already read;
 * hostile ones are refused with a sentence. */
#ifndef CYCLESCOPE_CORE_FIRMWARE_H
#define CYCLESCOPE_CORE_FIRMWARE_H

#include <stdint.h>

#include "base/error.h"
#include "guest/memory.h"

#define FIRMWARE_BASE  GUEST_SPACE          /* 0x4000000000 */
#define FIRMWARE_SPACE (UINT64_C(64) << 20) /* bytes; those that are touched take host memory */

/* Where firmware comes from. */
struct firmware_image {
    const char *name;  /* of its file; of one in memory, what messages call it */
    const void *bytes; /* the file's content, if it is in memory already; else NULL */
    size_t size;
};

struct firmware {
    uint8_t *memory; /* FIRMWARE_SPACE bytes on the host */
    uint64_t entry;  /* where it starts */
    uint64_t free;   /* address behind its last page: from here on memory is free */
};

int firmware_load(struct firmware *f, const struct firmware_image *image, struct error *err) MUST_CHECK;
void firmware_free(struct firmware *f);

/* The memory is shared with processes that are forked from now on; it moves. */
int firmware_share(struct firmware *f, struct error *err) MUST_CHECK;

/* What lies in it. A process that shared it takes the copy as memory of its own. */
struct firmware_copy;
struct firmware_copy *firmware_copy(const struct firmware *f); /* NULL: no memory */
void firmware_take(struct firmware *f, const struct firmware_copy *copy);
void firmware_copy_free(struct firmware_copy *copy);

#endif
