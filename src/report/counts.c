#include "report/counts.h"

#include <string.h>

#define CORE(field)   (uint16_t) offsetof(struct simulation_counts, core.field)
#define MEMORY(field) (uint16_t) offsetof(struct simulation_counts, memory.field)

/* Two rows: accesses on the right path, and all accesses. In the memory hierarchy, element 0 of a field counts all
 * accesses and element 1 those of the wrong path. `all` is the warm_trust of all accesses. */
#define PATHS(name, field, help, all)                                                                                  \
    {name, help, MEMORY(field[0]), MEMORY(field[1]), TRUST_NEAR},                                                      \
    {                                                                                                                  \
        name "_spec", help ", wrong path included", MEMORY(field[0]), NO_COUNT, all                                    \
    }
#define EACH(name, field, help, trust)                                                                                 \
    {                                                                                                                  \
        name, help, MEMORY(field), NO_COUNT, trust                                                                     \
    }

/* The rows of one cache. The number of accesses depends on the level before it and has the warm_trust `before`; what
 * the cache does with them has the warm_trust `itself`. */
#define CACHE(c, what, before, itself)                                                                                 \
    PATHS(#c "_access_misses", c.misses, what ": accesses that missed", itself),                                       \
        PATHS(#c "_accesses", c.accesses, what ": lines accessed", before),                                            \
        PATHS(#c "_merges", c.merges, what ": misses on lines that were already being fetched", itself),               \
        EACH(#c "_writebacks", c.writebacks, what ": dirty lines evicted", itself),                                    \
        EACH(#c "_clean_evictions", c.clean_evictions, what ": clean lines evicted", itself),                          \
        EACH(#c "_prefetches", c.prefetches, what ": lines prefetched", itself),                                       \
        EACH(#c "_useful_prefetches", c.useful_prefetches, what ": prefetched lines that were used", itself),          \
        EACH(#c "_rejects", c.rejects, what ": accesses rejected because no MSHR was free", itself)

/* Rows of caches that stores reach, and of caches that prefetches of the level before reach. */
#define STORES(c, what)                                                                                                \
    EACH(#c "_store_accesses", c.store_accesses, what ": accesses by stores", TRUST_NEAR),                             \
        EACH(#c "_store_misses", c.store_misses, what ": of these, misses", TRUST_NEAR)
#define PREFETCHED(c, what, before)                                                                                    \
    PATHS(#c "_prefetch_accesses", c.prefetch_accesses, what ": accesses by prefetches of the level before", before),  \
        PATHS(#c "_prefetch_misses", c.prefetch_misses, what ": of these, misses", TRUST_NONE)

const struct count_row count_rows[] = {
#define COUNT_OF(name, trust, help) {#name, help, CORE(name), NO_COUNT, TRUST_##trust},
#include "core/count.def"
#undef COUNT_OF
    CACHE(l1i, "first instruction cache", TRUST_NEAR, TRUST_NEAR),
    CACHE(l1d, "first data cache", TRUST_NEAR, TRUST_NEAR),
    STORES(l1d, "first data cache"),
    CACHE(l2i, "second cache, for instructions", TRUST_NEAR, TRUST_NONE),
    PREFETCHED(l2i, "second cache, for instructions", TRUST_NEAR),
    CACHE(l2d, "second cache, for data", TRUST_NEAR, TRUST_NONE),
    STORES(l2d, "second cache, for data"),
    PREFETCHED(l2d, "second cache, for data", TRUST_NEAR),
    CACHE(l3i, "third cache, for instructions", TRUST_NONE, TRUST_NONE),
    PREFETCHED(l3i, "third cache, for instructions", TRUST_NONE),
    CACHE(l3d, "third cache, for data", TRUST_NONE, TRUST_NONE),
    STORES(l3d, "third cache, for data"),
    PREFETCHED(l3d, "third cache, for data", TRUST_NONE),
    PATHS("l1i_primary_misses", primary_i.l1, "lines that the first instruction cache requested", TRUST_NEAR),
    PATHS("l1d_primary_misses", primary_d.l1, "lines that loads and stores requested from behind the first data cache",
          TRUST_NEAR),
    PATHS("l2i_primary_misses", primary_i.memory, "lines of instructions requested from memory", TRUST_NONE),
    PATHS("l2d_primary_misses", primary_d.memory, "lines that loads and stores requested from memory", TRUST_NONE),
    PATHS("itlb_access_misses", itlb_misses, "fetches that missed the first-level TLB", TRUST_NEAR),
    PATHS("dtlb_access_misses", dtlb_misses, "loads and stores that missed the first-level TLB", TRUST_NEAR),
    PATHS("itlb_walks", itlb_walks, "page walks for instructions", TRUST_NEAR),
    PATHS("dtlb_walks", dtlb_walks, "page walks for data", TRUST_NEAR),
    EACH("bus_transactions", bus_transactions, "bus transactions", TRUST_NONE),
    EACH("bus_reads", bus_reads, "of these, reads", TRUST_NONE),
    EACH("bus_writes", bus_writes, "of these, writes", TRUST_NONE),
    EACH("bus_busy_cycles", bus_busy_cycles, "cycles in which the bus was busy, if its transfers take cycles",
         TRUST_NONE),
};
const size_t count_row_count = sizeof count_rows / sizeof count_rows[0];

const struct count_row *count_find(const char *name)
{
    for (size_t i = 0; i < count_row_count; i++)
        if (strcmp(count_rows[i].name, name) == 0)
            return &count_rows[i];
    return NULL;
}

static uint64_t number_at(const struct simulation_counts *c, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)c + offset, sizeof value);
    return value;
}

uint64_t count_value(const struct simulation_counts *c, const struct count_row *row)
{
    return number_at(c, row->offset) - (row->minus == NO_COUNT ? 0 : number_at(c, row->minus));
}

json_t *counts_json(const struct simulation_counts *c)
{
    json_t *counts = json_object();
    for (size_t i = 0; i < count_row_count; i++)
        json_object_set_new(counts, count_rows[i].name, json_integer((json_int_t)count_value(c, &count_rows[i])));
    return counts;
}

/* ---- stages */

static const struct stage_reason fetch_reasons[FETCH_STOPS] = {
    [FETCH_WIDTH] = {"width", "full width"},
    [FETCH_GROUP] = {"group", "the end of the line, or the limit of branches per cycle"},
    [FETCH_BUFFER] = {"buffer", "no room in the fetch buffer"},
    [FETCH_L1I] = {"l1i", "a line was coming from the second or third cache"},
    [FETCH_L2I] = {"l2i", "a line was coming from memory"},
    [FETCH_ITLB] = {"itlb", "a translation was outstanding"},
    [FETCH_MISFETCH] = {"misfetch", "a taken branch was not in the BTB"},
    [FETCH_SERIAL] = {"serial", "the window drained"},
    [FETCH_LOST] = {"lost", "the wrong path had no next instruction"},
};

static const struct stage_reason dispatch_reasons[DISPATCH_STOPS] = {
    [DISPATCH_WIDTH] = {"width", "full width"},
    [DISPATCH_EMPTY] = {"empty", "nothing came from the front end"},
    [DISPATCH_ROB] = {"rob", "the ROB was full"},
    [DISPATCH_IQ] = {"iq", "an issue queue was full"},
    [DISPATCH_LSQ] = {"lsq", "the load/store queue was full"},
    [DISPATCH_REGS] = {"regs", "no physical register was free"},
    [DISPATCH_BUNDLE] = {"bundle", "the bundle ended early"},
};

static const struct stage_reason issue_reasons[ISSUE_STOPS] = {
    [ISSUE_WIDTH] = {"width", "full width"},
    [ISSUE_EMPTY] = {"empty", "no instruction waited"},
    [ISSUE_OPERANDS] = {"operands", "no waiting instruction was ready"},
    [ISSUE_UNITS] = {"units", "units or ports were busy"},
};

static const struct stage_reason commit_reasons[COMMIT_STOPS] = {
    [COMMIT_WIDTH] = {"width", "full width"},
    [COMMIT_EMPTY] = {"empty", "the ROB ran empty"},
    [COMMIT_HEAD] = {"head", "the oldest instruction was not complete"},
    [COMMIT_STORES] = {"stores", "the store buffer was full"},
};

static const struct stage_reason head_reasons[HEAD_WAITS] = {
    [HEAD_NOTHING] = {"nothing", "nothing: it was complete, or the ROB was empty"},
    [HEAD_ISSUE] = {"issue", "its turn to issue, or a free unit"},
    [HEAD_ALU] = {"alu", "an ALU, or a unit of one cycle"},
    [HEAD_UNIT] = {"unit", "an integer unit of long latency"},
    [HEAD_FPU] = {"fpu", "a floating-point unit of long latency"},
    [HEAD_L1D_HIT] = {"l1d_hit", "data from the first cache, or forwarded"},
    [HEAD_L1D] = {"l1d", "data from the second or third cache"},
    [HEAD_L2D] = {"l2d", "data from memory"},
    [HEAD_DTLB] = {"dtlb", "an address translation"},
    [HEAD_WALKED] = {"walked", "data from the second or third cache, after a page walk"},
    [HEAD_REJECT] = {"reject", "a retry after a reject: partial overlap with a store, or no free MSHR"},
    [HEAD_STORES] = {"stores", "older stores to reach the cache, or room in the store buffer"},
};

const struct stage_row stage_rows[STAGES] = {
    [STAGE_ROW_FETCH] = {"fetch", "what ended fetch", CORE(fetch_stop), FETCH_STOPS, fetch_reasons},
    [STAGE_ROW_DISPATCH] = {"dispatch", "what ended dispatch", CORE(dispatch_stop), DISPATCH_STOPS, dispatch_reasons},
    [STAGE_ROW_ISSUE] = {"issue", "what ended issue", CORE(issue_stop), ISSUE_STOPS, issue_reasons},
    [STAGE_ROW_COMMIT] = {"commit", "what ended commit", CORE(commit_stop), COMMIT_STOPS, commit_reasons},
    [STAGE_ROW_HEAD] = {"head", "what the oldest instruction waited for", CORE(head_wait), HEAD_WAITS, head_reasons},
};

uint64_t stage_cycles(const struct simulation_counts *c, const struct stage_row *row, unsigned reason)
{
    return number_at(c, row->offset + reason * sizeof(uint64_t));
}
