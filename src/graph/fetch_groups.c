#include "graph/fetch_groups.h"

/* Whether a misprediction or a misfetch before this instruction ends the group in this variant. */
static bool is_redirected(const struct fetch_groups *f, const struct graph_node *n, unsigned variant)
{
    return variant & GROUP_BRANCH && (f->after_mispredicted || n->misfetch_cycles);
}

/* condition ? yes : no, without a branch: conditions follow the guest's behavior, which the host cannot predict. */
static inline unsigned choose(bool condition, unsigned yes, unsigned no)
{
    return no ^ ((no ^ yes) & -(unsigned)condition);
}

/* Puts the instruction, whose bytes lie in these lines, into the group of one variant, or begins a new one. `waits`: it
 * waits for a line or a translation, which ends the group. */
static inline void join_group(struct fetch_groups *f, const struct held_insn *h, struct graph_node *n, unsigned variant,
                              bool waits)
{
    struct fetch_group *g = &f->group[variant];
    uint64_t first = h->pc >> f->line_shift, last = (h->pc + h->length - 1) >> f->line_shift;
    bool reads_first = (first != g->line) | (variant & GROUP_BRANCH && f->after_mispredicted);
    unsigned reads = reads_first + (last != first);
    bool ends = !f->begun | f->after_serial | is_redirected(f, n, variant) | (g->insns >= f->width) |
                (g->branches_left == 0) | (reads > g->lines_left);
    /* A new group whose first instruction needs no other line reads the line that fetch is in again. */
    unsigned lines = f->lines - (reads == 0);
    lines = choose(ends, choose(lines < reads, reads, lines), g->lines_left) - reads;
    bool control = h->flags & IS_CONTROL;
    n->new_group |= (uint8_t)(ends << variant);
    g->lines_left = choose(waits, f->lines - 1, lines);
    g->insns = choose(ends | waits, 0, g->insns) + 1;
    g->branches_left = choose(ends | waits, f->branches, g->branches_left) - control;
    g->line = last | -(uint64_t)(control & h->taken);
}

static bool groups_are_equal(const struct fetch_group *a, const struct fetch_group *b)
{
    return a->insns == b->insns && a->lines_left == b->lines_left && a->branches_left == b->branches_left &&
           a->line == b->line;
}

/* The variants of a prediction, beside the one in which instructions wait for nothing, as bits above that one. */
enum { OTHER_VARIANTS = 3, SAME_IN_ALL = 1 | 1 << GROUP_L1I | 1 << GROUP_ITLB | 1 << (GROUP_L1I | GROUP_ITLB) };
static const uint8_t other_variant[OTHER_VARIANTS] = {GROUP_L1I, GROUP_ITLB, GROUP_L1I | GROUP_ITLB};

/* Puts the instruction into the groups of all variants of a prediction. Mostly these are the same: then only the first
 * one is kept. */
static void join_all(struct fetch_groups *f, const struct held_insn *h, struct graph_node *n, unsigned v)
{
    const unsigned base = v == PREDICTION_REAL ? GROUP_BRANCH : 0;
    const unsigned waits = (n->fetch_waits >> v & 1 ? GROUP_L1I : 0) | (n->itlb_cycles[v] ? GROUP_ITLB : 0);
    if (f->same[v] && !waits) {
        join_group(f, h, n, base, false);
        n->new_group |= (uint8_t)((n->new_group >> base & 1) * SAME_IN_ALL << base);
        return;
    }
    for (unsigned k = 0; f->same[v] && k < OTHER_VARIANTS; k++)
        f->group[base | other_variant[k]] = f->group[base];
    join_group(f, h, n, base, false);
    f->same[v] = true;
    for (unsigned k = 0; k < OTHER_VARIANTS; k++) {
        join_group(f, h, n, base | other_variant[k], waits & other_variant[k]);
        f->same[v] &= groups_are_equal(&f->group[base], &f->group[base | other_variant[k]]);
    }
}

void fetch_groups_join(struct fetch_groups *f, const struct held_insn *h, struct graph_node *n)
{
    n->new_group = 0;
    join_all(f, h, n, PREDICTION_PERFECT);
    join_all(f, h, n, PREDICTION_REAL);
    f->begun = true;
    f->after_mispredicted = h->mispredicted;
    f->after_serial = h->flags & IS_SERIAL;
}

void fetch_groups_init(struct fetch_groups *f, const struct graph_core *c)
{
    *f = (struct fetch_groups){.width = c->fetch_width,
                               .lines = c->fetch_lines,
                               .branches = c->fetch_branches,
                               .line_shift = (unsigned)__builtin_ctz(c->fetch_line_bytes)};
}
