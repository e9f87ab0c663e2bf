#include "graph/times.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- the simulation's times */

void times_fetched(struct times_log *l, const struct insn_view *v, uint64_t cycle)
{
    l->of_slot[v->slot].fetched = (int64_t)cycle;
}

void times_dispatched(struct times_log *l, const struct insn_view *v, uint64_t cycle)
{
    l->of_slot[v->slot].dispatched = (int64_t)cycle;
}

void times_issued(struct times_log *l, const struct insn_view *v, uint64_t cycle)
{
    l->of_slot[v->slot].issued = (int64_t)cycle; /* the last issue counts, as in the graph */
}

void times_completed(struct times_log *l, const struct insn_view *v, uint64_t cycle)
{
    l->of_slot[v->slot].completed = (int64_t)cycle;
}

/* ---- lag by place */

struct place {
    uint64_t pc;
    uint64_t count;  /* instructions at which the lag changes */
    int64_t gained;  /* sum of these changes */
    int64_t largest; /* the largest of them */
    uint64_t insn;   /* number of the instruction at which it happens */
};

static int by_pc(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static int by_gain(const void *a, const void *b)
{
    int64_t x = llabs(((const struct place *)a)->gained), y = llabs(((const struct place *)b)->gained);
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Adds up neighbors with the same pc; returns how many places there are. */
static uint64_t merge(struct place *p, uint64_t count)
{
    uint64_t places = 0;
    qsort(p, count, sizeof *p, by_pc);
    for (uint64_t i = 0; i < count; i++) {
        if (places && p[places - 1].pc == p[i].pc) {
            p[places - 1].count += p[i].count;
            p[places - 1].gained += p[i].gained;
            if (llabs(p[i].largest) > llabs(p[places - 1].largest)) {
                p[places - 1].largest = p[i].largest;
                p[places - 1].insn = p[i].insn;
            }
        } else {
            p[places++] = p[i];
        }
    }
    qsort(p, places, sizeof *p, by_gain);
    return places;
}

static void print_place(FILE *to, const struct place *p, const struct held_insn *h, const struct literal_times *g,
                        const struct literal_times *s)
{
    int64_t dispatched = g->dispatched - g->fetched, issued = g->issued - g->fetched, done = g->completed - g->fetched;
    fprintf(to, "%+8" PRId64 " %8" PRIu64 "  %10" PRIx64 "  %5u  %5d  ", p->gained, p->count, p->pc, h->class,
            h->mispredicted);
    fprintf(to, "graph %4" PRId64 " %4" PRId64 " %4" PRId64 " %4" PRId64, dispatched, issued, done,
            g->committed - g->fetched);
    fprintf(to, "  simulated %4" PRId64 " %4" PRId64 " %4" PRId64 " %4" PRId64 "\n", s->dispatched - s->fetched,
            s->issued - s->fetched, s->completed - s->fetched, s->committed - s->fetched);
}

void times_print(FILE *to, const struct held_insn *insns, const struct literal_times *graph,
                 const struct literal_times *simulated, uint64_t count, unsigned rows)
{
    struct place *p = malloc((count + 1) * sizeof *p);
    if (p == NULL)
        abort();
    uint64_t changes = 0;
    int64_t before = count ? graph[0].committed - simulated[0].committed : 0, first = before;
    for (uint64_t i = 0; i < count; i++) {
        int64_t lag = graph[i].committed - simulated[i].committed;
        if (lag != before)
            p[changes++] = (struct place){
                .pc = insns[i].pc, .count = 1, .gained = lag - before, .largest = lag - before, .insn = i};
        before = lag;
    }
    uint64_t places = merge(p, changes);
    fprintf(to,
            "lag of the graph at the end: %" PRId64
            " cycles; places that change it most, with the instruction at which most\n",
            before - first);
    fprintf(to, "%8s %8s  %10s  %5s  %5s  cycles from fetch to dispatch, issue, completion, commit\n", "cycles",
            "times", "pc", "class", "misp");
    for (uint64_t i = 0; i < places && i < rows; i++)
        print_place(to, &p[i], &insns[p[i].insn], &graph[p[i].insn], &simulated[p[i].insn]);
    free(p);
}
