#include "graph/fetch_groups.h"

_Static_assert(GROUP_VARIANTS <= sizeof(group_numbers), "a number of each variant");

/* Of each variant, see group_variant: -1 if the L1I or prediction are real. */
static const group_numbers real_l1i = {0, -1, 0, -1, 0, -1, 0, -1}, real_branch = {0, 0, -1, -1, 0, 0, -1, -1};

static inline group_numbers all(int number)
{
    return (group_numbers){0} + (int8_t)number;
}

/* -1 for true. */
static inline group_numbers all_if(bool condition)
{
    return all(-condition);
}

/* mask ? yes : no, without a branch: conditions follow the guest's behavior, which the host cannot predict. */
static inline group_numbers choose(group_numbers mask, group_numbers yes, group_numbers no)
{
    return no ^ ((no ^ yes) & mask);
}

static inline group_numbers later(group_numbers a, group_numbers b)
{
    return choose(a > b, a, b);
}

/* One bit of each number that is -1 or 0. */
static inline unsigned bits_of(group_numbers mask)
{
    uint64_t bytes = (uint64_t)mask & UINT64_C(0x8040201008040201);
    return bytes * UINT64_C(0x0101010101010101) >> 56;
}

/* Instructions that wait for a line. */
static inline group_numbers waits(const struct graph_node *n)
{
    bool real = n->fetch_waits >> PREDICTION_REAL & 1, perfect = n->fetch_waits >> PREDICTION_PERFECT & 1;
    return choose(real_branch, all_if(real), all_if(perfect)) & real_l1i;
}

/* Puts the instruction into the group of each variant, or begins a new one. */
void fetch_groups_join(struct fetch_groups *f, const struct held_insn *h, struct graph_node *n)
{
    uint64_t first = h->pc >> f->line_shift, last = (h->pc + h->length - 1) >> f->line_shift;
    group_numbers redirected = real_branch & all_if(f->after_mispredicted || n->misfetch_cycles);
    group_numbers reads_first = all_if(first != f->line) | (real_branch & all_if(f->after_mispredicted));
    group_numbers reads = all(last != first) - reads_first;
    group_numbers ends = all_if(!f->begun || f->after_serial) | redirected | (f->insns >= f->width) |
                         (f->branches_left == 0) | (reads > f->lines_left);
    group_numbers ends_here = waits(n), begins = ends | ends_here;
    /* A new group whose first instruction needs no other line reads the line that fetch is in again. */
    group_numbers lines = later(all(f->lines) + (reads == 0), reads);
    bool control = h->flags & IS_CONTROL;
    f->lines_left = choose(ends_here, all(f->lines - 1), choose(ends, lines, f->lines_left) - reads);
    f->insns = (f->insns & ~begins) + 1;
    f->branches_left = choose(begins, all(f->branches), f->branches_left) - (int8_t)control;
    f->line = last | -(uint64_t)(control & h->taken);
    f->begun = true;
    f->after_mispredicted = h->mispredicted;
    f->after_serial = h->flags & IS_SERIAL;
    n->new_group = bits_of(ends) & ((1 << GROUP_VARIANTS) - 1);
}

void fetch_groups_init(struct fetch_groups *f, const struct graph_core *c)
{
    *f = (struct fetch_groups){.width = (int8_t)c->fetch_width,
                               .lines = (int8_t)c->fetch_lines,
                               .branches = (int8_t)c->fetch_branches,
                               .line_shift = (unsigned)__builtin_ctz(c->fetch_line_bytes)};
}
