#include "report/counter_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pmu/fit.h"
#include "report/csv.h"
#include "report/sampled_report.h"
#include "report/text_table.h"

static bool is_counted(const struct counter_report *r, size_t event)
{
    return r->fits == NULL || r->fits[event];
}

/* Growth of the counter during the run. */
static double amount_of(const struct counter_report *r, size_t event)
{
    return (double)(r->value[event] - r->specs->of[event].preload);
}

/* ---- comments beside a count: its relation to other counts */

enum { COMMENT_SIZE = 64 };

static bool same_range(const struct address_range *a, const struct address_range *b)
{
    return a->from == b->from && a->to == b->to;
}

/* Whether `a` counts the edges of what `b` counts, so that b / a is the mean duration. A falling edge is as good as a
 * rising one, since both occur equally often. */
static bool is_duration_of(const struct event_spec *a, const struct event_spec *b)
{
    return a->edge && !b->edge && a->event == b->event && a->mask == b->mask && a->classes == b->classes &&
           a->privilege == b->privilege && a->path == b->path && a->marked == b->marked && a->at_least == b->at_least &&
           (a->invert == b->invert || a->at_least == 0) && same_range(&a->ip, &b->ip) && same_range(&a->addr, &b->addr);
}

static void comment_on_edges(const struct counter_report *r, size_t event, char text[COMMENT_SIZE])
{
    const struct event_spec *edges = &r->specs->of[event];
    for (size_t i = 0; i < r->specs->count; i++) {
        const struct event_spec *s = &r->specs->of[i];
        if (is_duration_of(edges, s) && is_counted(r, i) && amount_of(r, event) > 0) {
            snprintf(text, COMMENT_SIZE, "%8.2f %s each", amount_of(r, i) / amount_of(r, event),
                     event_spec_unit(s) == UNIT_CYCLES ? "cycles" : "events");
            return;
        }
    }
}

/* Leaves `text` empty if there is no useful comment. */
static void comment_on(const struct counter_report *r, size_t event, char text[COMMENT_SIZE])
{
    const struct event_spec *s = &r->specs->of[event];
    const struct core_counts *c = &r->run->result.counts.core;
    double insns = (double)c->instructions, cycles = (double)c->cycles, amount = amount_of(r, event);
    text[0] = '\0';
    if (s->edge) {
        comment_on_edges(r, event, text);
        return;
    }
    if (pmu_has_own_counter(s) || insns == 0 || cycles == 0)
        return;
    switch (event_spec_unit(s)) {
    case UNIT_OCCURRENCES: snprintf(text, COMMENT_SIZE, "%8.2f per 1000 instructions", 1000 * amount / insns); break;
    case UNIT_CYCLES: snprintf(text, COMMENT_SIZE, "%8.2f %% of cycles", 100 * amount / cycles); break;
    case UNIT_VALUE: snprintf(text, COMMENT_SIZE, "%8.2f on average", amount / cycles); break;
    }
}

/* ---- text */

/* A row; `comment` may be empty. Only estimates have an interval. */
static void put_row(const struct counter_report *r, struct text_table *t, const char *label, const char *count,
                    const char *interval, const char *comment)
{
    text_cell(t, "%s", label);
    text_cell(t, "%s", count);
    if (r->run->sampled)
        text_cell(t, "%s", interval);
    text_cell(t, "%s", comment);
}

/* How much warming distorts this count. Counts of retired instructions do not depend on the wrong path. Counts by edge
 * or threshold depend on the timing of the core even if the event itself does not. */
static enum warm_trust trust_of(const struct event_spec *s)
{
    enum warm_trust trust = s->event->trust;
    bool counted_as_is = !s->edge && !s->at_least;
    if (trust == TRUST_OWN)
        return s->path == PATH_RETIRED && counted_as_is ? TRUST_OWN : TRUST_NEAR;
    if (trust == TRUST_NONE)
        return s->path == PATH_RETIRED ? TRUST_NEAR : TRUST_NONE;
    return counted_as_is ? trust : TRUST_NEAR;
}

/* Half the width of the 95 % interval of an estimated count. */
static double half_of(const struct counter_report *r, size_t event)
{
    return sampled_add_warm_error(r->run, sampled_half(r->run, SIMULATION_NUMBERS + event), amount_of(r, event),
                                  trust_of(&r->specs->of[event]));
}

/* Half the width of the 95 % interval in percent of the count. */
static const char *interval_text(const struct counter_report *r, size_t event, char text[COMMENT_SIZE])
{
    double half = r->run->sampled && amount_of(r, event) > 0 ? half_of(r, event) : 0;
    if (!isfinite(half))
        return "unknown";
    text[0] = '\0';
    if (amount_of(r, event) > 0)
        snprintf(text, COMMENT_SIZE, "%.1f %%", 100 * half / amount_of(r, event));
    return text;
}

static void put_events(const struct counter_report *r, struct text_table *t)
{
    char text[GROUPED_SIZE], comment[COMMENT_SIZE], half[COMMENT_SIZE];
    for (size_t i = 0; i < r->specs->count; i++) {
        const char *label = r->specs->of[i].text;
        comment_on(r, i, comment);
        if (is_counted(r, i))
            put_row(r, t, label, grouped(r->value[i], text), interval_text(r, i, half), comment);
        else
            put_row(r, t, label, "<not counted>", "", "");
    }
}

static void print_unfit(const struct counter_report *r, FILE *to)
{
    const struct core_config *core = r->run->simulation->core;
    size_t fit = 0;
    char why[160];
    for (size_t i = 0; i < r->specs->count; i++)
        fit += r->fits[i];
    text_paragraph(to, "%zu of %zu event%s fit the %" PRIu64 " counter%s of %s%s", fit, r->specs->count,
                   r->specs->count == 1 ? "" : "s", core->pmu_counters, core->pmu_counters == 1 ? "" : "s", core->name,
                   fit == r->specs->count ? "." : "; not counted:");
    for (size_t i = 0; i < r->specs->count; i++) {
        if (r->fits[i])
            continue;
        pmu_unfit_text(r->specs, i, core, why, sizeof why);
        text_paragraph(to, "  %s: %s", r->specs->of[i].text, why);
    }
    fputc('\n', to);
}

void counter_report_print(const struct counter_report *r, FILE *to, unsigned columns)
{
    const struct core_counts *c = &r->run->result.counts.core;
    struct text_table *t = text_table_new();
    char text[GROUPED_SIZE], ipc[COMMENT_SIZE] = "";
    text_column(t, TEXT_LEFT, "event");
    text_column(t, TEXT_NUMBER, "count");
    if (r->run->sampled)
        text_column(t, TEXT_NUMBER, "±");
    text_column(t, TEXT_WRAP, "");
    put_events(r, t);
    text_empty_line(t);
    if (c->cycles)
        snprintf(ipc, sizeof ipc, "%8.3f IPC", (double)c->instructions / (double)c->cycles);
    put_row(r, t, "instructions", grouped(c->instructions, text), "", ipc);
    put_row(r, t, "cycles", grouped(c->cycles, text), "", "");
    run_report_print_begin(r->run, to);
    fputc('\n', to);
    text_table_print(t, to, 1, columns);
    fputc('\n', to);
    if (r->fits)
        print_unfit(r, to);
    run_report_print_end(r->run, to);
}

/* ---- files */

void counter_report_csv(const struct counter_report *r, FILE *to)
{
    static const char *const units[] = {
        [UNIT_OCCURRENCES] = "occurrences", [UNIT_CYCLES] = "cycles", [UNIT_VALUE] = "value"};
    bool shared = r->run->programs > 0;
    if (r->run->number == 0)
        fputs(shared ? "number,program,event,value,unit\n" : "event,value,unit\n", to);
    for (size_t i = 0; i < r->specs->count; i++) {
        if (shared) {
            fprintf(to, "%u,", r->run->number);
            csv_text(r->run->program, to);
            fputc(',', to);
        }
        csv_text(r->specs->of[i].text, to);
        if (is_counted(r, i))
            fprintf(to, ",%" PRIu64 ",%s\n", r->value[i], units[event_spec_unit(&r->specs->of[i])]);
        else
            fprintf(to, ",,%s\n", units[event_spec_unit(&r->specs->of[i])]);
    }
}

/* Integers of jansson are signed. A value above INT64_MAX, possible for a preloaded counter, is written as a real
 * number, which is rounded; `growth` is always exact. */
static json_t *value_json(const struct counter_report *r, size_t event)
{
    if (!is_counted(r, event))
        return json_null();
    return r->value[event] <= INT64_MAX ? json_integer((json_int_t)r->value[event])
                                        : json_real((double)r->value[event]);
}

json_t *counter_report_json(const struct counter_report *r)
{
    json_t *counters = json_array();
    for (size_t i = 0; counters && i < r->specs->count; i++) {
        const struct event_spec *s = &r->specs->of[i];
        json_t *one = json_pack("{s:s, s:s, s:o}", "event", s->text, "name", s->event->name, "value", value_json(r, i));
        if (one == NULL) {
            json_decref(counters);
            return NULL;
        }
        if (s->preload && is_counted(r, i))
            json_object_set_new(one, "growth", json_integer((json_int_t)(r->value[i] - s->preload)));
        if (r->run->sampled)
            json_object_set_new(one, "interval", interval_json((double)r->value[i], half_of(r, i)));
        if (r->fits)
            json_object_set_new(one, "fits", json_boolean(r->fits[i]));
        if (r->fits && r->fits[i] && r->counter[i] != COUNTER_OF_ITS_OWN)
            json_object_set_new(one, "counter", json_integer(r->counter[i]));
        json_array_append_new(counters, one);
    }
    return counters;
}
