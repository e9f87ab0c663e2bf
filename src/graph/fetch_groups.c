#include "graph/fetch_groups.h"

_Static_assert(GROUP_VARIANTS == sizeof(group_numbers), "a number of each variant");

static const group_numbers ONES = UINT64_C(0x0101010101010101);  /* 1 of each variant */
static const group_numbers HIGHS = UINT64_C(0x8080808080808080); /* its highest bit, which no number has */
/* 255 of variants in which the L1I, prediction or the I-TLB are real, see group_variant. */
static const group_numbers REAL_L1I = UINT64_C(0xff00ff00ff00ff00), REAL_BRANCH = UINT64_C(0xffff0000ffff0000),
                           REAL_ITLB = UINT64_C(0xffffffff00000000);

/* The functions below have no branches: conditions follow the guest's behavior, which the host cannot predict. */

static inline group_numbers all_if(bool condition)
{
    return -(group_numbers)condition;
}

/* The highest bit of each variant in which a >= b. */
static inline group_numbers at_least(group_numbers a, group_numbers b)
{
    return ((a | HIGHS) - b) & HIGHS;
}

/* 255 for each highest bit. */
static inline group_numbers mask_of(group_numbers highs)
{
    return highs | (highs - (highs >> 7));
}

static inline group_numbers choose(group_numbers mask, group_numbers yes, group_numbers no)
{
    return no ^ ((no ^ yes) & mask);
}

/* Bit v: variant v has its highest bit. */
static inline unsigned bits_of(group_numbers highs)
{
    return (highs >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* Variants of prediction v in which the instruction waits for a line or a translation. */
static inline group_numbers waits_in(const struct graph_node *n, unsigned v)
{
    return (all_if(n->fetch_waits >> v & 1) & REAL_L1I) | (all_if(n->itlb_cycles[v] != 0) & REAL_ITLB);
}

static inline group_numbers waits(const struct graph_node *n)
{
    return choose(REAL_BRANCH, waits_in(n, PREDICTION_REAL), waits_in(n, PREDICTION_PERFECT));
}

/* Puts the instruction into the group of each variant, or begins a new one. */
void fetch_groups_join(struct fetch_groups *f, const struct held_insn *h, struct graph_node *n)
{
    uint64_t first = h->pc >> f->line_shift, last = (h->pc + h->length - 1) >> f->line_shift;
    group_numbers redirected = REAL_BRANCH & all_if(f->after_mispredicted | (n->misfetch_cycles != 0));
    group_numbers reads_first = all_if(first != f->line) | (REAL_BRANCH & all_if(f->after_mispredicted));
    group_numbers reads = (reads_first & ONES) + (all_if(last != first) & ONES);
    group_numbers ends = at_least(f->insns, f->width) | at_least(0, f->branches_left) |
                         (at_least(f->lines_left, reads) ^ HIGHS) |
                         ((all_if(!f->begun | f->after_serial) | redirected) & HIGHS);
    group_numbers begins = mask_of(ends), waiting = waits(n), resets = begins | waiting;
    /* A new group whose first instruction needs no other line reads the line that fetch is in again. */
    group_numbers most = f->lines - (at_least(0, reads) >> 7);
    group_numbers lines = choose(mask_of(at_least(most, reads)), most, reads);
    bool control = h->flags & IS_CONTROL;
    f->lines_left = choose(waiting, f->lines - ONES, choose(begins, lines, f->lines_left) - reads);
    f->insns = (f->insns & ~resets) + ONES;
    f->branches_left = choose(resets, f->branches, f->branches_left) - (all_if(control) & ONES);
    f->line = last | all_if(control & h->taken);
    f->begun = true;
    f->after_mispredicted = h->mispredicted;
    f->after_serial = h->flags & IS_SERIAL;
    n->new_group = (uint8_t)bits_of(ends);
}

void fetch_groups_init(struct fetch_groups *f, const struct graph_core *c)
{
    *f = (struct fetch_groups){.width = c->fetch_width * ONES,
                               .lines = c->fetch_lines * ONES,
                               .branches = c->fetch_branches * ONES,
                               .line_shift = (unsigned)__builtin_ctz(c->fetch_line_bytes)};
}
