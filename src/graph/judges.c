#include "graph/judges.h"

/* ---- what judges find, in all lanes */

/* Lanes wait for the issue of the instruction that their judge names by its distance. */
INLINE void await_issue(const struct lanes *l, struct row *restrict to, const struct verdict *v)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        const struct row *early = issued_before(l, v->of[first_judge(g)]);
        const struct row *late = issued_before(l, v->of[last_judge(g)]);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++) {
            lane_time mask = l->late_front.lane[i];
            to->lane[i] = later(to->lane[i], (lane_time)((mask & late->lane[i]) | (~mask & early->lane[i])));
        }
    }
}

#ifdef ONE_LANE

bool judges_enter_late(struct lanes *l, const struct contention_need *need, struct row *d)
{
    struct verdict v;
    v.of[0] = v.any = (uint16_t)contention_enter(&l->judge[0], need, time_of(l, d, 0), l->insns);
    if (v.any)
        await_issue(l, d, &v);
    return v.any;
}

void judges_issue_late(struct lanes *l, const struct contention_need *need, struct row *t, const uint64_t when[JUDGES],
                       const uint64_t use[JUDGES])
{
    (void)use;
    uint64_t delay = contention_issue(&l->judge[0], &l->limits, need, when[0]) - when[0];
    l->slack += (uint16_t)delay;
    t->lane[0] = after(t->lane[0], (int)delay);
}

void judges_issue_again(struct lanes *l, const struct contention_need *need, const struct row *t, struct row *again)
{
    uint64_t when = time_of(l, again, 0);
    if (again->lane[0] > t->lane[0])
        judges_issue_late(l, need, again, &when, NULL);
}

#else

/* ---- issue queues */

/* Judges whose elements of `steps` are -1 go on by a cycle and subtract the entries that become free in it. Like
 * contention_advance. */
INLINE void advance(struct lanes *l, const quad steps[QUADS])
{
    _Alignas(sizeof(quad)) uint64_t index[JUDGES];
    quad *now = (quad *)l->now, *queues = (quad *)l->queues;
    for (unsigned q = 0; q < QUADS; q++) {
        now[q] -= steps[q];
        *(quad *)&index[q * QUAD] = now[q] % CONTENTION_CYCLES;
    }
    for (unsigned q = 0; q < QUADS; q++) {
        uint64_t *freed[QUAD];
        for (unsigned k = 0; k < QUAD; k++)
            freed[k] = &l->judge[judge_at(q * QUAD + k)].leavers[index[q * QUAD + k]].freed;
        queues[q] -= (quad){*freed[0], *freed[1], *freed[2], *freed[3]};
        for (unsigned k = 0; k < QUAD; k++)
            *freed[k] = 0;
    }
}

/* Judges whose elements of `late` are -1 advance to the times in `when`. Like contention_catch_up. */
INLINE void catch_up(struct lanes *l, const quad when[QUADS], const quad late[QUADS])
{
    quad *now = (quad *)l->now, steps[QUADS], any;
    for (unsigned k = 0; k <= CONTENTION_CYCLES; k++) {
        any = (quad){0};
        for (unsigned q = 0; q < QUADS; q++) {
            steps[q] = (quad)(now[q] < when[q]) & late[q];
            any |= steps[q];
        }
        if (!any_bit(&any, 1))
            return;
        if (k < CONTENTION_CYCLES)
            advance(l, steps);
    }
    for (unsigned q = 0; q < QUADS; q++)
        now[q] = (when[q] & steps[q]) | (now[q] & ~steps[q]);
}

/* Judges whose queue is full wait until it has room. Returns whether any did: `v` says for whose issue. Like
 * contention_await_room. */
INLINE bool await_room(struct lanes *l, const struct contention_need *need, struct verdict *v)
{
    quad *queues = (quad *)l->queues, waits[QUADS], waited[QUADS] = {0}, full[QUADS] = {0}, any;
    for (;;) {
        any = (quad){0};
        for (unsigned q = 0; q < QUADS; q++) {
            quad lacks = queues[q] & need->queue_full;
            waits[q] = (quad)(lacks != 0);
            full[q] = (lacks & waits[q]) | (full[q] & ~waits[q]);
            waited[q] |= waits[q];
            any |= waits[q];
        }
        if (!any_bit(&any, 1))
            break;
        advance(l, waits);
    }
    v->any = 0;
    for (unsigned q = 0; q < QUADS; q++)
        for (unsigned k = 0; k < QUAD; k++) {
            unsigned i = q * QUAD + k, j = judge_at(i);
            v->of[j] = 0;
            if (waited[q][k]) {
                unsigned field = (unsigned)__builtin_ctzll(full[q][k]) / QUEUE_BITS;
                v->of[j] = (uint16_t)(l->insns - l->judge[j].leavers[l->now[i] % CONTENTION_CYCLES].last[field]);
            }
            v->any |= v->of[j];
        }
    return v->any;
}

typedef uint16_t queue_fields __attribute__((vector_size(sizeof(quad)), may_alias));
_Static_assert(QUEUE_BITS == 16 && QUEUES + 1 == QUAD, "each element of queue_fields is a field");

/* Fields of `to` become those of `with` where these are larger. */
INLINE void raise_fields(queue_fields *to, const queue_fields *with)
{
    queue_fields larger = (queue_fields)(*with > *to);
    *to = (*with & larger) | (*to & ~larger);
}

/* How many instructions may enter each queue until one judge may lack room. */
INLINE void find_room(struct lanes *l)
{
    const queue_fields *of = (const queue_fields *)l->queues;
    queue_fields most = of[0], other;
    for (unsigned q = 1; q < QUADS; q++)
        raise_fields(&most, &of[q]);
    other = (queue_fields)__builtin_shufflevector((quad)most, (quad)most, 2, 3, 0, 1);
    raise_fields(&most, &other);
    other = (queue_fields)__builtin_shufflevector((quad)most, (quad)most, 1, 0, 3, 2);
    raise_fields(&most, &other);
    uint64_t used = ((quad)most)[0];
    for (unsigned field = 0; field <= QUEUES; field++) {
        unsigned u = (uint16_t)(used >> field * QUEUE_BITS);
        l->queue_room[field] = u < QUEUE_FULL ? QUEUE_FULL - u : 0;
    }
}

FOR_EACH_HOST bool judges_enter_late(struct lanes *l, const struct contention_need *need, struct row *d)
{
    struct verdict v = {.any = 0};
    quad *queues = (quad *)l->queues, *now = (quad *)l->now, when[QUADS], late[QUADS];
    read_times(d, l->judge_base, when);
    for (unsigned q = 0; q < QUADS; q++) {
        queues[q] += l->entered;
        late[q] = (quad)((queues[q] & need->queue_full) != 0) | -((now[q] + CONTENTION_LAG - when[q]) >> 63);
    }
    l->entered = 0;
    catch_up(l, when, late);
    if (await_room(l, need, &v))
        await_issue(l, d, &v);
    for (unsigned q = 0; q < QUADS; q++)
        queues[q] += need->queue;
    find_room(l);
    return v.any;
}

/* ---- units and slots */

/* Adds each judge's delay to the lanes that use it: the first four lanes of a group use its first judge. */
INLINE void delay(struct lanes *l, struct row *t, const quad by[QUADS])
{
    typedef int16_t times __attribute__((vector_size(sizeof(quad)), may_alias));
    times *group = (times *)t->lane;
    quad any = {0};
    for (unsigned q = 0; q < QUADS; q++) {
        quad two = by[q] | by[q] << 16, four = two | two << 32;
        group[2 * q] += (times)__builtin_shufflevector(four, four, 0, 2, 2, 2);
        group[2 * q + 1] += (times)__builtin_shufflevector(four, four, 1, 3, 3, 3);
        any |= by[q];
    }
    l->slack += (uint16_t)(any[0] | any[1] | any[2] | any[3]);
}

/* Judges whose elements of `active` are -1 add `unit` to that many slots behind those at the times in `when`. Like
 * contention_occupy. */
INLINE void occupy_units(struct lanes *l, uint64_t unit, const quad when[QUADS], unsigned slots,
                         const quad active[QUADS])
{
    _Alignas(sizeof(quad)) uint64_t index[JUDGES];
    quad cycle[QUADS], use[QUADS], left[QUADS], any;
    for (unsigned q = 0; q < QUADS; q++) {
        cycle[q] = when[q];
        left[q] = active[q] & slots;
    }
    for (unsigned k = 0; k < CONTENTION_CYCLES; k++) {
        any = (quad){0};
        for (unsigned q = 0; q < QUADS; q++) {
            cycle[q] -= (quad)(left[q] != 0); /* one that is done touches no further slot */
            any |= left[q];
        }
        if (!any_bit(&any, UINT64_MAX))
            break;
        read_slots(l, cycle, index, use);
        for (unsigned q = 0; q < QUADS; q++) {
            quad adds = (quad)((use[q] & unit * FIELD_FULL) == 0) & (quad)(left[q] != 0);
            use[q] += unit & adds;
            left[q] += adds;
        }
        write_slots(l, index, use);
    }
}

/* Judges whose elements of `full` are -1 find no room at the times in `when`, and look for the first slots that have
 * some. `when` becomes the times of these slots, `use` what they have. Looks at two cycles at once. */
INLINE void find_slots(struct lanes *l, const struct contention_need *need, quad when[QUADS], quad use[QUADS],
                       quad full[QUADS])
{
    _Alignas(sizeof(quad)) uint64_t index[JUDGES];
    quad first[QUADS], second[QUADS], next[QUADS], any;
    do {
        for (unsigned q = 0; q < QUADS; q++) {
            when[q] -= full[q];
            next[q] = when[q] - full[q];
        }
        read_slots(l, when, index, first);
        read_slots(l, next, index, second);
        any = (quad){0};
        for (unsigned q = 0; q < QUADS; q++) {
            quad skips = full[q] & (quad)((first[q] & need->full) != 0),
                 found = (second[q] & skips) | (first[q] & ~skips);
            use[q] = (found & full[q]) | (use[q] & ~full[q]);
            when[q] -= skips;
            full[q] = skips & (quad)((second[q] & need->full) != 0);
            any |= full[q];
        }
    } while (any_bit(&any, 1));
}

/* Judges whose elements of `active` are -1 take the first slots that have room, from the times in `when` on. `use`: the
 * slots at these times. `by`: how much later the slots with room are. */
INLINE void take_slots(struct lanes *l, const struct contention_need *need, quad when[QUADS], quad use[QUADS],
                       const quad active[QUADS], quad by[QUADS])
{
    _Alignas(sizeof(quad)) uint64_t index[JUDGES];
    quad full[QUADS], any = {0};
    for (unsigned q = 0; q < QUADS; q++) {
        by[q] = when[q];
        full[q] = (quad)((use[q] & need->full) != 0) & active[q];
        any |= full[q];
    }
    if (any_bit(&any, 1))
        find_slots(l, need, when, use, full);
    for (unsigned q = 0; q < QUADS; q++) {
        *(quad *)&index[q * QUAD] = when[q] % CONTENTION_CYCLES;
        use[q] += need->issue & active[q];
        by[q] = when[q] - by[q];
    }
    write_slots(l, index, use);
    if (need->interval > 1)
        occupy_units(l, need->unit, when, need->interval - 1, active);
}

FOR_EACH_HOST void judges_issue_late(struct lanes *l, const struct contention_need *need, struct row *t,
                                     const uint64_t when[JUDGES], const uint64_t use[JUDGES])
{
    quad at[QUADS], slots[QUADS], all[QUADS], by[QUADS];
    for (unsigned q = 0; q < QUADS; q++) {
        at[q] = ((const quad *)when)[q];
        slots[q] = ((const quad *)use)[q];
        all[q] = ~(quad){0};
    }
    take_slots(l, need, at, slots, all, by);
    delay(l, t, by);
}

FOR_EACH_HOST void judges_issue_again(struct lanes *l, const struct contention_need *need, const struct row *t,
                                      struct row *again)
{
    _Alignas(sizeof(quad)) uint64_t index[JUDGES];
    quad first[QUADS], when[QUADS], use[QUADS], active[QUADS], by[QUADS], any = {0};
    read_times(t, l->judge_base, first);
    read_times(again, l->judge_base, when);
    for (unsigned q = 0; q < QUADS; q++) {
        active[q] = -((first[q] - when[q]) >> 63);
        any |= active[q];
    }
    if (!any_bit(&any, 1))
        return;
    read_slots(l, when, index, use);
    take_slots(l, need, when, use, active, by);
    struct row held = *again;
    delay(l, &held, by);
    ALL_LANES(i)
    again->lane[i] = again->lane[i] > t->lane[i] ? held.lane[i] : again->lane[i];
}

#endif

void judges_occupy_unit(struct lanes *l, const struct graph_node *n, const struct row *x)
{
    for (unsigned j = 0; j < JUDGES; j++)
        if (l->branch.lane[l->judge_lane[j]])
            contention_occupy(&l->judge[j], &l->limits, field_of_slot(n->wrong_path.pool, 1),
                              time_of(l, x, l->judge_lane[j]), n->wrong_path.cycles);
}

/* ---- MSHRs */

struct contention_wait judges_find_mshr(struct lanes *l, const struct graph_node *n, unsigned judge,
                                        const struct row *t)
{
    struct contention *c = &l->judge[judge];
    const struct contention_need *need = &l->limits.need[n->class];
    uint64_t when = time_of(l, t, l->judge_lane[judge]);
    if (!(n->flags & NODE_LOAD))
        return contention_await_mshr(c, l->core.mshrs, when, l->arrivals + 1);
    struct contention_wait w = contention_retry(c, &l->limits, need, l->core.mshrs, when, l->arrivals + 1);
    l->slack += w.delay;
    return w;
}

/* judges_find_mshr, or what a judge has found before that takes no part in this step. */
static struct contention_wait wait_of_judge(struct lanes *l, const struct graph_node *n, unsigned judge,
                                            const struct row *t)
{
    if (!(l->judging >> judge & 1))
        return l->waits[judge];
    struct contention_wait w = judges_find_mshr(l, n, judge, t);
    if (l->waits)
        l->waits[judge] = w;
    return w;
}

FOR_EACH_HOST void judges_await_mshr(struct lanes *l, const struct graph_node *n, struct row *t)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        struct contention_wait waits[GROUP_JUDGES];
        if (!takes_mshr(l, n, g))
            continue;
        for (unsigned k = 0; k < GROUP_JUDGES; k++)
            waits[k] = wait_of_judge(l, n, first_judge(g) + k, t);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            t->lane[i] = later(t->lane[i], mshr_time(l, &waits[l->late_front.lane[i] & 1], i));
    }
}

void judges_add_miss(struct lanes *l, const struct graph_node *n, const struct row *t, const struct row *x)
{
    for (unsigned j = 0; j < JUDGES; j++) {
        unsigned lane = l->judge_lane[j];
        if (takes_mshr(l, n, j / GROUP_JUDGES) && l->judging >> j & 1)
            contention_add_miss(&l->judge[j], l->core.mshrs, time_of(l, t, lane), time_of(l, x, lane), l->arrivals + 1);
    }
}
