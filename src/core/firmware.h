/* Firmware: a program for machine mode, and the memory that only it can access.
 *
 * This memory lies above the 38-bit addresses of programs, so no program can read, write, execute, map or unmap it, and
 * it survives exec. In machine mode all of it is readable, writable and executable.
 *
 * Firmware is a statically linked ELF program for RV64 with fixed addresses in this memory. It comes from a file or
 * from bytes in memory. Malformed files are refused with an error message. */
#ifndef CYCLESCOPE_CORE_FIRMWARE_H
#define CYCLESCOPE_CORE_FIRMWARE_H

#include <stdint.h>

#include "base/error.h"
#include "guest/memory.h"

#define FIRMWARE_BASE  GUEST_SPACE          /* 0x4000000000 */
#define FIRMWARE_SPACE (UINT64_C(64) << 20) /* bytes; only touched pages take host memory */

/* Source of firmware. */
struct firmware_image {
    const char *name;  /* path of its file; for bytes in memory the name that messages use */
    const void *bytes; /* content of the file if it is in memory already; NULL: read the file `name` */
    size_t size;       /* of `bytes` */
};

struct firmware {
    uint8_t *memory; /* FIRMWARE_SPACE bytes on the host */
    uint64_t entry;  /* address of its first instruction */
    uint64_t free;   /* address after its last page: free memory begins here */
};

int firmware_load(struct firmware *f, const struct firmware_image *image, struct error *err) MUST_CHECK;
void firmware_free(struct firmware *f);

/* Moves the memory to a mapping that processes forked from now on share. Its host address changes. */
int firmware_share(struct firmware *f, struct error *err) MUST_CHECK;

/* A copy of the memory's contents. A process that shared the memory can replace it by this copy, as memory of its
 * own. */
struct firmware_copy;
struct firmware_copy *firmware_copy(const struct firmware *f); /* NULL: out of memory */
void firmware_take(struct firmware *f, const struct firmware_copy *copy);
void firmware_copy_free(struct firmware_copy *copy);

#endif
