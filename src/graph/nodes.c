/* Nodes: works out, once for all sets, what each instruction waits for: fetch groups, room in queues, the store that
 * forwards to a load, the access that brings its line, and latencies with real and with perfect prediction. */
#include <errno.h>
#include <stdlib.h>

#include "graph/code_second.h"
#include "graph/graph_priv.h"

enum {
    PREFETCHES = 64, /* lines that one access can make prefetchers request */
    LINES = 1024,    /* entries of the table of recent arrivals, by line */
    PAGES = 256,     /* entries of the table of recent walks, by page */
    BUCKETS = 4096,  /* lists of recent stores, by the 8 bytes that they write */
    NO_STORE = 0     /* stores count from 1 */
};

/* The fetch group that is being filled in one variant. */
struct group {
    unsigned insns;         /* instructions so far */
    unsigned lines_left;    /* lines that it may still read */
    unsigned branches_left; /* control transfers that it may still predict */
    uint64_t line;          /* line that fetch is in, or UINT64_MAX */
};

/* Instructions that hold an entry of a structure until they commit, as a ring of their numbers. */
struct holders {
    uint32_t *insn;
    unsigned size; /* entries of the structure */
    unsigned next; /* index of the entry that is taken next */
    bool full;     /* all entries have been taken once */
};

/* A store, in the lists of the granules of its first and its last byte. */
struct recent_store {
    uint64_t addr;
    uint32_t bucket[2], older[2]; /* older[i]: number of the next store in the list bucket[i], or NO_STORE */
    uint8_t size;
};

/* Which arrival last brought a line, by prediction; 0: none. Arrivals count from 1. */
struct line_entry {
    uint64_t line;
    uint32_t arrival[PREDICTIONS];
    bool prefetched;           /* the last arrival with perfect prediction is a prefetch */
    uint32_t prefetch_arrival; /* of a prefetch that has not been used; 0: none */
    uint16_t prefetch_cycles;  /* its latency */
    uint8_t prefetch_line;     /* its number among the lines of one access, less than PREFETCH_LINES */
    uint32_t insn;             /* of a line of the L2: the instruction that requested it last */
};

/* Which walk last brought the translation of a page, by prediction; 0: none. Walks count from 1. */
struct page_entry {
    uint64_t page;
    uint32_t walk[PREDICTIONS];
    uint32_t insn[PREDICTIONS]; /* number of the instruction that walked */
};

struct node_builder {
    struct graph_core core;
    unsigned fetch_shift, data_shift, second_shift; /* log2 of the bytes of lines: of the L1I, the L1D and the L2 */
    struct memsys *memory;                          /* as instructions that retire leave it */
    struct code_second code_second;                 /* the L2 without data */
    uint64_t insns;                                 /* nodes built so far */
    uint32_t stores;                                /* stores so far */
    uint32_t arrivals;                              /* arrivals so far */
    bool prefetcher;                                /* the L1I has one */
    uint64_t fetched_line; /* last line that `memory` was asked for, or UINT64_MAX after a taken branch */
    bool after_mispredicted, after_serial; /* what the last instruction was */
    struct group group[GROUP_VARIANTS];
    bool same_groups[PREDICTIONS]; /* the groups with a perfect and with a real L1I are equal */
    struct holders loads, store_queue, load_store, int_regs, fp_regs;
    struct line_entry line[LINES];        /* of the L1D */
    struct line_entry second_line[LINES]; /* of the L2: prefetches */
    struct line_entry fetch_line[LINES];  /* of the L1I: prefetches */
    uint32_t fetch_arrivals;              /* arrivals of instruction lines so far */
    struct page_entry page[PAGES];
    uint32_t walks;                                /* walks for data so far */
    struct prefetched_line prefetched[PREFETCHES]; /* by the current access */
    unsigned prefetches;                           /* elements of `prefetched` */
    uint32_t bucket[BUCKETS];                      /* number of the youngest store in each list, or NO_STORE */
    struct recent_store store[GRAPH_STORES];
};

/* ---- the hierarchy without wrong paths */

/* Returns the level that has the line, from misses counted before and after the access. */
static unsigned level_from_counts(const struct memsys *m, const uint64_t before[3], const uint64_t after[3])
{
    if (after[0] == before[0])
        return LEVEL_L1;
    if (m->l2.present && after[1] == before[1])
        return LEVEL_L2;
    return m->l3.present && after[2] == before[2] ? LEVEL_L3 : LEVEL_MEMORY;
}

static void on_prefetch(void *context, const struct prefetched_line *p)
{
    struct node_builder *b = context;
    if (b->prefetches < PREFETCHES)
        b->prefetched[b->prefetches++] = *p;
}

static unsigned fetch_line(struct node_builder *b, uint64_t addr)
{
    const struct memsys_counts *w = memsys_warm_counts(b->memory);
    uint64_t before[3] = {w->l1i.misses[0], w->l2i.misses[0], w->l3i.misses[0]};
    memsys_warm_fetch(b->memory, addr);
    uint64_t after[3] = {w->l1i.misses[0], w->l2i.misses[0], w->l3i.misses[0]};
    return level_from_counts(b->memory, before, after);
}

/* Returns the level that has a translation, from misses and walks counted before and after the access. */
static unsigned tlb_level_from_counts(const uint64_t before[2], const uint64_t after[2])
{
    return after[1] > before[1] ? TLB_WALK : after[0] > before[0] ? TLB_L2 : TLB_L1;
}

/* Fetches the lines of an instruction as far as they are not the current one. Returns the level of the farthest. */
static unsigned fetch_level(struct node_builder *b, const struct held_insn *h, uint64_t first, uint64_t last)
{
    unsigned level = LEVEL_L1, second;
    if (first != b->fetched_line)
        level = fetch_line(b, first << b->fetch_shift);
    if (last != first && (second = fetch_line(b, last << b->fetch_shift)) > level)
        level = second;
    b->fetched_line = h->flags & IS_CONTROL && h->taken ? UINT64_MAX : last;
    return level;
}

/* Sets *translation to the enum tlb_level that has the translation. */
static unsigned data_level(struct node_builder *b, const struct held_insn *h, unsigned *translation)
{
    const struct memsys_counts *w = memsys_warm_counts(b->memory);
    uint64_t tlb[2] = {w->dtlb_misses[0], w->dtlb_walks[0]};
    uint64_t before[3] = {w->l1d.misses[0], w->l2d.misses[0], w->l3d.misses[0]};
    memsys_warm_data(b->memory, h->addr, h->size, h->pc, h->flags & IS_STORE);
    uint64_t after[3] = {w->l1d.misses[0], w->l2d.misses[0], w->l3d.misses[0]};
    *translation = tlb_level_from_counts(tlb, (uint64_t[2]){w->dtlb_misses[0], w->dtlb_walks[0]});
    return level_from_counts(b->memory, before, after);
}

/* ---- arrivals */

static struct line_entry *entry_of(struct line_entry table[LINES], uint64_t line)
{
    struct line_entry *e = &table[(line ^ line >> 12) % LINES];
    if (e->line != line)
        *e = (struct line_entry){.line = line};
    return e;
}

/* The distance to an arrival: 1 is the last one of `arrivals`. 0: there is none, or too many have come since. */
static uint16_t distance_to(uint32_t arrival, uint32_t arrivals, unsigned most)
{
    uint32_t back = arrivals - arrival;
    return arrival && back < most - 1 ? (uint16_t)(back + 1) : 0;
}

/* Of the lines that the last access made prefetchers request, into a cache of this level: remembers in the table that
 * they come with number `arrival` if prediction is perfect; with real prediction, loads show in the real run how late
 * prefetches are. Returns the farthest level that the lines come from, or LEVEL_L1 if there is none. */
static unsigned add_prefetches(struct node_builder *b, bool data, unsigned into, unsigned line_shift, uint32_t arrival,
                               struct line_entry table[LINES])
{
    unsigned level = LEVEL_L1, lines = 0;
    for (unsigned i = 0; i < b->prefetches; i++) {
        const struct prefetched_line *p = &b->prefetched[i];
        if (p->data != data || p->into != into)
            continue;
        struct line_entry *e = entry_of(table, p->addr >> line_shift);
        e->arrival[PREDICTION_PERFECT] = e->prefetch_arrival = arrival;
        e->prefetched = true;
        e->prefetch_cycles = (uint16_t)b->core.latency[p->level];
        e->prefetch_line = (uint8_t)(lines < PREFETCH_LINES - 1 ? lines++ : lines);
        level = p->level > level ? p->level : level;
    }
    return level;
}

/* ---- fetch */

/* Whether a misprediction or a misfetch before this instruction ends the fetch group in this variant. */
static bool is_redirected(const struct node_builder *b, const struct graph_node *n, unsigned variant)
{
    return variant & 2 && (b->after_mispredicted || n->misfetch_cycles);
}

/* condition ? yes : no, without a branch: conditions follow the guest's behavior, which the host cannot predict. */
static inline unsigned choose(bool condition, unsigned yes, unsigned no)
{
    return no ^ ((no ^ yes) & -(unsigned)condition);
}

/* Puts the instruction into the fetch group of one variant, or begins a new one. */
static inline void join_group(struct node_builder *b, const struct held_insn *h, struct graph_node *n, unsigned variant,
                              uint64_t first, uint64_t last)
{
    const struct graph_core *c = &b->core;
    struct group *g = &b->group[variant];
    unsigned v = variant & 2 ? PREDICTION_REAL : PREDICTION_PERFECT;
    bool waits = variant & 1 && (n->l1i_cycles[v] | n->l2i_cycles[v]);
    bool reads_first = (first != g->line) | (variant & 2 && b->after_mispredicted);
    unsigned reads = reads_first + (last != first);
    bool ends = (b->insns == 0) | b->after_serial | is_redirected(b, n, variant) | (g->insns >= c->fetch_width) |
                (g->branches_left == 0) | (reads > g->lines_left);
    /* A new group whose first instruction needs no other line reads the line that fetch is in again. */
    unsigned lines = c->fetch_lines - (reads == 0);
    lines = choose(ends, choose(lines < reads, reads, lines), g->lines_left) - reads;
    bool control = h->flags & IS_CONTROL;
    n->new_group |= (uint8_t)(ends << variant);
    g->lines_left = choose(waits, c->fetch_lines - 1, lines);
    g->insns = choose(ends | waits, 0, g->insns) + 1;
    g->branches_left = choose(ends | waits, c->fetch_branches, g->branches_left) - control;
    g->line = last | -(uint64_t)(control & h->taken);
}

static bool groups_are_equal(const struct group *a, const struct group *b)
{
    return a->insns == b->insns && a->lines_left == b->lines_left && a->branches_left == b->branches_left &&
           a->line == b->line;
}

/* Puts the instruction into the fetch groups of both variants of a prediction: with a perfect and with a real L1I. They
 * are mostly the same. */
static void join_groups(struct node_builder *b, const struct held_insn *h, struct graph_node *n, unsigned v,
                        uint64_t first, uint64_t last)
{
    const unsigned perfect = v == PREDICTION_REAL ? 2 : 0, real = perfect + 1;
    bool waits = n->l1i_cycles[v] | n->l2i_cycles[v];
    join_group(b, h, n, perfect, first, last);
    if (b->same_groups[v] && !waits) {
        b->group[real] = b->group[perfect];
        n->new_group |= (uint8_t)((n->new_group >> perfect & 1) << real);
    } else {
        join_group(b, h, n, real, first, last);
        b->same_groups[v] = groups_are_equal(&b->group[perfect], &b->group[real]);
    }
}

/* The cycles that a line from this level takes beyond one from the L2. */
static uint16_t beyond_second(const struct graph_core *c, unsigned level)
{
    /* cppcheck-suppress arrayIndexOutOfBoundsCond ; no level is beyond LEVEL_MEMORY */
    return (uint16_t)(level > LEVEL_L2 ? c->latency[level] - c->latency[LEVEL_L2] : 0);
}

/* Fetch stalls. With perfect prediction a line that a wrong path brought in is missed by the right one, and the other
 * way around. */
static void set_fetch_stalls(const struct node_builder *b, const struct fetch_stalls *s, struct graph_node *n,
                             unsigned level)
{
    const struct graph_core *c = &b->core;
    unsigned waits = s->cycles[FETCH_L1I] + s->cycles[FETCH_L2I];
    n->misfetch_cycles = s->cycles[FETCH_MISFETCH];
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        n->l2i_cycles[v] = s->line_cycles;
        n->l1i_cycles[v] = (uint16_t)(waits - s->line_cycles);
    }
    if (s->requested && level == LEVEL_L1) {
        n->l1i_cycles[PREDICTION_PERFECT] = n->l2i_cycles[PREDICTION_PERFECT] = 0;
    } else if (level > LEVEL_L1 && !s->requested) {
        n->l1i_cycles[PREDICTION_PERFECT] = (uint16_t)(c->latency[LEVEL_L2] - c->latency[LEVEL_L1]);
        n->l2i_cycles[PREDICTION_PERFECT] = beyond_second(c, level);
    } else if (level > LEVEL_L1 && (level > LEVEL_L2) != (s->line_cycles > 0)) {
        n->l2i_cycles[PREDICTION_PERFECT] = beyond_second(c, level);
    }
}

static bool uses_code_second(struct node_builder *b, uint64_t addr)
{
    return code_second_use(&b->code_second, addr, b->insns, b->core.rob_size + b->core.front_size);
}

/* Lines that come from beyond the L2 may be there if no data is. `level` as in set_fetch_stalls. */
static void set_second_alone(struct node_builder *b, const struct held_insn *h, struct graph_node *n, unsigned level)
{
    uint64_t end = h->pc + h->length - 1;
    if (level == LEVEL_L1 && !h->stalls.requested && !(n->l2i_cycles[0] | n->l2i_cycles[1]))
        return;
    n->second_alone = uses_code_second(b, h->pc);
    if (h->pc >> b->fetch_shift != end >> b->fetch_shift)
        n->second_alone &= uses_code_second(b, end);
}

/* With perfect prediction, a line that the prefetcher has requested comes when it arrives, and not a fixed time after
 * fetch needs it. With real prediction the stall of the real run counts, since wrong paths bring lines as well. */
static void set_fetch_arrival(struct node_builder *b, struct graph_node *n, uint64_t line, unsigned level)
{
    const struct graph_core *c = &b->core;
    const struct line_entry *e = entry_of(b->fetch_line, line);
    const unsigned v = PREDICTION_PERFECT;
    if (level == LEVEL_L1)
        n->fetch_distance = distance_to(e->arrival[v], b->fetch_arrivals, GRAPH_FETCH_ARRIVALS);
    if (n->fetch_distance)
        n->l1i_cycles[v] = n->l2i_cycles[v] = 0;
    unsigned from = add_prefetches(b, false, LEVEL_L1, b->fetch_shift, b->fetch_arrivals + 1, b->fetch_line);
    n->fetch_prefetches = from > LEVEL_L1;
    n->fetch_prefetch_cycles = beyond_second(c, from);
    n->prefetch_second_alone = true;
    for (unsigned i = 0; i < b->prefetches; i++)
        if (!b->prefetched[i].data && b->prefetched[i].into == LEVEL_L1)
            n->prefetch_second_alone &= uses_code_second(b, b->prefetched[i].addr);
    b->fetch_arrivals += n->fetch_prefetches;
}

static void set_fetch_edges(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    uint64_t first = h->pc >> b->fetch_shift, last = (h->pc + h->length - 1) >> b->fetch_shift;
    b->prefetches = 0;
    uint64_t before = b->fetched_line;
    const struct memsys_counts *w = memsys_warm_counts(b->memory);
    uint64_t tlb[2] = {w->itlb_misses[0], w->itlb_walks[0]};
    unsigned level = fetch_level(b, h, first, last);
    unsigned translation = tlb_level_from_counts(tlb, (uint64_t[2]){w->itlb_misses[0], w->itlb_walks[0]});
    n->itlb_cycles[PREDICTION_REAL] = h->stalls.cycles[FETCH_ITLB];
    n->itlb_cycles[PREDICTION_PERFECT] = (uint16_t)b->core.translation[translation];
    set_fetch_stalls(b, &h->stalls, n, level);
    set_second_alone(b, h, n, level);
    join_groups(b, h, n, PREDICTION_PERFECT, first, last);
    join_groups(b, h, n, PREDICTION_REAL, first, last);
    if (b->prefetcher && last != before)
        set_fetch_arrival(b, n, last, level);
}

/* ---- room */

/* The instruction takes an entry. Returns the distance to the instruction whose commit frees that entry, or `most`. */
static unsigned take_entry(struct holders *h, uint64_t insn, unsigned most)
{
    unsigned distance = most;
    if (h->size >= most)
        return most; /* the ROB is full before */
    uint32_t *at = &h->insn[h->next];
    if (h->full && (uint32_t)insn - *at < most)
        distance = (uint32_t)insn - *at;
    *at = (uint32_t)insn;
    if (++h->next == h->size) {
        h->next = 0;
        h->full = true;
    }
    return distance;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* ROB, load/store queue and registers are freed at commit, in order: of all entries that the instruction needs, the one
 * that is freed last counts. */
static void set_room(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    unsigned most = b->core.rob_size, distance = most;
    if ((h->flags & IS_MEM) == IS_LOAD)
        distance = least(distance, take_entry(&b->loads, b->insns, most));
    if (h->flags & IS_STORE)
        distance = least(distance, take_entry(&b->store_queue, b->insns, most));
    if (h->flags & IS_MEM)
        distance = least(distance, take_entry(&b->load_store, b->insns, most));
    if (h->dest >= REG_FP)
        distance = least(distance, take_entry(&b->fp_regs, b->insns, most));
    else if (h->dest)
        distance = least(distance, take_entry(&b->int_regs, b->insns, most));
    n->room = (uint16_t)(distance <= b->insns ? distance : 0);
}

/* ---- stores that forward */

static uint32_t bucket_of(uint64_t addr)
{
    uint64_t granule = addr / 8;
    return (uint32_t)(granule ^ granule >> 12) % BUCKETS;
}

/* Adds a store to the lists of its first and its last byte. Loads from the middle of a store of 64 bytes do not find
 * it. */
static void list_store(struct node_builder *b, const struct held_insn *h)
{
    struct recent_store *s = &b->store[b->stores % GRAPH_STORES];
    *s = (struct recent_store){.addr = h->addr, .size = h->size};
    if (h->size == 0)
        return;
    for (unsigned i = 0; i < 2; i++) {
        s->bucket[i] = bucket_of(i ? h->addr + h->size - 1 : h->addr);
        s->older[i] = i && s->bucket[1] == s->bucket[0] ? NO_STORE : b->bucket[s->bucket[i]];
    }
    b->bucket[s->bucket[0]] = b->bucket[s->bucket[1]] = b->stores;
}

/* Returns the number of the youngest store in a list that overlaps these bytes and may still be in the queue. */
static uint32_t overlapping(const struct node_builder *b, uint32_t bucket, uint64_t addr, uint64_t end)
{
    uint32_t number = b->bucket[bucket];
    while (number != NO_STORE && b->stores - number < b->core.live_stores) {
        const struct recent_store *s = &b->store[number % GRAPH_STORES];
        if (s->addr < end && addr < s->addr + s->size)
            return number;
        number = s->older[s->bucket[0] == bucket ? 0 : 1];
    }
    return NO_STORE;
}

static void find_match(const struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    uint64_t end = h->addr + h->size;
    uint32_t first = bucket_of(h->addr), last = bucket_of(end - 1);
    uint32_t number = overlapping(b, first, h->addr, end), other;
    if (last != first && (other = overlapping(b, last, h->addr, end)) > number)
        number = other;
    if (number == NO_STORE)
        return;
    const struct recent_store *s = &b->store[number % GRAPH_STORES];
    n->match = (uint16_t)(b->stores - number + 1);
    if (s->addr <= h->addr && end <= s->addr + s->size)
        n->flags |= NODE_WHOLE;
}

/* ---- translations of data */

/* With real prediction, the cycles of the real run count, and with perfect prediction those of the level that has the
 * translation when nothing comes from wrong paths. A page that an instruction in the window has walked for is waited
 * for. `translation`: enum tlb_level. */
static void set_translation(struct node_builder *b, const struct held_insn *h, struct graph_node *n,
                            unsigned translation)
{
    uint64_t page = h->addr >> b->core.page_shift;
    struct page_entry *e = &b->page[page % PAGES];
    uint16_t real = h->access.translation_cycles, perfect = (uint16_t)b->core.translation[translation];
    if (e->page != page) {
        if (!(real | perfect))
            return;
        *e = (struct page_entry){.page = page};
    }
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        uint16_t cycles = v == PREDICTION_REAL ? real : perfect;
        bool recent =
            e->walk[v] && (uint32_t)b->insns - e->insn[v] < b->core.rob_size && b->walks - e->walk[v] < GRAPH_WALKS - 1;
        if (recent && (v == PREDICTION_REAL || !cycles)) {
            n->walk_distance[v] = (uint16_t)(b->walks - e->walk[v] + 1);
        } else if (cycles) {
            n->dtlb_cycles[v] = cycles;
            n->walks = true;
            e->walk[v] = b->walks + 1;
            e->insn[v] = (uint32_t)b->insns;
        }
    }
    b->walks += n->walks;
}

/* ---- lines */

/* The distance to the arrival with which the L2 gets a line that an access to the L1D misses; 0: it has the line, or it
 * is not known who brings it. `level` is where the line is with perfect prediction, and `a` how it was in the real run.
 */
static uint16_t second_distance(struct node_builder *b, const struct held_insn *h, const struct data_access *a,
                                unsigned v, unsigned level, const struct line_entry *e)
{
    bool waits = v == PREDICTION_REAL ? a->level > LEVEL_L2 && a->merged : level == LEVEL_L2;
    if (!waits || distance_to(e->arrival[v], b->arrivals, GRAPH_ARRIVALS))
        return 0;
    const struct line_entry *second = entry_of(b->second_line, h->addr >> b->second_shift);
    if (v == PREDICTION_REAL && (uint32_t)b->insns - second->insn >= b->core.rob_size)
        return 0;
    return distance_to(second->arrival[v], b->arrivals, GRAPH_ARRIVALS);
}

/* Sets how a load gets its line in one prediction: it requests the line, or it waits for an arrival. `level` is where
 * the line is if the load requests it. */
static void set_arrival(struct node_builder *b, const struct held_insn *h, struct graph_node *n, unsigned v,
                        unsigned level, const struct line_entry *e)
{
    const struct data_access *a = &h->access;
    bool requested = a->level > LEVEL_L1 && !a->merged, requests = v == PREDICTION_REAL ? requested : level > LEVEL_L1;
    n->second_distance[v] = second_distance(b, h, a, v, level, e);
    n->requests |= (uint8_t)((requests || n->second_distance[v]) << v);
    if (n->second_distance[v]) {
        n->load_cycles[v] = (uint16_t)b->core.latency[LEVEL_L2];
    } else if (requests) {
        bool same = requested && (v == PREDICTION_REAL || a->level == level);
        n->load_cycles[v] = same ? a->cycles : (uint16_t)b->core.latency[level];
    } else {
        n->arrival_distance[v] = distance_to(e->arrival[v], b->arrivals, GRAPH_ARRIVALS);
        /* No request that is known brings the line, or one that may be late: a prefetch. */
        if (a->merged && a->level > LEVEL_L1 && (!n->arrival_distance[v] || e->prefetched))
            n->load_cycles[v] = a->cycles;
    }
}

/* The last arrival in the L2 that lines wait for which an access made a prefetcher bring from there into the L1D. */
static uint32_t second_of_prefetches(struct node_builder *b)
{
    uint32_t last = 0;
    for (unsigned i = 0; i < b->prefetches; i++) {
        const struct prefetched_line *p = &b->prefetched[i];
        if (!p->data || p->into != LEVEL_L1 || p->level != LEVEL_L2)
            continue;
        uint32_t arrival = entry_of(b->second_line, p->addr >> b->second_shift)->arrival[PREDICTION_PERFECT];
        last = arrival > last ? arrival : last;
    }
    return last;
}

/* The lines that an access to data made prefetchers request come with one arrival in each cache. */
static void set_prefetches(struct node_builder *b, struct graph_node *n)
{
    const struct graph_core *c = &b->core;
    if (b->prefetches == 0)
        return;
    unsigned second = add_prefetches(b, true, LEVEL_L2, b->second_shift, b->arrivals + 1, b->second_line);
    if (second > LEVEL_L1) {
        n->second_prefetch_cycles = (uint16_t)c->latency[second];
        b->arrivals++;
    }
    unsigned first = add_prefetches(b, true, LEVEL_L1, b->data_shift, b->arrivals + 2, b->line);
    if (first == LEVEL_L1)
        return;
    for (unsigned i = 0; i < b->prefetches && n->prefetch_lines < PREFETCH_LINES; i++)
        n->prefetch_lines += b->prefetched[i].data && b->prefetched[i].into == LEVEL_L1;
    n->prefetch_cycles = (uint16_t)c->latency[first];
    b->arrivals += 2;
    uint32_t arrival = second_of_prefetches(b);
    if (arrival && b->arrivals - arrival < GRAPH_ARRIVALS)
        n->prefetch_second_distance = (uint16_t)(b->arrivals - arrival);
}

/* The access gets a number among arrivals. `e` remembers it for those predictions in which it brings the line.
 * `level[v]`: where the line comes from if the access requests it. */
static void add_arrival(struct node_builder *b, uint64_t addr, struct graph_node *n, struct line_entry *e,
                        unsigned brings, const unsigned level[PREDICTIONS])
{
    n->arrives = brings != 0;
    b->arrivals += n->arrives;
    for (unsigned v = 0; v < PREDICTIONS; v++)
        if (brings >> v & 1)
            e->arrival[v] = b->arrivals;
    for (unsigned v = 0; v < PREDICTIONS; v++)
        if (n->requests >> v & 1 && !n->second_distance[v] && level[v] > LEVEL_L2) {
            struct line_entry *second = entry_of(b->second_line, addr >> b->second_shift);
            second->arrival[v] = b->arrivals;
            second->insn = (uint32_t)b->insns;
        }
    e->prefetched &= !(brings >> PREDICTION_PERFECT & 1);
}

/* The first use of a line that a prefetcher has proposed: whether the load waits for the prefetch or requests the line
 * depends on MSHRs, with either prediction. */
static void set_use(struct node_builder *b, uint64_t addr, struct graph_node *n, struct line_entry *e)
{
    n->used_distance = distance_to(e->prefetch_arrival, b->arrivals, GRAPH_ARRIVALS);
    n->used_line = e->prefetch_line;
    for (unsigned v = 0; n->used_distance && v < PREDICTIONS; v++) {
        n->load_cycles[v] = e->prefetch_cycles;
        n->arrival_distance[v] = n->used_distance;
        const struct line_entry *second = entry_of(b->second_line, addr >> b->second_shift);
        n->second_distance[v] = distance_to(second->arrival[PREDICTION_PERFECT], b->arrivals, GRAPH_ARRIVALS);
    }
    if (n->used_distance)
        n->requests = 0;
    e->prefetch_arrival = 0;
}

static void set_load(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    struct line_entry *e = entry_of(b->line, h->addr >> b->data_shift);
    b->prefetches = 0;
    unsigned translation, level = data_level(b, h, &translation);
    unsigned brings = 0;
    set_translation(b, h, n, translation);
    find_match(b, h, n);
    for (unsigned v = 0; v < PREDICTIONS; v++)
        set_arrival(b, h, n, v, level, e);
    if (level == LEVEL_L1)
        set_use(b, h->addr, n, e);
    for (unsigned v = 0; v < PREDICTIONS; v++)
        brings |= (unsigned)(n->load_cycles[v] != 0) << v;
    add_arrival(b, h->addr, n, e, brings, (unsigned[PREDICTIONS]){h->access.level, level});
    set_prefetches(b, n);
}

/* A store that finds its line in the L1D or on its way waits for the access that brings the line, if that is known. */
static void set_store_arrival(const struct node_builder *b, const struct data_access *d, struct graph_node *n,
                              const struct line_entry *e)
{
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        if (n->requests >> v & 1)
            continue;
        n->arrival_distance[v] = distance_to(e->arrival[v], b->arrivals, GRAPH_ARRIVALS);
        if (n->arrival_distance[v] && (d->merged || d->level == LEVEL_L1))
            n->drain_cycles[v] = 1;
    }
}

static void set_store(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    const struct data_access *d = &h->drain;
    bool loads = h->flags & IS_LOAD;
    if (!loads)
        b->prefetches = 0;
    unsigned translation, level = d->level;
    if (h->size && !loads) {
        level = data_level(b, h, &translation);
        set_translation(b, h, n, translation);
    }
    n->drain_cycles[PREDICTION_REAL] = n->drain_cycles[PREDICTION_PERFECT] = d->cycles ? d->cycles : 1;
    if (level == LEVEL_L1 && !d->merged) /* else it waits for a line on its way, with either prediction */
        n->drain_cycles[PREDICTION_PERFECT] = 1;
    else if (d->level == LEVEL_L1)
        n->drain_cycles[PREDICTION_PERFECT] = (uint16_t)b->core.latency[level];
    b->stores++;
    list_store(b, h);
    if (loads)
        return;
    unsigned real = d->level > LEVEL_L1 && !d->merged, perfect = level > LEVEL_L1;
    if (b->core.store_allocates) {
        struct line_entry *e = entry_of(b->line, h->addr >> b->data_shift);
        n->requests = (uint8_t)(real << PREDICTION_REAL | perfect << PREDICTION_PERFECT);
        for (unsigned v = 0; v < PREDICTIONS; v++) {
            n->second_distance[v] = second_distance(b, h, d, v, level, e);
            n->requests |= (uint8_t)((n->second_distance[v] != 0) << v);
            if (n->second_distance[v])
                n->drain_cycles[v] = (uint16_t)b->core.latency[LEVEL_L2];
        }
        set_store_arrival(b, d, n, e);
        e->prefetch_arrival = 0;
        add_arrival(b, h->addr, n, e, n->requests, (unsigned[PREDICTIONS]){d->level, level});
    }
    set_prefetches(b, n);
}

/* ---- the node */

static void bound(uint16_t *cycles)
{
    if (*cycles > EDGE_CYCLES_MOST)
        *cycles = EDGE_CYCLES_MOST;
}

static void bound_edges(struct graph_node *n)
{
    const unsigned large = ~0u << 11; /* bits of numbers that may be too large; few are */
    unsigned all = n->misfetch_cycles;
    for (unsigned v = 0; v < PREDICTIONS; v++)
        all |= n->itlb_cycles[v] | n->dtlb_cycles[v] | n->l1i_cycles[v] | n->l2i_cycles[v] | n->load_cycles[v] |
               n->drain_cycles[v];
    if (!(all & large))
        return;
    bound(&n->misfetch_cycles);
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        bound(&n->itlb_cycles[v]);
        bound(&n->dtlb_cycles[v]);
        bound(&n->l1i_cycles[v]);
        bound(&n->l2i_cycles[v]);
        bound(&n->load_cycles[v]);
        bound(&n->drain_cycles[v]);
    }
}

static uint8_t flags_of(const struct held_insn *h)
{
    unsigned flags = 0;
    flags |= h->flags & IS_LOAD ? NODE_LOAD : 0;
    flags |= h->flags & IS_STORE ? NODE_STORE : 0;
    flags |= h->flags & IS_AT_HEAD ? NODE_AT_HEAD : 0;
    flags |= h->flags & IS_SERIAL ? NODE_SERIAL : 0;
    flags |= h->mispredicted ? NODE_MISPREDICTED : 0;
    flags |= (h->flags & (IS_STORE | IS_AT_HEAD)) == IS_STORE ? NODE_LATE_DATA : 0;
    return (uint8_t)flags;
}

void node_build(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    *n = (struct graph_node){.flags = flags_of(h),
                             .class = h->class,
                             .source = {h->source[0], h->source[1], h->source[2]},
                             .dest = h->dest,
                             .wrong_path = h->wrong_path};
    set_fetch_edges(b, h, n);
    set_room(b, h, n);
    if (h->flags & IS_LOAD && h->size)
        set_load(b, h, n);
    if (h->flags & IS_STORE)
        set_store(b, h, n);
    bound_edges(n);
    b->after_mispredicted = h->mispredicted;
    b->after_serial = h->flags & IS_SERIAL;
    b->insns++;
}

/* ---- setup */

static bool holders_init(struct holders *h, unsigned size, unsigned most)
{
    h->size = size;
    if (size >= most)
        return true;
    h->insn = calloc(size, sizeof *h->insn);
    return h->insn != NULL;
}

struct node_builder *node_builder_new(const struct graph_core *c, const struct core_config *config, struct error *err)
{
    struct node_builder *b = calloc(1, sizeof *b);
    if (b == NULL) {
        error_set(err, -ENOMEM, "out of memory for the dependence graph");
        return NULL;
    }
    b->core = *c;
    b->fetch_shift = (unsigned)__builtin_ctz(c->fetch_line_bytes);
    b->data_shift = (unsigned)__builtin_ctz(c->data_line_bytes);
    b->second_shift = (unsigned)__builtin_ctz(c->second_line_bytes);
    b->fetched_line = UINT64_MAX;
    b->memory = core_new_memsys(config, err);
    b->prefetcher = config->l1i_prefetch != 0;
    unsigned most = c->rob_size;
    if (b->memory && code_second_init(&b->code_second, config) && holders_init(&b->loads, c->lsq_loads, most) &&
        holders_init(&b->store_queue, c->lsq_stores, most) && holders_init(&b->load_store, c->lsq_size, most) &&
        holders_init(&b->int_regs, c->int_regs, most) && holders_init(&b->fp_regs, c->fp_regs, most))
        return b;
    node_builder_free(b);
    error_set(err, -ENOMEM, "out of memory for the dependence graph");
    return NULL;
}

void node_builder_begin(struct node_builder *b, struct core *c)
{
    core_copy_memory_state(c, b->memory);
    code_second_begin(&b->code_second, memsys_second_lines(b->memory));
    memsys_observe_prefetches(b->memory, on_prefetch, b);
}

void node_builder_free(struct node_builder *b)
{
    if (b == NULL)
        return;
    memsys_free(b->memory);
    code_second_free(&b->code_second);
    free(b->loads.insn);
    free(b->store_queue.insn);
    free(b->load_store.insn);
    free(b->int_regs.insn);
    free(b->fp_regs.insn);
    free(b);
}
