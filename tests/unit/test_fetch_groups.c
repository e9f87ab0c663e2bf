/* Fetch groups of all variants at once are those of each variant by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/code.h"
#include "graph/fetch_groups.h"

/* One variant, literally. */
struct literal_group {
    unsigned insns, lines_left, branches_left;
    uint64_t line;
};

struct literal_groups {
    struct graph_core core;
    struct literal_group group[GROUP_VARIANTS];
    bool begun, after_mispredicted, after_serial;
};

/* Whether the instruction ends its group in this variant, because it waits for its line or translation. */
static bool waits(const struct graph_node *n, unsigned variant)
{
    unsigned prediction = variant & GROUP_BRANCH ? PREDICTION_REAL : PREDICTION_PERFECT;
    bool line = n->fetch_waits >> prediction & 1, translation = n->itlb_cycles[prediction] != 0;
    return (variant & GROUP_L1I && line) || (variant & GROUP_ITLB && translation);
}

/* Returns whether the instruction begins a group. */
static bool join(struct literal_groups *f, const struct held_insn *h, const struct graph_node *n, unsigned variant)
{
    struct literal_group *g = &f->group[variant];
    const struct graph_core *c = &f->core;
    uint64_t first = h->pc / c->fetch_line_bytes, last = (h->pc + h->length - 1) / c->fetch_line_bytes;
    bool redirected = variant & GROUP_BRANCH && (f->after_mispredicted || n->misfetch_cycles);
    unsigned reads = (first != g->line || (variant & GROUP_BRANCH && f->after_mispredicted)) + (last != first);
    bool ends = !f->begun || f->after_serial || redirected || g->insns >= c->fetch_width || g->branches_left == 0 ||
                reads > g->lines_left;
    if (ends) {
        unsigned lines = c->fetch_lines - (reads == 0);
        *g = (struct literal_group){.lines_left = lines < reads ? reads : lines, .branches_left = c->fetch_branches};
    }
    g->lines_left -= reads;
    if (waits(n, variant))
        *g = (struct literal_group){.lines_left = c->fetch_lines - 1, .branches_left = c->fetch_branches};
    g->insns++;
    g->branches_left -= (h->flags & IS_CONTROL) != 0;
    g->line = h->flags & IS_CONTROL && h->taken ? UINT64_MAX : last;
    return ends;
}

static unsigned join_all(struct literal_groups *f, const struct held_insn *h, const struct graph_node *n)
{
    unsigned begins = 0;
    for (unsigned v = 0; v < GROUP_VARIANTS; v++)
        begins |= (unsigned)join(f, h, n, v) << v;
    f->begun = true;
    f->after_mispredicted = h->mispredicted;
    f->after_serial = h->flags & IS_SERIAL;
    return begins;
}

static uint32_t state = 1;

/* Whether something happens that does in one of `n` cases. */
static bool one_in(unsigned n)
{
    state = state * 1664525 + 1013904223;
    return (state >> 16) % n == 0;
}

static struct held_insn random_insn(uint64_t pc)
{
    struct held_insn h = {.pc = pc, .length = one_in(2) ? 2 : 4};
    h.flags = one_in(4) ? IS_CONTROL : one_in(40) ? IS_SERIAL : 0;
    h.taken = h.flags & IS_CONTROL && one_in(2);
    h.mispredicted = h.flags & IS_CONTROL && one_in(8);
    return h;
}

static void variants_are_formed_by_themselves(void **unused)
{
    (void)unused;
    for (unsigned k = 0; k < 200; k++) {
        struct graph_core c = {.fetch_width = 1 + k % 16, .fetch_lines = 1 + k % 4, .fetch_branches = 1 + k % 5};
        c.fetch_line_bytes = 16u << k % 3;
        struct fetch_groups together;
        struct literal_groups alone = {.core = c};
        uint64_t pc = 0x10000;
        fetch_groups_init(&together, &c);
        for (unsigned i = 0; i < 2000; i++) {
            struct held_insn h = random_insn(pc);
            struct graph_node n = {.fetch_waits = (uint8_t)(one_in(10) | one_in(10) << 1)};
            n.misfetch_cycles = one_in(20);
            for (unsigned v = 0; v < PREDICTIONS; v++)
                n.itlb_cycles[v] = one_in(30) ? 20 : 0;
            fetch_groups_join(&together, &h, &n);
            assert_int_equal(n.new_group, join_all(&alone, &h, &n));
            pc = h.taken ? pc + 2 * (state >> 20 & 63) : pc + h.length;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_are_formed_by_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
