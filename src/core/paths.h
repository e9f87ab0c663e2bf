/* Execution at fetch: registers and memory as the next fetched instruction sees them, on the right path or on a wrong
 * path.
 *
 * Level 0 is the right path: the guest's own hart and memory. Each misprediction opens a level above the current one.
 * The new level starts with a copy of the registers and follows the prediction; its stores go to an overlay over
 * memory, which its loads see. When the branch that was fetched on level k resolves, path_return drops all levels above
 * k and their stores. Level k has stood still since the branch, at the branch's real target.
 *
 * Invariants: levels above 0 change no guest memory and never trap; what they cannot do is skipped. */
#ifndef CYCLESCOPE_CORE_PATHS_H
#define CYCLESCOPE_CORE_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "core/access_cache.h"
#include "core/code.h"
#include "riscv/hart.h"
#include "guest/memory.h"

/* Eight bytes of the overlay: what wrong paths have stored. */
struct overlay_cell {
    uint64_t granule; /* address / 8 */
    uint64_t bytes;
    uint32_t epoch; /* the cell is empty unless this equals paths.epoch */
    uint8_t valid;  /* one bit per byte of `bytes` that was stored */
};

/* A cell before a store, to undo the store. */
struct overlay_undo {
    uint32_t cell;
    uint64_t bytes;
    uint8_t valid;
    bool claimed; /* the cell was empty before the store */
};

/* A wrong path. */
struct path_level {
    struct hart hart;
    uint32_t undo; /* length of the undo log when the level began */
};

struct paths {
    struct hart *hart;           /* registers of the current level */
    unsigned level;              /* 0: the right path */
    struct hart *right;          /* the guest's hart: level 0 */
    uint8_t *mem;                /* host address of the guest's memory */
    struct guest_memory *memory; /* the guest's memory */
    uint8_t *machine;            /* memory of machine mode (firmware.h) while the core is in machine mode; else NULL */
    struct access_cache readable, writable;    /* pages known to be accessible; `writable` has none with decoded code */
    uint64_t permission_epoch;                 /* guest_permission_epoch when `readable` and `writable` were valid */
    struct path_level *above;                  /* above[k - 1] is level k */
    unsigned room;                             /* levels that `above` has room for */
    struct overlay_cell *cell;                 /* the overlay: hash table with open addressing */
    uint32_t cell_mask, epoch;                 /* cells - 1; cells of other epochs are empty */
    struct overlay_undo *undo;                 /* log of overlay stores, oldest first */
    uint32_t undo_count, undo_room;            /* entries of the log; entries that it has room for */
    _Alignas(16) uint8_t buffer[ZEROED_BYTES]; /* bytes on which a wrong-path access executes */
};

/* Allocates room for `in_flight` instructions, each of which may be a misprediction or a store. */
int paths_init(struct paths *p, struct guest_memory *memory, unsigned in_flight, struct error *err) MUST_CHECK;
void paths_free(struct paths *p);
/* The guest continues with this hart, on the right path. Mappings may have changed since the last call. */
void paths_enter(struct paths *p, struct hart *right);
void paths_forget(struct paths *p); /* forgets which pages were found accessible */
void paths_leave(struct paths *p);  /* the hart's fflags are complete afterwards */

/* Returns the host address of `size` bytes at guest address `addr`. NULL: the guest may not access them; `trap` has the
 * trap and the first address at fault. */
struct path_trap {
    enum trap trap;
    uint64_t addr;
};
void *path_right_memory(struct paths *p, uint64_t addr, unsigned size, bool write, struct path_trap *trap);
/* Executes a memory access on the wrong path. Returns false, and does nothing, if the guest may not access the
 * address. */
bool path_wrong_memory(struct paths *p, const struct code *c, uint64_t addr);

void path_mispredict(struct paths *p, uint64_t predicted); /* opens a level that continues at `predicted` */
void path_return(struct paths *p, unsigned level);         /* drops all levels above `level` */

#endif
