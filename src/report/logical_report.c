#include "report/logical_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "report/text_table.h"

static const char *clock_unit(const struct plan *p)
{
    return p->clock == CLOCK_CYCLES ? "cycles" : "instructions";
}

/* ---- text */

enum { ERROR_SIZE = 24 };

/* Half the width of the 95 % interval in percent of the value, as text. */
static const char *width_text(const struct estimate *e, char text[ERROR_SIZE])
{
    double half = estimate_half(e);
    if (half == 0)
        return "exact";
    if (!isfinite(half))
        return "unknown";
    if (e->value == 0)
        snprintf(text, ERROR_SIZE, "up to %.0f", e->high);
    else
        snprintf(text, ERROR_SIZE, "%.2f %%", 100 * half / e->value);
    return text;
}

static void put_heads(const struct logical_report *r, struct text_table *t)
{
    text_column(t, TEXT_LEFT, "event");
    text_column(t, TEXT_NUMBER, "count");
    text_column(t, TEXT_NUMBER, "±");
    text_column(t, TEXT_NUMBER, "counted");
    if (r->truth) {
        text_column(t, TEXT_NUMBER, "true count");
        text_column(t, TEXT_NUMBER, "error");
    }
    text_column(t, TEXT_WRAP, "");
}

static void put_truth(const struct logical_report *r, size_t event, struct text_table *t)
{
    char count[GROUPED_SIZE];
    double truth = (double)r->truth[event];
    text_cell(t, "%s", grouped(r->truth[event], count));
    if (truth > 0)
        text_cell(t, "%+.2f %%", 100 * (r->estimate[event].value - truth) / truth);
    else
        text_cell(t, "%s", "");
}

static bool is_outside(const struct logical_report *r, size_t event)
{
    const struct estimate *e = &r->estimate[event];
    double truth = r->truth ? (double)r->truth[event] : 0;
    return r->truth && (truth < e->low - 0.5 || truth > e->high + 0.5);
}

static void put_event(const struct logical_report *r, size_t event, struct text_table *t)
{
    char count[GROUPED_SIZE], error[ERROR_SIZE];
    struct estimate e = r->estimate[event];
    text_cell(t, "%s", r->specs->of[event].text);
    text_cell(t, "%s", grouped((uint64_t)llround(e.value), count));
    text_cell(t, "%s", width_text(&e, error));
    text_cell(t, "%.1f %%", 100 * e.share);
    if (r->truth)
        put_truth(r, event, t);
    bool outside = is_outside(r, event);
    text_cell(t, "%s%s%s", outside ? "outside" : "", outside && e.bursty ? ", " : "", e.bursty ? "bursty" : "");
}

static void print_plan(const struct logical_report *r, FILE *to)
{
    const struct plan *p = r->plan;
    char slice[GROUPED_SIZE], round[GROUPED_SIZE];
    if (p->group_count == 1) {
        text_paragraph(to, "All events fit the core's counters at once and were counted all the time.");
        return;
    }
    text_paragraph(to,
                   "%zu events multiplexed in %zu groups: slices of %s %s, rounds of %s in %s order, estimated by %s. "
                   "%s, in percent of the count. `counted` is the share of the time.",
                   p->event_count, p->group_count, grouped(p->slice, slice), clock_unit(p),
                   grouped(p->slice * p->slots, round), p->fixed_order ? "fixed" : "random", r->estimator->name,
                   PLUS_MINUS_MEANING);
}

static void print_warnings(const struct logical_report *r, FILE *to)
{
    size_t bursty = 0;
    char text[GROUPED_SIZE];
    for (size_t i = 0; i < r->plan->event_count; i++)
        bursty += r->estimate[i].bursty;
    if (bursty)
        text_paragraph(
            to, "%zu event%s came in bursts that are shorter than a round: use shorter slices or a larger share.",
            bursty, bursty == 1 ? "" : "s");
    if (r->lost)
        text_paragraph(to,
                       "%s slices were lost because the log was full; their counts are estimated from other slices.",
                       grouped(r->lost, text));
}

static void put_total(struct text_table *t, const char *name, uint64_t count)
{
    char text[GROUPED_SIZE];
    text_cell(t, "%s", name);
    text_cell(t, "%s", grouped(count, text));
    text_end_row(t);
}

static void print_rates(const struct logical_report *r, FILE *to)
{
    const struct core_counts *c = &r->run->result.counts.core;
    if (r->cycles)
        fprintf(to, " %.3f IPC", (double)r->insns / (double)r->cycles);
    if (c->machine_cycles && c->cycles > c->machine_cycles)
        fprintf(to, "%s the sampler in machine mode takes %.2f %% more cycles", r->cycles ? ";" : "",
                100 * (double)c->machine_cycles / (double)(c->cycles - c->machine_cycles));
    fputc('\n', to);
}

void logical_report_print(const struct logical_report *r, FILE *to, unsigned columns)
{
    const struct core_counts *c = &r->run->result.counts.core;
    struct text_table *t = text_table_new();
    put_heads(r, t);
    for (size_t i = 0; i < r->specs->count; i++)
        put_event(r, i, t);
    text_empty_line(t);
    put_total(t, "instructions", r->insns);
    put_total(t, "cycles", r->cycles);
    if (c->machine_cycles && c->cycles > c->machine_cycles)
        put_total(t, "cycles, sampler", c->machine_cycles);
    run_report_print_begin(r->run, to);
    fputc('\n', to);
    text_table_print(t, to, 1, columns);
    fputc('\n', to);
    print_rates(r, to);
    print_plan(r, to);
    print_warnings(r, to);
    run_report_print_end(r->run, to);
}

/* ---- files */

void logical_report_csv(const struct logical_report *r, FILE *to)
{
    bool shared = r->run->programs > 0;
    if (r->run->number == 0)
        fprintf(to, "%sevent,value,low,high,share,bursty%s\n", shared ? "number,program," : "",
                r->truth ? ",true_value" : "");
    for (size_t i = 0; i < r->specs->count; i++) {
        struct estimate e = r->estimate[i];
        if (shared) {
            fprintf(to, "%u,", r->run->number);
            csv_text(r->run->program, to);
            fputc(',', to);
        }
        csv_text(r->specs->of[i].text, to);
        fprintf(to, ",%.0f,%.0f,", e.value, e.low);
        if (isfinite(e.high))
            fprintf(to, "%.0f", e.high);
        fprintf(to, ",%.4f,%d", e.share, e.bursty);
        if (r->truth)
            fprintf(to, ",%" PRIu64, r->truth[i]);
        fputc('\n', to);
    }
}

static json_t *event_json(const struct logical_report *r, size_t event)
{
    struct estimate e = r->estimate[event];
    const struct plan_event *p = &r->plan->event[event];
    json_t *one = json_pack("{s:s, s:s, s:f, s:f, s:o, s:I, s:f, s:b}", "event", r->specs->of[event].text, "name",
                            r->specs->of[event].event->name, "value", e.value, "low", e.low, "high",
                            isfinite(e.high) ? json_real(e.high) : json_null(), "counted", (json_int_t)e.counted,
                            "share", e.share, "bursty", e.bursty);
    if (one && p->group != PLAN_ALWAYS)
        json_object_set_new(one, "group", json_integer(p->group));
    if (one && r->truth)
        json_object_set_new(one, "true_value", json_integer((json_int_t)r->truth[event]));
    return one;
}

bool logical_report_json(const struct logical_report *r, json_t *root)
{
    const struct plan *p = r->plan;
    json_t *counters = json_array();
    for (size_t i = 0; i < r->specs->count; i++)
        if (json_array_append_new(counters, event_json(r, i)) != 0) {
            json_decref(counters);
            return false;
        }
    json_t *how = json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:I}", "estimator", r->estimator->name,
                            "clock", clock_unit(p), "slice", (json_int_t)p->slice, "round",
                            (json_int_t)(p->slice * p->slots), "groups", (json_int_t)p->group_count, "fixed_order",
                            p->fixed_order, "order_seed", (json_int_t)p->seed, "lost_slices", (json_int_t)r->lost,
                            "user_cycles", (json_int_t)r->cycles, "user_instructions", (json_int_t)r->insns);
    return json_object_set_new(root, "counters", counters) == 0 && json_object_set_new(root, "multiplexing", how) == 0;
}
