/* Firmware: a program for machine mode, and the memory that it has for itself.
 *
 * That memory lies above the 38 bits of addresses that programs have, so no program can read, write, execute, map or
 * unmap it, and it outlives exec. All of it may be read, written and executed in machine mode.
 *
 * A firmware file is a statically linked ELF program for RV64 with fixed addresses in this memory; hostile files are
 * refused with a sentence. */
#ifndef CYCLESCOPE_CORE_FIRMWARE_H
#define CYCLESCOPE_CORE_FIRMWARE_H

#include <stdint.h>

#include "base/error.h"
#include "guest/memory.h"

#define FIRMWARE_BASE  GUEST_SPACE          /* 0x4000000000 */
#define FIRMWARE_SPACE (UINT64_C(64) << 20) /* bytes; those that are touched take host memory */

struct firmware {
    uint8_t *memory; /* FIRMWARE_SPACE bytes on the host */
    uint64_t entry;  /* where it starts */
    uint64_t free;   /* address behind its last page: from here on memory is free */
};

int firmware_load(struct firmware *f, const char *path, struct error *err) MUST_CHECK;
void firmware_free(struct firmware *f);

#endif
