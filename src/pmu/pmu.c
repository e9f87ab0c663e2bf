#include "pmu/pmu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pmu/event_source.h"
#include "pmu/stall_meter.h"

/* The source that a counter uses (event_source.h). */
enum counting {
    BY_NOTHING, /* the counter is not programmed */
    BY_COUNTS,  /* counts of the simulator */
    BY_CYCLES,  /* records of cycles */
    BY_INSNS    /* callbacks of instructions */
};

/* Assumed maximum of occurrences and of a value in one cycle, for pmu_lasts. If it is exceeded, an overflow is reported
 * late. */
enum { OCCURRENCES_MOST = 16, VALUE_MOST = CORE_SLOTS };

struct counter {
    const struct event_spec *spec;
    const struct path_source *source;
    cycle_value *of_cycle;
    uint32_t selection;
    enum counting by;
    bool halted;              /* does not count at present */
    bool shaped;              /* counts cycles by a condition: an edge or a threshold */
    bool per_stall;           /* BY_CYCLES: counts stalls when they end (event_source.per_stall) */
    bool condition_held;      /* the condition held in the last cycle */
    uint64_t events_in_cycle; /* BY_INSNS and shaped: events in the current cycle so far */
    uint64_t counted_up_to;   /* BY_COUNTS: value of the simulator's count that has been added */
};

struct pmu {
    struct counter *of;
    size_t count;
    uint64_t *value; /* by counter */
    pmu_counted *counted;
    void *context;
    bool each_cycle;            /* some counter needs a callback for every single cycle */
    bool cycles;                /* some counter is BY_CYCLES */
    bool any_per_stall;         /* some counter counts stalls when they end */
    bool marked;                /* the process is marked (process_is_marked) */
    enum stride_events strides; /* what instruction callbacks need of stride predictors */
    uint8_t mode;               /* current enum privilege of the core */
    uint32_t moments;           /* callbacks of instructions that some counter needs, a bit for each enum insn_moment */
    struct stall_meter stall;   /* the current stall, if any_per_stall */
    const struct core_counts *core; /* NULL before and after the simulation */
    const struct memsys_counts *memory;
    struct core_observer observer;
    struct simulation_sum sum;
};

/* ---- counts of the simulator */

static const uint64_t *count_at(const struct pmu *p, size_t offset)
{
    const char *of_core = (const char *)p->core, *of_memory = (const char *)p->memory;
    size_t memory = offsetof(struct simulation_counts, memory);
    return (const uint64_t *)(const void *)(offset < memory ? of_core + offset : of_memory + (offset - memory));
}

/* The current value of the counts that a BY_COUNTS counter adds up. */
static uint64_t sum_of_counts(const struct pmu *p, const struct counter *c)
{
    uint64_t sum = 0;
    for (const struct count_term *t = c->source->terms; t->sign; t++)
        if (t->bits & c->selection)
            sum += t->sign > 0 ? *count_at(p, t->offset) : -*count_at(p, t->offset);
    return sum;
}

/* The only term of a counter that is equal to one count; else NULL. */
static const struct count_term *plain_term(const struct counter *c)
{
    const struct count_term *only = NULL;
    if (c->by != BY_COUNTS || c->shaped || c->spec->marked || c->spec->privilege != PRIVILEGE_ANY)
        return NULL;
    for (const struct count_term *t = c->source->terms; t->sign; t++) {
        if (!(t->bits & c->selection))
            continue;
        if (only || t->sign < 0)
            return NULL;
        only = t;
    }
    return only;
}

bool pmu_is_plain(const struct pmu *p, size_t counter)
{
    return plain_term(&p->of[counter]) != NULL;
}

const uint64_t *pmu_plain_count(const struct pmu *p, size_t counter)
{
    return count_at(p, plain_term(&p->of[counter])->offset);
}

bool pmu_counts_cycles(const struct event_spec *s)
{
    return strcmp(s->event->name, "cycles") == 0 && s->at_least == 0 && !s->edge;
}

/* ---- counting */

static bool counts_now(const struct pmu *p, const struct counter *c)
{
    return c->by != BY_NOTHING && c->spec->privilege & p->mode && !c->halted && (p->marked || !c->spec->marked);
}

static void add(struct pmu *p, struct counter *c, uint64_t amount, const struct insn_view *v)
{
    size_t i = (size_t)(c - p->of);
    if (amount == 0 || !counts_now(p, c))
        return;
    p->value[i] += amount;
    if (p->counted)
        p->counted(p->context, i, amount, v);
}

static bool in_range(const struct address_range *r, uint64_t addr, uint64_t size)
{
    return (r->from == 0 && r->to == 0) || (addr < r->to && addr + size > r->from);
}

static bool is_filtered(const struct event_spec *s)
{
    return s->classes || s->ip.from || s->ip.to || s->addr.from || s->addr.to;
}

/* Whether an instruction passes the filters by class and address. */
static bool passes(const struct event_spec *s, const struct insn_view *v)
{
    if (!is_filtered(s))
        return true;
    bool addressed = s->addr.from || s->addr.to;
    return (s->classes == 0 || s->classes >> v->class & 1) && in_range(&s->ip, v->pc, 1) &&
           (!addressed || (v->size && in_range(&s->addr, v->addr, v->size)));
}

bool pmu_matches(const struct pmu *p, size_t counter, const struct insn_view *v)
{
    const struct counter *c = &p->of[counter];
    const struct path_source *s =
        event_source_of(c->spec->event, c->spec->path & PATH_SPEC ? PATH_RETIRED : c->spec->path);
    if (s->of_insn == NULL)
        s = c->source;
    return s->of_insn && s->of_insn(v, c->selection) && passes(c->spec, v);
}

static void count_insn(struct pmu *p, unsigned moment, const struct insn_view *v)
{
    for (size_t i = 0; i < p->count; i++) {
        struct counter *c = &p->of[i];
        if (c->by != BY_INSNS || !(c->source->moments >> moment & 1) || !c->source->of_insn(v, c->selection) ||
            !passes(c->spec, v))
            continue;
        if (c->shaped)
            c->events_in_cycle++;
        else
            add(p, c, 1, v);
    }
}

/* The amount that n cycles with this value add to a counter. */
static uint64_t shape(struct counter *c, uint64_t value, uint64_t n)
{
    const struct event_spec *s = c->spec;
    if (!c->shaped)
        return value * n;
    bool holds = (value >= (s->at_least ? s->at_least : 1)) != s->invert, begins = holds && !c->condition_held;
    c->condition_held = holds;
    return s->edge ? begins : holds ? n : 0;
}

/* The amount that n cycles add to a per-stall counter. `ended` is the length of the stall that the first of them ends,
 * or 0; the whole stall is added in that cycle. */
static uint64_t per_stall_amount(struct pmu *p, struct counter *c, const struct cycle_record *r, uint64_t n,
                                 uint64_t ended)
{
    uint64_t value = stall_is_whole(r) ? 0 : c->of_cycle(r, c->selection);
    if (ended == 0)
        return shape(c, value, n);
    uint64_t amount = shape(c, value + ended * c->of_cycle(&p->stall.last, c->selection), 1);
    return amount + (n > 1 ? shape(c, value, n - 1) : 0);
}

/* Adds n cycles to the stall meter. Returns the length of the stall that they end, or 0. */
static uint64_t ended_stall(struct pmu *p, const struct cycle_record *r, uint64_t n)
{
    if (!stall_is_whole(r))
        return stall_meter_end(&p->stall);
    stall_meter_add(&p->stall, r, n);
    return 0;
}

static void on_cycles(void *context, const struct cycle_record *r, uint64_t n)
{
    struct pmu *p = context;
    uint64_t ended = p->any_per_stall ? ended_stall(p, r, n) : 0;
    for (size_t i = 0; i < p->count; i++) {
        struct counter *c = &p->of[i];
        uint64_t first = 0, amount = 0;
        if (c->by == BY_CYCLES) {
            amount = c->per_stall ? per_stall_amount(p, c, r, n, ended) : shape(c, c->of_cycle(r, c->selection), n);
        } else if (p->each_cycle && (c->shaped || c->by == BY_COUNTS)) {
            uint64_t number = c->by == BY_COUNTS ? sum_of_counts(p, c) : 0;
            first = c->by == BY_COUNTS ? number - c->counted_up_to : c->events_in_cycle;
            c->counted_up_to = number;
            c->events_in_cycle = 0;
            amount = shape(c, first, 1);
            amount += n > 1 ? shape(c, 0, n - 1) : 0;
        }
        add(p, c, amount, NULL);
    }
}

uint64_t pmu_value(struct pmu *p, size_t counter)
{
    struct counter *c = &p->of[counter];
    if (c->by == BY_COUNTS && !p->each_cycle && p->core) {
        uint64_t number = sum_of_counts(p, c);
        add(p, c, number - c->counted_up_to, NULL);
        c->counted_up_to = number;
    }
    return p->value[counter];
}

/* Brings the values of all counters up to date. */
static void catch_up(struct pmu *p)
{
    for (size_t i = 0; i < p->count; i++)
        pmu_value(p, i);
}

/* ---- setting up */

static int set_up_counter(struct counter *c, const struct event_spec *s, struct error *err)
{
    const struct event_source *source = &event_sources[s->event - events];
    c->spec = s;
    c->source = event_source_of(s->event, s->path);
    c->of_cycle = source->of_cycle;
    c->per_stall = source->per_stall;
    c->selection = event_selection(s->event, s->mask);
    c->shaped = s->edge || s->at_least;
    c->condition_held = s->invert;
    c->by = BY_NOTHING;
    if (is_filtered(s) && c->source->of_insn == NULL)
        return error_set(err, -EINVAL, "'%s' does not belong to instructions: addresses and classes cannot select it",
                         s->text);
    /* Records are preferred for conditions, since counts grow by a whole run of cycles at once. Records do not separate
     * sub-events of instructions. */
    bool by_record = c->of_cycle && (c->selection == EVENT_ALL || c->source->of_insn == NULL);
    enum counting by = is_filtered(s)                                                  ? BY_INSNS
                       : c->shaped && by_record                                        ? BY_CYCLES
                       : c->source->terms && event_is_counted(c->source, c->selection) ? BY_COUNTS
                       : by_record                                                     ? BY_CYCLES
                                                                                       : BY_INSNS;
    if (by == BY_INSNS && c->source->of_insn == NULL)
        return error_set(err, -EINVAL, "'%s' cannot be counted with this mask", s->text);
    c->by = by;
    return 0;
}

/* Determines which callbacks all counters together need. */
static void set_up_needs(struct pmu *p)
{
    p->moments = 0;
    p->cycles = p->each_cycle = p->any_per_stall = false;
    bool strides = false, others = false; /* predicates with and without stride predictors */
    for (const struct counter *c = p->of; c < p->of + p->count; c++) {
        if (c->by == BY_NOTHING)
            continue;
        p->moments |= c->by == BY_INSNS ? c->source->moments : 0;
        strides |= c->by == BY_INSNS && c->source->strides;
        others |= c->by == BY_INSNS && !c->source->strides;
        p->cycles |= c->by == BY_CYCLES;
        p->any_per_stall |= c->per_stall;
        p->each_cycle |= (c->shaped && c->by != BY_CYCLES) || (p->counted && (c->shaped || c->by == BY_COUNTS));
    }
    p->strides = !strides ? STRIDES_OFF : others ? STRIDES_ON : STRIDES_ONLY;
}

static void set_up_observer(struct pmu *p);

static void on_forked(void *context)
{
    struct pmu *p = context;
    memset(p->value, 0, p->count * sizeof *p->value);
    for (size_t i = 0; i < p->count; i++)
        if (p->of[i].by == BY_COUNTS && p->core)
            p->of[i].counted_up_to = sum_of_counts(p, &p->of[i]);
}

static void on_mark(void *context, bool marked)
{
    struct pmu *p = context;
    catch_up(p);
    p->marked = marked;
}

static void on_end(void *context)
{
    catch_up(context);
    ((struct pmu *)context)->core = NULL; /* the core is freed with the simulation */
}

static void on_set_counting(void *context, bool counts)
{
    struct pmu *p = context;
    for (size_t i = 0; i < p->count; i++)
        pmu_halt(p, i, !counts);
}

struct pmu *pmu_new_bank(size_t count, struct error *err)
{
    struct pmu *p = calloc(1, sizeof *p);
    if (p == NULL || (p->of = calloc(count + 1, sizeof *p->of)) == NULL ||
        (p->value = calloc(count + 1, sizeof *p->value)) == NULL) {
        pmu_free(p);
        error_set(err, -ENOMEM, "out of memory for counters");
        return NULL;
    }
    p->count = count;
    p->mode = PRIVILEGE_USER;
    p->marked = true;
    set_up_observer(p);
    return p;
}

struct pmu *pmu_new(const struct event_specs *specs, pmu_counted *counted, void *context, struct error *err)
{
    struct pmu *p = pmu_new_bank(specs ? specs->count : 0, err);
    if (p == NULL)
        return NULL;
    p->counted = counted;
    p->context = context;
    for (size_t i = 0; i < p->count; i++) {
        if (set_up_counter(&p->of[i], &specs->of[i], err) != 0) {
            pmu_free(p);
            return NULL;
        }
        p->value[i] = specs->of[i].preload;
    }
    set_up_needs(p);
    p->sum = (struct simulation_sum){.forked = on_forked,
                                     .end = on_end,
                                     .set_counting = on_set_counting,
                                     .set_marked = on_mark,
                                     .context = p,
                                     .numbers = p->value,
                                     .count = p->count};
    set_up_observer(p);
    return p;
}

void pmu_free(struct pmu *p)
{
    if (p == NULL)
        return;
    free(p->of);
    free(p->value);
    free(p);
}

void pmu_attach(struct pmu *p, struct core *c, const struct core_counts *live)
{
    p->core = live;
    p->memory = memsys_counts(core_memsys(c));
    for (size_t i = 0; i < p->count; i++)
        if (p->of[i].by == BY_COUNTS)
            p->of[i].counted_up_to = sum_of_counts(p, &p->of[i]);
}

/* ---- while the core runs */

int pmu_program(struct pmu *p, size_t i, const struct event_spec *s, struct error *err)
{
    struct counter *c = &p->of[i];
    catch_up(p);
    *c = (struct counter){.halted = c->halted};
    int code = s ? set_up_counter(c, s, err) : 0;
    if (c->by == BY_COUNTS && p->core)
        c->counted_up_to = sum_of_counts(p, c);
    set_up_needs(p);
    set_up_observer(p);
    return code;
}

void pmu_set_value(struct pmu *p, size_t i, uint64_t value)
{
    pmu_value(p, i);
    p->value[i] = value;
}

void pmu_halt(struct pmu *p, size_t i, bool halted)
{
    pmu_value(p, i);
    p->of[i].halted = halted;
}

bool pmu_needs_insns(const struct pmu *p, size_t i)
{
    return p->of[i].by == BY_INSNS;
}

uint64_t pmu_lasts(const struct pmu *p, size_t i)
{
    const struct counter *c = &p->of[i];
    uint64_t left = -p->value[i], most = 1; /* 0 stands for 2^64 */
    if (!counts_now(p, c) || left == 0)
        return UINT64_MAX;
    if (!c->shaped && c->spec->event->unit != UNIT_CYCLES)
        most = c->spec->event->unit == UNIT_VALUE ? VALUE_MOST : OCCURRENCES_MOST;
    if (c->per_stall && !c->shaped) /* the current stall may be added at once */
        return left > p->stall.cycles ? left - p->stall.cycles : 1;
    return left > most ? left / most : 1;
}

void *pmu_owner(const struct pmu *p)
{
    return p->context;
}

/* ---- callbacks of the core */

static void on_begin(void *context, struct core *c, const struct core_counts *live)
{
    pmu_attach(context, c, live);
}

static void on_mode(void *context, bool machine)
{
    struct pmu *p = context;
    catch_up(p);
    p->mode = machine ? PRIVILEGE_MACHINE : PRIVILEGE_USER;
}

/* The guest reads hpmcounter3 and up. It does so with nothing in flight: a stall that the records so far have not ended
 * ends in this cycle, and is included. */
static uint64_t on_counter(void *context, unsigned hpmcounter)
{
    struct pmu *p = context;
    size_t i = hpmcounter - 3;
    if (i >= p->count)
        return 0;
    const struct counter *c = &p->of[i];
    bool due = c->per_stall && !c->shaped && p->stall.cycles && counts_now(p, c);
    return pmu_value(p, i) + (due ? p->stall.cycles * c->of_cycle(&p->stall.last, c->selection) : 0);
}

#define ON(what, moment)                                                                                               \
    static void on_##what(void *context, const struct insn_view *v, uint64_t cycle)                                    \
    {                                                                                                                  \
        (void)cycle;                                                                                                   \
        count_insn(context, moment, v);                                                                                \
    }
ON(fetched, MOMENT_FETCHED)
ON(dispatched, MOMENT_DISPATCHED)
ON(issued, MOMENT_ISSUED)
ON(executed, MOMENT_EXECUTED)
ON(completed, MOMENT_COMPLETED)
ON(mispredicted, MOMENT_MISPREDICTED)
ON(committed, MOMENT_COMMITTED)
ON(squashed, MOMENT_SQUASHED)
#undef ON

static bool needs_moment(const struct pmu *p, unsigned moment)
{
    return p->moments >> moment & 1;
}

static void set_up_observer(struct pmu *p)
{
    struct core_observer *o = &p->observer;
    *o = (struct core_observer){
        .begin = on_begin, .mode = on_mode, .counter = on_counter, .context = p, .each_cycle = p->each_cycle};
    o->strides = p->strides;
    o->observed = p->moments ? OBSERVE_ALL : OBSERVE_CHOSEN;
    o->cycles = p->cycles || p->each_cycle ? on_cycles : NULL;
    o->fetched = needs_moment(p, MOMENT_FETCHED) ? on_fetched : NULL;
    o->dispatched = needs_moment(p, MOMENT_DISPATCHED) ? on_dispatched : NULL;
    o->issued = needs_moment(p, MOMENT_ISSUED) ? on_issued : NULL;
    o->executed = needs_moment(p, MOMENT_EXECUTED) ? on_executed : NULL;
    o->completed = needs_moment(p, MOMENT_COMPLETED) ? on_completed : NULL;
    o->mispredicted = needs_moment(p, MOMENT_MISPREDICTED) ? on_mispredicted : NULL;
    o->committed = needs_moment(p, MOMENT_COMMITTED) ? on_committed : NULL;
    o->squashed = needs_moment(p, MOMENT_SQUASHED) ? on_squashed : NULL;
}

const struct core_observer *pmu_observer(struct pmu *p)
{
    return &p->observer;
}

const struct simulation_sum *pmu_sum(struct pmu *p)
{
    return &p->sum;
}
