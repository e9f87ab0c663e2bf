/* Recording, mode profileme: an instruction is chosen when it is fetched, and its history is recorded until it retires
 * or is squashed. */
#include <errno.h>
#include <stdlib.h>

#include "profile/recorder_priv.h"

enum moment { FETCHED, DISPATCHED, ISSUED, COMPLETED, ENDED, MOMENTS };

struct history {
    bool chosen;             /* an instruction has been chosen */
    bool ended;              /* it has retired or was squashed */
    bool squashed;           /* it was squashed */
    uint64_t id;             /* number of the instruction in order of fetch */
    uint32_t tag;            /* node of its call chain */
    uint64_t cycle[MOMENTS]; /* by enum moment; 0: not reached */
    struct profile_sample sample;
};

struct profileme {
    struct random random;
    uint64_t next;                         /* number of the next instruction to choose as the first */
    struct history of[2];                  /* the first and, with pairs, the second */
    uint64_t distance;                     /* from the first to the second; 0: no pairs */
    uint64_t weight;                       /* fetched instructions that the sample stands for */
    uint64_t issued_before, cycles_before; /* issued instructions, and cycle, when the first was dispatched */
    unsigned issue_width;
};

/* Chooses the instruction for the next sample. The period counts from choice to choice, so that latencies do not
 * influence the choice. Choices that fall due while the last sample is in flight are skipped; the next sample has their
 * weight, too. */
static void choose_next(struct recorder *r)
{
    struct profileme *p = r->state;
    p->of[0] = p->of[1] = (struct history){0};
    p->distance = r->config.pair_window ? 1 + random_u64(&p->random) % r->config.pair_window : 0;
    p->weight = 0;
    do {
        p->next += recorder_draw(r, &p->random, r->config.period);
        p->weight += r->config.period;
    } while (p->next < core_fetched(r->core));
    core_choose(r->core, p->next);
}

static struct history *history_of(struct profileme *p, const struct insn_view *v)
{
    for (unsigned i = 0; i < 2; i++)
        if (p->of[i].chosen && !p->of[i].ended && p->of[i].id == v->id)
            return &p->of[i];
    return NULL;
}

static void note_cycle(void *context, const struct insn_view *v, enum moment m, uint64_t cycle)
{
    struct recorder *r = recorder_of(context);
    struct history *h = history_of(r->state, v);
    if (h && h->cycle[m] == 0)
        h->cycle[m] = cycle;
}

static void on_fetched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct recorder *r = recorder_of(context);
    struct profileme *p = r->state;
    struct history *h = &p->of[p->of[0].chosen];
    if (h->chosen)
        return;
    *h = (struct history){.chosen = true, .id = v->id, .tag = chains_at_fetch(r->chains, v)};
    h->cycle[FETCHED] = cycle;
    if (h == &p->of[0] && p->distance)
        core_choose(r->core, v->id + p->distance);
}

static void on_dispatched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct recorder *r = recorder_of(context);
    struct profileme *p = r->state;
    note_cycle(context, v, DISPATCHED, cycle);
    if (history_of(p, v) == &p->of[0]) {
        p->issued_before = r->live->issued;
        p->cycles_before = cycle;
    }
}

static void on_issued(void *context, const struct insn_view *v, uint64_t cycle)
{
    note_cycle(context, v, ISSUED, cycle);
}

static void on_completed(void *context, const struct insn_view *v, uint64_t cycle)
{
    note_cycle(context, v, COMPLETED, cycle);
}

/* Issue slots that no instruction used, from the dispatch of the first of a pair to the end of the later one. */
static uint32_t wasted_slots(const struct recorder *r, uint64_t cycle)
{
    const struct profileme *p = r->state;
    if (p->of[0].cycle[DISPATCHED] == 0)
        return 0;
    uint64_t slots = (cycle - p->cycles_before) * p->issue_width, used = r->live->issued - p->issued_before;
    return slots > used ? (uint32_t)(slots - used) : 0;
}

static void write_history(struct recorder *r, struct history *h, enum profile_record_kind kind, uint64_t cycle)
{
    const struct profileme *p = r->state;
    struct profile_sample *s = &h->sample;
    s->flags |= PROFILE_HAS_HISTORY | (h->squashed ? PROFILE_SQUASHED : 0);
    s->weight = p->weight;
    s->cycle = h->cycle[FETCHED];
    for (unsigned i = 0; i < PROFILE_STAGES; i++)
        if (h->cycle[i] && h->cycle[i + 1])
            s->latency[i] = (uint32_t)(h->cycle[i + 1] - h->cycle[i]);
    if (kind == PROFILE_PAIR) {
        s->distance = (int32_t)(h->id - p->of[0].id);
        s->slots = wasted_slots(r, cycle);
    }
    recorder_write(r, kind, s);
}

static void end(void *context, const struct insn_view *v, uint64_t cycle, bool squashed)
{
    struct recorder *r = recorder_of(context);
    struct profileme *p = r->state;
    struct history *h = history_of(p, v);
    if (h == NULL)
        return;
    h->ended = true;
    h->squashed = squashed;
    h->cycle[ENDED] = cycle;
    recorder_describe(r, v, &h->sample);
    h->sample.chain = h->tag;
    if (!p->of[0].ended || (p->distance && !p->of[1].ended))
        return;
    write_history(r, &p->of[0], PROFILE_SAMPLE, cycle);
    if (p->distance)
        write_history(r, &p->of[1], PROFILE_PAIR, cycle);
    choose_next(r);
}

static void on_committed(void *context, const struct insn_view *v, uint64_t cycle)
{
    end(context, v, cycle, false);
}

static void on_squashed(void *context, const struct insn_view *v, uint64_t cycle)
{
    end(context, v, cycle, true);
}

static int begin(struct recorder *r, const struct core_config *core, struct error *err)
{
    struct profileme *p = calloc(1, sizeof *p);
    if (p == NULL)
        return error_set(err, -ENOMEM, "out of memory for recording");
    random_seed(&p->random, r->config.seed);
    p->issue_width = (unsigned)core->issue_width;
    r->state = p;
    r->observer.fetched = on_fetched;
    r->observer.dispatched = on_dispatched;
    r->observer.issued = on_issued;
    r->observer.completed = on_completed;
    r->observer.committed = on_committed;
    r->observer.squashed = on_squashed;
    profile_write(r->to,
                  &(struct profile_record){.kind = PROFILE_EVENT,
                                           .event = {.event = 0, .name = "fetched", .period = r->config.period}});
    return 0;
}

static void attached(struct recorder *r)
{
    struct profileme *p = r->state;
    p->next = core_fetched(r->core);
    choose_next(r);
}

static void ended(struct recorder *r)
{
    struct profile_total total = {.event = 0, .count = r->live->fetched - r->start.fetched};
    profile_write(r->to, &(struct profile_record){.kind = PROFILE_TOTAL, .total = total});
}

static void release(struct recorder *r)
{
    free(r->state);
}

const struct recorder_mode recorder_mode_profileme = {
    .begin = begin, .attached = attached, .ended = ended, .free = release};
