#include "report/logical_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/csv.h"

static const char *clock_unit(const struct plan *p)
{
    return p->clock == CLOCK_CYCLES ? "cycles" : "instructions";
}

/* ---- text */

enum { ERROR_SIZE = 24 };

/* Half of the 95 % interval in percent of the value, as text. */
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
        snprintf(text, ERROR_SIZE, "± %.2f %%", 100 * half / e->value);
    return text;
}

/* Terminal columns of UTF-8 text: `±` is one column but two bytes. */
static int width_of(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += (*text & 0xc0) != 0x80;
    return columns;
}

static void print_event(const struct logical_report *r, size_t event, int name_width, FILE *to)
{
    char count[GROUPED_SIZE], error[ERROR_SIZE];
    struct estimate e = r->estimate[event];
    const char *width = width_text(&e, error);
    fprintf(to, " %19s  %*s%s  %-*s # counted %5.1f %% of the time", grouped((uint64_t)llround(e.value), count),
            11 - width_of(width), "", width, name_width, r->specs->of[event].text, 100 * e.share);
    if (r->truth) {
        double truth = (double)r->truth[event];
        fprintf(to, ", true %s", grouped(r->truth[event], count));
        if (truth > 0)
            fprintf(to, " (%+.2f %%)", 100 * (e.value - truth) / truth);
        if (truth < e.low - 0.5 || truth > e.high + 0.5)
            fputs(", outside the interval", to);
    }
    fputs(e.bursty ? ", bursty\n" : "\n", to);
}

static void print_plan(const struct logical_report *r, FILE *to)
{
    const struct plan *p = r->plan;
    char slice[GROUPED_SIZE], round[GROUPED_SIZE];
    if (p->group_count == 1) {
        fprintf(to, " All events fit the core's counters at once and were counted all the time.\n");
        return;
    }
    fprintf(to,
            " %zu events multiplexed in %zu groups: slices of %s %s, rounds of %s in %s order; ± is the 95 %% interval "
            "(%s)\n",
            p->event_count, p->group_count, grouped(p->slice, slice), clock_unit(p),
            grouped(p->slice * p->slots, round), p->fixed_order ? "fixed" : "random", r->estimator->name);
}

static void print_warnings(const struct logical_report *r, FILE *to)
{
    size_t bursty = 0;
    char text[GROUPED_SIZE];
    for (size_t i = 0; i < r->plan->event_count; i++)
        bursty += r->estimate[i].bursty;
    if (bursty)
        fprintf(to, " %zu event%s came in bursts that are shorter than a round: use shorter slices or a larger share\n",
                bursty, bursty == 1 ? "" : "s");
    if (r->lost)
        fprintf(to, " %s slices were lost because the log was full; their counts are estimated from other slices\n",
                grouped(r->lost, text));
}

static void print_cost(const struct logical_report *r, FILE *to)
{
    const struct core_counts *c = &r->run->result.counts.core;
    char text[GROUPED_SIZE];
    if (c->machine_cycles && c->cycles > c->machine_cycles)
        fprintf(to, " %19s  cycles of the sampler in machine mode: %.2f %%\n", grouped(c->machine_cycles, text),
                100 * (double)c->machine_cycles / (double)(c->cycles - c->machine_cycles));
}

void logical_report_print(const struct logical_report *r, FILE *to)
{
    uint64_t cycles = r->cycles, insns = r->insns;
    char text[GROUPED_SIZE];
    int name_width = 12;
    for (size_t i = 0; i < r->specs->count; i++) {
        int length = (int)strlen(r->specs->of[i].text);
        name_width = length > name_width ? length : name_width;
    }
    run_report_print_begin(r->run, to);
    fputc('\n', to);
    for (size_t i = 0; i < r->specs->count; i++)
        print_event(r, i, name_width, to);
    fputc('\n', to);
    fprintf(to, " %19s  instructions of the program", grouped(insns, text));
    if (cycles)
        fprintf(to, ", %.3f IPC", (double)insns / (double)cycles);
    fprintf(to, "\n %19s  cycles of the program\n", grouped(cycles, text));
    print_cost(r, to);
    fputc('\n', to);
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
