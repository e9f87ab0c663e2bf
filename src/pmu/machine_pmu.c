#include "pmu/machine_pmu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pmu/fit.h"
#include "pmu/pmu.h"

/* ---- mhpmevent */

enum { NUMBER_BITS = 12, MASK_AT = 12, THRESHOLD_AT = 28, EDGE_AT = 40, INVERT_AT = 41, PATH_AT = 42, CODE_BITS = 44 };
enum { THRESHOLD_MOST = (1 << (EDGE_AT - THRESHOLD_AT)) - 1 };

_Static_assert(MASK_AT + EVENT_MASK_BITS == THRESHOLD_AT, "masks fit mhpmevent");

/* The `bits` of a code from `at` on. */
static uint64_t field(uint64_t code, unsigned at, unsigned bits)
{
    return code >> at & ((UINT64_C(1) << bits) - 1);
}

unsigned event_number(const struct event *e)
{
    return (unsigned)(e - events) + 1;
}

/* Whether all filters of the specification can be encoded. */
static bool has_place(const struct event_spec *s)
{
    return s->classes == 0 && !s->marked && s->ip.from == 0 && s->ip.to == 0 && s->addr.from == 0 && s->addr.to == 0;
}

int event_encode(const struct event_spec *s, uint64_t *code, struct error *err)
{
    if (!has_place(s))
        return error_set(err, -EINVAL, "'%s': firmware cannot select by address, class or mark", s->text);
    if (s->at_least > THRESHOLD_MOST)
        return error_set(err, -EINVAL, "'%s': firmware cannot program a threshold above %d", s->text,
                         THRESHOLD_MOST - 1);
    uint64_t path = s->path == s->event->standard ? 0 : s->path;
    *code = event_number(s->event) | (uint64_t)s->mask << MASK_AT | s->at_least << THRESHOLD_AT |
            (uint64_t)s->edge << EDGE_AT | (uint64_t)s->invert << INVERT_AT | path << PATH_AT |
            (s->privilege & PRIVILEGE_MACHINE ? 0 : HPMEVENT_MINH) |
            (s->privilege & PRIVILEGE_USER ? 0 : HPMEVENT_UINH);
    return 0;
}

static uint32_t mask_bits(const struct event *e)
{
    uint32_t bits = 0;
    for (unsigned i = 0; e->mask && i < EVENT_MASK_BITS && e->mask[i].name; i++)
        bits |= UINT32_C(1) << i;
    return bits;
}

bool event_decode(uint64_t code, struct event_spec *s)
{
    uint64_t number = field(code, 0, NUMBER_BITS), path = field(code, PATH_AT, CODE_BITS - PATH_AT);
    if (number == 0 || number > event_count || field(code, CODE_BITS, 56 - CODE_BITS) != 0)
        return false;
    const struct event *e = &events[number - 1];
    *s = (struct event_spec){.event = e,
                             .mask = (uint32_t)field(code, MASK_AT, EVENT_MASK_BITS),
                             .privilege = (uint8_t)((code & HPMEVENT_MINH ? 0 : PRIVILEGE_MACHINE) |
                                                    (code & HPMEVENT_UINH ? 0 : PRIVILEGE_USER)),
                             .path = path ? (uint8_t)path : e->standard,
                             .edge = field(code, EDGE_AT, 1),
                             .invert = field(code, INVERT_AT, 1),
                             .at_least = field(code, THRESHOLD_AT, EDGE_AT - THRESHOLD_AT)};
    return !(s->mask & ~mask_bits(e)) && (path == 0 || path == PATH_RETIRED || path == PATH_SPEC) &&
           !(path & ~(uint64_t)e->paths) && (!s->invert || s->edge || s->at_least);
}

/* ---- the counters */

enum { BANK = COUNTER_END - COUNTER_FIRST };

struct machine_pmu {
    const struct core_config *core;
    bool insns; /* all instructions can be observed */
    struct pmu *pmu;
    struct event_spec spec[BANK]; /* what each counter counts; the PMU refers to these */
};

static void destroy(void *state)
{
    struct machine_pmu *m = state;
    pmu_free(m->pmu);
    free(m);
}

static void *create(const struct core_config *core, bool insns, struct error *err)
{
    struct machine_pmu *m = calloc(1, sizeof *m);
    if (m == NULL) {
        error_set(err, -ENOMEM, "out of memory for counters");
        return NULL;
    }
    m->core = core;
    m->insns = insns;
    m->pmu = pmu_new_bank(BANK, err);
    if (m->pmu == NULL) {
        destroy(m);
        return NULL;
    }
    return m;
}

static bool exists(const struct machine_pmu *m, unsigned counter)
{
    return counter - COUNTER_FIRST < m->core->pmu_counters;
}

static bool can_count(const struct machine_pmu *m, unsigned counter, const struct event_spec *s)
{
    return exists(m, counter) && pmu_allowed(s, m->core) >> (counter - COUNTER_FIRST) & 1;
}

/* Programs a counter, and returns mhpmevent as it reads back. */
static uint64_t select_event(void *state, unsigned counter, uint64_t event)
{
    struct machine_pmu *m = state;
    size_t i = counter - COUNTER_FIRST;
    uint64_t modes = exists(m, counter) ? event & (HPMEVENT_MINH | HPMEVENT_UINH) : 0;
    struct event_spec s;
    struct error ignored;
    if (pmu_program(m->pmu, i, NULL, &ignored) != 0 || !event_decode(event, &s) || !can_count(m, counter, &s))
        return modes;
    m->spec[i] = s;
    m->spec[i].text = (char *)"mhpmevent"; /* a literal; event_specs_free is never called for it */
    if (pmu_program(m->pmu, i, &m->spec[i], &ignored) != 0)
        return modes;
    if (pmu_needs_insns(m->pmu, i) && !m->insns && pmu_program(m->pmu, i, NULL, &ignored) == 0)
        return modes;
    return modes | field(event, 0, CODE_BITS);
}

static void inhibit(void *state, uint32_t counters)
{
    struct machine_pmu *m = state;
    for (unsigned i = 0; i < BANK; i++)
        pmu_halt(m->pmu, i, counters >> (i + COUNTER_FIRST) & 1);
}

static uint64_t read_counter(void *state, unsigned counter)
{
    struct machine_pmu *m = state;
    return pmu_value(m->pmu, counter - COUNTER_FIRST);
}

static void write_counter(void *state, unsigned counter, uint64_t value)
{
    struct machine_pmu *m = state;
    if (exists(m, counter))
        pmu_set_value(m->pmu, counter - COUNTER_FIRST, value);
}

static uint64_t lasts(void *state, unsigned counter)
{
    const struct machine_pmu *m = state;
    return pmu_lasts(m->pmu, counter - COUNTER_FIRST);
}

static const struct core_observer *observer(void *state)
{
    struct machine_pmu *m = state;
    return pmu_observer(m->pmu);
}

const struct machine_counters pmu_machine_counters = {.create = create,
                                                      .destroy = destroy,
                                                      .select = select_event,
                                                      .inhibit = inhibit,
                                                      .read = read_counter,
                                                      .write = write_counter,
                                                      .lasts = lasts,
                                                      .observer = observer};
