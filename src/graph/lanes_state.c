/* Setup of the lanes, their results, and the bases of their times. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/bundles.h"
#include "graph/judges.h"

/* How many instructions back a commit is looked at. With bundles, other lanes may know less, but not by two bundles. */
static unsigned commit_reach(const struct graph_core *c)
{
    return c->rob_size + (c->bundle ? 3 : 1) * COMMIT_MOST;
}

/* How many instructions back dispatch is looked at. */
static unsigned dispatch_reach(const struct graph_core *c)
{
    return (layout_has_limit(c->front_size) ? c->front_size : 0) + DISPATCH_MOST;
}

/* ---- moving the bases */

/* Subtracts from a row what the bases have moved. Times before TIME_LEAST stay there. */
INLINE void move_row(struct row *restrict r, const struct row *restrict by)
{
    ALL_LANES(i)
    {
        lane_time least = (lane_time)(TIME_LEAST + by->lane[i]);
        r->lane[i] = (lane_time)(later(r->lane[i], least) - by->lane[i]);
    }
}

/* Moves the last `count` rows of a ring, up to number `last`. Older ones are never read again. */
INLINE void move_rows(struct row *ring, uint32_t mask, uint64_t last, unsigned count, const struct row *by)
{
    for (unsigned i = 0; i < count && i <= mask; i++)
        move_row(&ring[(last - i) & mask], by);
}

/* The bases of the judges, which judges_wide.h adds to times with an inverted sign. */
static void find_judge_bases(struct lanes *l)
{
    for (unsigned i = 0; i < JUDGES; i++)
        l->judge_base[i] = l->base[l->judge_lane[judge_at(i)]] - 0x8000;
}

/* Moves the base of each lane so that its commit time becomes TIME_START, or comes as close as one move can. */
FOR_EACH_HOST void lanes_move_bases(struct lanes *l)
{
    const struct graph_core *c = &l->core;
    uint64_t last = l->insns - 1;
    struct row by = *committed_at(l, last);
    for (unsigned i = 0; i < LANES; i++) {
        int distance = by.lane[i] - TIME_START;
        by.lane[i] = (lane_time)(distance < 0 ? 0 : distance < INT16_MAX ? distance : INT16_MAX);
        l->base[i] += (uint64_t)by.lane[i];
    }
    find_judge_bases(l);
    struct row *single[] = {&l->fetched, &l->result, &l->known, &l->access, &l->leave, &l->fetch_bus};
    for (unsigned i = 0; i < sizeof single / sizeof *single; i++)
        move_row(single[i], &by);
    move_rows(l->reg, REGISTERS - 1, REGISTERS - 1, REGISTERS - 1, &by); /* not reg[0] */
    move_rows(l->decoded, DECODED - 1, last, DECODED, &by); /* of all numbers: with bundles, later ones are there */
    move_rows(l->data, l->store_mask, l->stores, c->live_stores, &by);
    move_rows(l->left, l->store_mask, l->stores, c->live_stores, &by);
    move_rows(l->arrival, GRAPH_ARRIVALS - 1, l->arrivals, GRAPH_ARRIVALS, &by);
    move_rows(l->walked, GRAPH_WALKS - 1, l->walks, GRAPH_WALKS, &by);
    move_rows(l->fetch_arrival, GRAPH_FETCH_ARRIVALS - 1, l->fetch_arrivals, GRAPH_FETCH_ARRIVALS, &by);
    move_rows(l->wrong_since, GRAPH_WRONG_PATHS - 1, l->wrong_paths, GRAPH_WRONG_PATHS, &by);
    for (unsigned k = 0; k < FETCH_MSHRS_MOST && c->fetch_mshrs <= FETCH_MSHRS_MOST; k++)
        move_row(&l->fetch_mshr[k], &by);
    for (unsigned k = 0; k < GRAPH_WRONG_PATHS && c->fetch_mshrs <= FETCH_MSHRS_MOST; k++)
        move_rows(l->wrong_arrival[k], WRONG_PATH_REQUESTS - 1, WRONG_PATH_REQUESTS - 1, WRONG_PATH_REQUESTS, &by);
    move_rows(l->dispatched, l->dispatch_mask, last, dispatch_reach(c), &by);
    move_rows(l->issued, l->issue_mask, last, c->rob_size, &by);
    move_rows(l->committed, l->commit_mask, last, commit_reach(c), &by);
    for (unsigned i = 0; l->bundles && i < bundles_rows(l->bundles); i++)
        move_row(bundles_row(l->bundles, i), &by);
}

lane_time lanes_latest_time(const struct lanes *l)
{
    const struct row *rows[] = {committed_at(l, l->insns - 1), &l->leave, &l->fetched};
    lane_time time = TIME_LEAST;
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++)
        for (unsigned i = 0; i < LANES; i++)
            time = later(time, rows[r]->lane[i]);
    return time;
}

/* ---- setup and results */

static void init_masks(struct lanes *l)
{
    for (unsigned i = 0; i < LANES; i++) {
        unsigned real = layout_set(&l->core, i);
        l->l1i.lane[i] = real & GRAPH_L1I ? -1 : 0;
        l->l2i.lane[i] = real & GRAPH_L2I ? -1 : 0;
        l->itlb.lane[i] = real & GRAPH_ITLB ? -1 : 0;
        l->dtlb.lane[i] = real & GRAPH_DTLB ? -1 : 0;
        l->branch.lane[i] = real & GRAPH_BRANCH ? -1 : 0;
        for (unsigned v = 0; v < FETCH_VARIANTS; v++)
            l->keeps_mshrs[v].lane[i] = fetch_variant_of(l, i / GROUP_LANES) == v ? l->l1i.lane[i] : 0;
        l->late_front.lane[i] = layout_is_late(i) ? -1 : 0;
        for (unsigned groups = 0; groups < 1 << GROUP_VARIANTS; groups++)
            l->new_group[groups].lane[i] = groups >> group_variant(real) & 1;
    }
    for (unsigned j = 0; j < JUDGES; j++)
        l->judge_lane[j] = (uint8_t)layout_judge(j);
}

static void fill(struct row *r, size_t count, lane_time time)
{
    for (size_t k = 0; k < count; k++)
        for (unsigned i = 0; i < LANES; i++)
            r[k].lane[i] = time;
}

/* All times are long ago, except that fetch begins at the base. */
static void init_times(struct lanes *l)
{
    struct row *single[] = {&l->result, &l->known, &l->access, &l->leave, &l->never, &l->fetch_bus};
    for (unsigned i = 0; i < sizeof single / sizeof *single; i++)
        fill(single[i], 1, TIME_LEAST);
    fill(&l->fetched, 1, TIME_START);
    fill(l->reg, REGISTERS, TIME_LEAST);
    fill(l->decoded, DECODED, TIME_LEAST);
    fill(l->data, l->store_mask + 1, TIME_LEAST);
    fill(l->left, l->store_mask + 1, TIME_LEAST);
    fill(l->arrival, GRAPH_ARRIVALS, TIME_LEAST);
    fill(l->walked, GRAPH_WALKS, TIME_LEAST);
    fill(l->fetch_arrival, GRAPH_FETCH_ARRIVALS, TIME_LEAST);
    fill(l->fetch_mshr, FETCH_MSHRS_MOST, TIME_LEAST);
    fill(l->dispatched, l->dispatch_mask + 1, TIME_LEAST);
    fill(l->issued, l->issue_mask + 1, TIME_LEAST);
    fill(l->committed, l->commit_mask + 1, TIME_LEAST);
    for (unsigned i = 0; i < LANES; i++)
        l->base[i] = (uint64_t)-TIME_START;
}

/* Allocates a ring of more than `most` rows. Returns NULL if out of memory. */
static struct row *new_ring(unsigned most, uint32_t *mask)
{
    uint32_t rows = 1;
    while (rows <= most)
        rows *= 2;
    *mask = rows - 1;
    return aligned_alloc(64, (rows * sizeof(struct row) + 63) / 64 * 64);
}

struct lanes *lanes_new(const struct graph_core *c, struct error *err)
{
    struct lanes *l = aligned_alloc(64, (sizeof *l + 63) / 64 * 64);
    if (l == NULL) {
        error_set(err, -ENOMEM, "out of memory for the dependence graph");
        return NULL;
    }
    memset(l, 0, sizeof *l);
    l->core = *c;
    contention_limits_init(&l->limits, c);
    l->dispatched = new_ring(dispatch_reach(c), &l->dispatch_mask);
    l->issued = new_ring(l->limits.has_queues ? c->rob_size : 1, &l->issue_mask);
    l->committed = new_ring(commit_reach(c), &l->commit_mask);
    l->data = new_ring(c->live_stores, &l->store_mask);
    l->left = new_ring(c->live_stores, &l->store_mask);
    if (c->bundle)
        l->bundles = bundles_new(c);
    if (!l->dispatched || !l->issued || !l->committed || !l->data || !l->left || (c->bundle && !l->bundles)) {
        lanes_free(l);
        error_set(err, -ENOMEM, "out of memory for the dependence graph");
        return NULL;
    }
    l->judging = ALL_JUDGES;
    for (unsigned j = 0; j < JUDGES; j++) {
        contention_init(&l->judge[j], &l->limits);
        l->queues[j] = l->limits.empty_queues;
    }
    init_masks(l);
    init_times(l);
    find_judge_bases(l);
    return l;
}

void lanes_free(struct lanes *l)
{
    if (l == NULL)
        return;
    free(l->dispatched);
    free(l->issued);
    free(l->committed);
    free(l->data);
    free(l->left);
    bundles_free(l->bundles);
    free(l);
}

void lanes_cycles(const struct lanes *l, uint64_t insns, struct graph_cycles *cycles)
{
    *cycles = (struct graph_cycles){0};
    for (unsigned i = 0; insns && i < LANES; i++)
        cycles->with[layout_set(&l->core, i)] = time_of(l, committed_at(l, insns - 1), i);
}
