/* Translation lookaside buffers: two first-level TLBs, each backed by the second level. Entries have arrival cycles as
 * cache lines do: a page takes its entry when it is requested, and an access before its arrival waits for it.
 *
 * A TLB remembers the page of its last access, because most accesses go to the same page again. That page is the most
 * recently used one of its set, so using it again changes nothing. */
#ifndef CYCLESCOPE_MEMSYS_TLB_H
#define CYCLESCOPE_MEMSYS_TLB_H

#include "base/error.h"
#include "memsys/tags.h"

struct tlb_config;

enum { TLB_HINTS = 64 };

struct tlb {
    uint64_t last_page;  /* page of the last access */
    uint64_t last_ready; /* cycle in which that page arrives */
    unsigned last_shift; /* log2 of a page's bytes; 63 for an absent TLB, so that all user addresses are one page */
    unsigned latency;
    bool present;
    struct tags tags;         /* pages; a note is the enum tlb_level that the entry comes from */
    uint32_t hint[TLB_HINTS]; /* by page: entry where the page was last; saves the search through many ways */
};

int tlb_init(struct tlb *t, const struct tlb_config *config, unsigned page_bytes, struct error *err) MUST_CHECK;
/* Makes a TLB that always hits. */
void tlb_init_absent(struct tlb *t);
void tlb_free(struct tlb *t);

/* Accesses the first-level TLB `t`, which is backed by `second`. `ready` is the cycle from which the translation can be
 * used. */
struct tlb_access {
    uint64_t ready;
    uint8_t level;       /* enum tlb_level */
    bool missed, walked; /* the first level missed; a page walk began */
};
struct tlb_access tlb_access(struct tlb *t, struct tlb *second, uint64_t addr, uint64_t now, unsigned walk_latency);

/* Changes the state as the access would, with all pages already arrived. Returns the enum tlb_level that has the page.
 */
unsigned tlb_warm(struct tlb *t, struct tlb *second, uint64_t addr);

#endif
