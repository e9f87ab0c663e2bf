/* Execution at fetch: registers and memory as the instruction that is fetched next sees them, on the right path or on a
 * wrong one.
 *
 * Level 0 is the right path: the guest's own hart and memory. Each misprediction opens a level above: it starts with a
 * copy of the registers below and goes the predicted way; its stores go to an overlay that lies over memory and that
 * its loads see. When the branch of level k resolves, path_return drops all levels above k and what they stored: level
 * k has stood still just behind the branch, on its real way. Invariants: levels above 0 change no guest memory and
 * never trap; what they cannot do they leave undone. */
#ifndef CYCLESCOPE_CORE_PATHS_H
#define CYCLESCOPE_CORE_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "core/code.h"
#include "guest/hart.h"
#include "guest/memory.h"

enum { ACCESS_CACHE = 256 };

/* Pages that were found accessible, by number; direct-mapped, forgotten when any may have become inaccessible. */
struct access_cache {
    uint64_t page[ACCESS_CACHE]; /* address / GUEST_PAGE, or UINT64_MAX */
};

struct overlay_cell {
    uint64_t granule; /* address / 8 */
    uint64_t bytes;
    uint32_t epoch; /* the cell is empty unless this is the overlay's */
    uint8_t valid;  /* one bit per byte */
};

struct overlay_undo {
    uint32_t cell;
    uint64_t bytes;
    uint8_t valid;
    bool claimed; /* the cell was empty */
};

struct path_level {
    struct hart hart;
    uint32_t undo; /* entries of the undo log when the level began */
};

struct paths {
    struct hart *hart; /* of the current level */
    unsigned level;
    struct hart *right; /* the guest's */
    uint8_t *mem;
    struct guest_memory *memory;
    uint8_t *machine; /* memory of machine mode (firmware.h), while the core is in it; else NULL */
    struct access_cache readable, writable;
    uint64_t losses;          /* of the memory, when they were valid */
    struct path_level *above; /* above[k - 1] is level k */
    unsigned room;            /* levels above 0 */
    struct overlay_cell *cell;
    uint32_t cell_mask, epoch;
    struct overlay_undo *undo;
    uint32_t undone, undo_room;
    _Alignas(8) uint8_t buffer[8]; /* what a wrong-path access works on */
};

/* Room for `in_flight` instructions, so that every one of them may be a misprediction or a store. */
int paths_init(struct paths *p, struct guest_memory *memory, unsigned in_flight, struct error *err) MUST_CHECK;
void paths_free(struct paths *p);
/* The guest goes on with this hart; mappings may have changed. */
void paths_enter(struct paths *p, struct hart *right);
void paths_forget(struct paths *p); /* what was found accessible */
void paths_leave(struct paths *p);  /* the hart's flags are complete */

/* Where `size` bytes at `addr` can be accessed on the right path; NULL: `trap` says why not and from which address on.
 */
struct path_trap {
    enum trap trap;
    uint64_t addr;
};
void *path_right_memory(struct paths *p, uint64_t addr, unsigned size, bool write, struct path_trap *trap);
/* Executes a memory access of the wrong path; false if the address is no memory that it may access. */
bool path_wrong_memory(struct paths *p, const struct code *c, uint64_t addr);

void path_mispredict(struct paths *p, uint64_t predicted); /* opens a level, which goes to `predicted` */
void path_return(struct paths *p, unsigned level);

/* Whether the page is known to be accessible; most accesses end here. */
static inline bool access_known(const struct access_cache *c, uint64_t addr, unsigned size)
{
    uint64_t page = addr / GUEST_PAGE;
    return c->page[page % ACCESS_CACHE] == page && addr % GUEST_PAGE <= GUEST_PAGE - size;
}

#endif
