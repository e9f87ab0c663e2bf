/* Translation lookaside buffers: two first-level ones, each with the second level behind it. Entries have dates as
 * lines have: a page is in its place once asked for, and whoever comes before its date waits for it.
 *
 * A TLB remembers its last page, which most accesses ask for again: it is the last one used of its set, so a repeated
 * use changes nothing. */
#ifndef CYCLESCOPE_MEMSYS_TLB_H
#define CYCLESCOPE_MEMSYS_TLB_H

#include "base/error.h"
#include "memsys/tags.h"

struct tlb_config;

enum { TLB_HINTS = 64 };

struct tlb {
    uint64_t last_page;  /* of the last access ... */
    uint64_t last_ready; /* ... and its date */
    unsigned
        last_shift; /* log2 of a page's bytes; of a TLB that is absent 63, so that all user addresses are one page */
    unsigned latency;
    bool present;
    struct tags tags;         /* note: enum tlb_level that the entry comes from */
    uint32_t hint[TLB_HINTS]; /* by page: the entry where it was last; saves the search through many ways */
};

int tlb_init(struct tlb *t, const struct tlb_config *config, unsigned page_bytes, struct error *err) MUST_CHECK;
/* One that answers always and at once. */
void tlb_init_absent(struct tlb *t);
void tlb_free(struct tlb *t);

/* An access to first-level `t`, with `second` behind it. Returns the cycle from which the translation can be used. */
struct tlb_access {
    uint64_t ready;
    uint8_t level;       /* enum tlb_level */
    bool missed, walked; /* the first level did not have it; a walk began */
};
struct tlb_access tlb_access(struct tlb *t, struct tlb *second, uint64_t addr, uint64_t now, unsigned walk_latency);

/* State as after the access, with everything there. Whether it would have walked. */
bool tlb_warm(struct tlb *t, struct tlb *second, uint64_t addr);

#endif
