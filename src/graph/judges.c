#include "graph/judges.h"

/* ---- what judges find, in all lanes */

/* Lanes wait for the issue of the instruction that their judge names by its distance. */
INLINE void await_issue(const struct lanes *l, struct row *restrict to, const struct verdict *v)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        const struct row *early = issued_before(l, v->of[first_judge(g)]);
        const struct row *late = issued_before(l, v->of[last_judge(g)]);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++) {
            int16_t mask = l->late_front.lane[i];
            to->lane[i] = later(to->lane[i], (int16_t)((mask & late->lane[i]) | (~mask & early->lane[i])));
        }
    }
}

/* ---- issue queues, units and slots */

/* What entered while there was room in all judges. */
static void catch_up(struct lanes *l)
{
    for (unsigned j = 0; j < JUDGES; j++)
        l->judge[j].queues += l->entered;
    l->entered = 0;
}

/* How many instructions may enter each queue until one judge may lack room, and until when no judge has to catch up. */
static void find_room(struct lanes *l)
{
    for (unsigned q = 0; q <= QUEUES; q++) {
        l->queue_room[q] = QUEUE_FULL;
        for (unsigned j = 0; j < JUDGES; j++) {
            unsigned used = l->judge[j].queues >> q * QUEUE_BITS & (QUEUE_FULL * 2 - 1);
            unsigned room = used < QUEUE_FULL ? QUEUE_FULL - used : 0;
            l->queue_room[q] = room < l->queue_room[q] ? room : l->queue_room[q];
        }
    }
    for (unsigned i = 0; i < JUDGES; i++) {
        l->lag_ends[i] = l->judge[judge_at(i)].now + CONTENTION_LAG;
        l->last_leave[i] = l->judge[judge_at(i)].now + CONTENTION_CYCLES - 1;
    }
}

FOR_EACH_HOST bool judges_enter_late(struct lanes *l, const struct contention_need *need, struct row *d)
{
    struct verdict v = {.any = 0};
    catch_up(l);
    for (unsigned j = 0; j < JUDGES; j++) {
        uint64_t when = time_of(l, d, l->judge_lane[j]);
        v.of[j] = (uint16_t)contention_enter(&l->judge[j], need, when, l->insns);
        v.any |= v.of[j];
    }
    find_room(l);
    if (v.any)
        await_issue(l, d, &v);
    return v.any;
}

#ifdef ONE_LANE

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
        if (!any_bit(any, UINT64_MAX))
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
    } while (any_bit(any, 1));
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
    if (any_bit(any, 1))
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
    if (!any_bit(any, 1))
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
