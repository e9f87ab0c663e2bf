#include "graph/fetch_groups.h"

/* Whether a misprediction or a misfetch before this instruction ends the group in this variant. */
static bool is_redirected(const struct fetch_groups *f, const struct graph_node *n, unsigned variant)
{
    return variant & 2 && (f->after_mispredicted || n->misfetch_cycles);
}

/* condition ? yes : no, without a branch: conditions follow the guest's behavior, which the host cannot predict. */
static inline unsigned choose(bool condition, unsigned yes, unsigned no)
{
    return no ^ ((no ^ yes) & -(unsigned)condition);
}

/* Puts the instruction, whose bytes lie in these lines, into the group of one variant, or begins a new one. */
static inline void join_group(struct fetch_groups *f, const struct held_insn *h, struct graph_node *n, unsigned variant,
                              uint64_t first, uint64_t last)
{
    struct fetch_group *g = &f->group[variant];
    unsigned v = variant & 2 ? PREDICTION_REAL : PREDICTION_PERFECT;
    bool waits = variant & 1 && n->fetch_waits >> v & 1;
    bool reads_first = (first != g->line) | (variant & 2 && f->after_mispredicted);
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

/* Puts the instruction into the groups of both variants of a prediction: with a perfect and with a real L1I. They are
 * mostly the same. */
static void join_both(struct fetch_groups *f, const struct held_insn *h, struct graph_node *n, unsigned v)
{
    const unsigned perfect = v == PREDICTION_REAL ? 2 : 0, real = perfect + 1;
    uint64_t first = h->pc >> f->line_shift, last = (h->pc + h->length - 1) >> f->line_shift;
    bool waits = n->fetch_waits >> v & 1;
    join_group(f, h, n, perfect, first, last);
    if (f->same[v] && !waits) {
        f->group[real] = f->group[perfect];
        n->new_group |= (uint8_t)((n->new_group >> perfect & 1) << real);
    } else {
        join_group(f, h, n, real, first, last);
        f->same[v] = groups_are_equal(&f->group[perfect], &f->group[real]);
    }
}

void fetch_groups_join(struct fetch_groups *f, const struct held_insn *h, struct graph_node *n)
{
    n->new_group = 0;
    join_both(f, h, n, PREDICTION_PERFECT);
    join_both(f, h, n, PREDICTION_REAL);
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
