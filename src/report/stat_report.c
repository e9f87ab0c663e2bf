#include "report/stat_report.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "report/counts.h"
#include "report/sampled_report.h"
#include "report/text_table.h"

/* ---- the lines of the page: counts and rates */

enum rate_kind { NO_RATE, RATIO, PERCENT, PER_KILO };

struct rate {
    enum rate_kind kind;
    const char *count, *per; /* names of dividend and divisor */
    const char *unit;
};

enum { RATES = 2 };

struct line {
    const char *label;
    const char *first, *all; /* names of the counts in the two columns, or NULL */
    size_t needs;            /* offset of a core parameter; the line is omitted if it is 0; or ALWAYS */
    struct rate rate[RATES];
};

#define ALWAYS    SIZE_MAX
#define IF(param) offsetof(struct core_config, param)
/* clang-format off */
#define MPKI(count)            {PER_KILO, count, "instructions", "MPKI"}
#define PER_1000(count)        {PER_KILO, count, "instructions", "per 1000 instructions"}
#define SHARE(count, of, text) {PERCENT, count, of, "% " text}
#define MISS_RATE(c)           SHARE(#c "_access_misses_spec", #c "_accesses_spec", "of accesses")
#define PREFETCHES(label, c, kind)                                                                                     \
    {label, NULL, #c "_prefetches", IF(kind), {SHARE(#c "_useful_prefetches", #c "_prefetches", "were used")}}

static const struct line lines[] = {
    {"cycles", "cycles", NULL, ALWAYS, {{0}}},
    {"instructions", "instructions", "fetched", ALWAYS,
     {{RATIO, "instructions", "cycles", "IPC"}, {RATIO, "cycles", "instructions", "CPI"}}},
    {"on the wrong path", NULL, "squashed", ALWAYS,
     {SHARE("squashed", "fetched", "of fetched"), SHARE("wrong_path_cycles", "cycles", "of cycles")}},
    {"branches", "branches", "branches_spec", ALWAYS, {SHARE("branches", "instructions", "of instructions")}},
    {"mispredictions", "mispredictions", "mispredictions_spec", ALWAYS,
     {SHARE("mispredictions", "branches", "of branches"), MPKI("mispredictions")}},
    {"misfetches", NULL, "misfetches", IF(branch_btb_entries),
     {SHARE("misfetches", "branches_spec", "of branches fetched")}},
    {"loads", "loads", "loads_spec", ALWAYS, {SHARE("loads", "instructions", "of instructions")}},
    {"stores", "stores", "stores_spec", ALWAYS, {SHARE("stores", "instructions", "of instructions")}},
    {"atomics", "atomics", NULL, ALWAYS, {SHARE("atomics", "instructions", "of instructions")}},
    {"floating point", "fp_instructions", NULL, ALWAYS,
     {SHARE("fp_instructions", "instructions", "of instructions")}},
    {"system calls", "system_calls", NULL, ALWAYS, {{0}}},

    {"L1I misses", "l1i_misses", "l1i_misses_spec", IF(l1i_size), {MPKI("l1i_misses"), MISS_RATE(l1i)}},
    {"L2I misses", "l2i_misses", "l2i_misses_spec", IF(l2_size), {MPKI("l2i_misses"), MISS_RATE(l2i)}},
    {"L3I misses", NULL, "l3i_access_misses_spec", IF(l3_size), {MPKI("l3i_access_misses_spec"), MISS_RATE(l3i)}},
    {"ITLB misses", "itlb_misses", "itlb_misses_spec", IF(itlb_entries), {MPKI("itlb_misses")}},
    {"L1D misses", "l1d_misses", "l1d_misses_spec", IF(l1d_size), {MPKI("l1d_misses"), MISS_RATE(l1d)}},
    {"L2D misses", "l2d_misses", "l2d_misses_spec", IF(l2_size), {MPKI("l2d_misses"), MISS_RATE(l2d)}},
    {"L3D misses", NULL, "l3d_access_misses_spec", IF(l3_size), {MPKI("l3d_access_misses_spec"), MISS_RATE(l3d)}},
    {"DTLB misses", "dtlb_misses", "dtlb_misses_spec", IF(dtlb_entries), {MPKI("dtlb_misses")}},
    PREFETCHES("L1I prefetches", l1i, l1i_prefetch),
    PREFETCHES("L1D prefetches", l1d, l1d_prefetch),
    PREFETCHES("L2I prefetches", l2i, l2_prefetch),
    PREFETCHES("L2D prefetches", l2d, l2_prefetch),
    PREFETCHES("L3I prefetches", l3i, l3_prefetch),
    PREFETCHES("L3D prefetches", l3d, l3_prefetch),
    {"bus transactions", NULL, "bus_transactions", ALWAYS,
     {PER_1000("bus_transactions"), SHARE("bus_writes", "bus_transactions", "writes")}},
    {"cycles of the bus", NULL, "bus_busy_cycles", IF(memory_bytes_per_cycle),
     {SHARE("bus_busy_cycles", "cycles", "of cycles")}},
    {"forwards", NULL, "forwards", ALWAYS, {SHARE("forwards", "loads_spec", "of loads")}},
    {"rejects, overlap", NULL, "rejects_overlap", ALWAYS, {SHARE("rejects_overlap", "loads_spec", "of loads")}},
    {"rejects, MSHRs", NULL, "rejects_mshr", ALWAYS, {SHARE("rejects_mshr", "loads_spec", "of loads")}},
    {"rejects, TLB", NULL, "rejects_tlb", ALWAYS, {PER_1000("rejects_tlb")}},

    {"cycles, ROB full", NULL, "rob_full_cycles", ALWAYS,
     {SHARE("rob_full_cycles", "cycles", "of cycles"), {RATIO, "rob_occupancy", "cycles", "entries on average"}}},
};
/* clang-format on */

/* ---- text */

static uint64_t value_of(const struct run_report *r, const char *name)
{
    const struct count_row *row = count_find(name);
    assert(row);
    return count_value(&r->result.counts, row);
}

static void put_count(const struct run_report *r, const char *name, struct text_table *t)
{
    char text[GROUPED_SIZE];
    text_cell(t, "%s", name ? grouped(value_of(r, name), text) : "");
}

/* Half the width of the 95 % interval of an estimate, in percent of the estimate; empty if it is unknown. */
static void put_interval(const struct run_report *r, const char *name, struct text_table *t)
{
    uint64_t value = name ? value_of(r, name) : 0;
    double half = value ? sampled_count_half(r, count_find(name)) : INFINITY;
    if (isfinite(half))
        text_cell(t, "%.1f", 100 * half / (double)value);
    else
        text_cell(t, "%s", "");
}

static void put_rates(const struct run_report *r, const struct line *l, struct text_table *t)
{
    static const double factor[] = {[RATIO] = 1, [PERCENT] = 100, [PER_KILO] = 1000};
    char text[128] = "";
    size_t used = 0;
    for (unsigned i = 0; i < RATES && l->rate[i].kind != NO_RATE; i++) {
        const struct rate *rate = &l->rate[i];
        uint64_t per = value_of(r, rate->per);
        if (per == 0)
            continue;
        double x = factor[rate->kind] * (double)value_of(r, rate->count) / (double)per;
        used += (size_t)snprintf(text + used, sizeof text - used, used ? ", %.*f %s" : "%6.*f %s",
                                 rate->kind == RATIO ? 3 : 2, x, rate->unit);
    }
    text_cell(t, "%s", text);
}

static bool makes_sense(const struct line *l, const struct core_config *core)
{
    uint64_t value = 1;
    if (l->needs != ALWAYS)
        memcpy(&value, (const char *)core + l->needs, sizeof value);
    return value != 0;
}

static void put_line(const struct run_report *r, const struct line *l, struct text_table *t)
{
    text_cell(t, "%s", l->label);
    put_count(r, l->first, t);
    put_count(r, l->all, t);
    if (r->sampled)
        put_interval(r, l->first ? l->first : l->all, t);
    put_rates(r, l, t);
}

static void print_stage(const struct run_report *r, enum stage_row_index stage, FILE *to, unsigned columns)
{
    const struct stage_row *row = &stage_rows[stage];
    struct text_table *t = text_table_new();
    double cycles = (double)r->result.counts.core.cycles;
    text_column(t, TEXT_LEFT, row->help);
    text_column(t, TEXT_NUMBER, "% of cycles");
    for (unsigned i = 0; i < row->reasons; i++) {
        uint64_t n = stage_cycles(&r->result.counts, row, i);
        if (n) {
            text_cell(t, "%s", row->reason[i].help);
            text_cell(t, "%.2f", 100 * (double)n / cycles);
        }
    }
    fputc('\n', to);
    text_table_print(t, to, 1, columns);
}

void stat_report_print(const struct run_report *r, FILE *to, unsigned columns)
{
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "");
    text_column(t, TEXT_NUMBER, "retired");
    text_column(t, TEXT_NUMBER, "all");
    if (r->sampled)
        text_column(t, TEXT_NUMBER, "± %");
    text_column(t, TEXT_WRAP, "");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (makes_sense(&lines[i], r->simulation->core))
            put_line(r, &lines[i], t);
    run_report_print_begin(r, to);
    fputc('\n', to);
    text_table_print(t, to, 1, columns);
    if (r->result.counts.core.cycles) {
        print_stage(r, STAGE_ROW_DISPATCH, to, columns);
        print_stage(r, STAGE_ROW_HEAD, to, columns);
    }
    fputc('\n', to);
    run_report_print_end(r, to);
}

/* ---- JSON */

static json_t *cycles_json(const struct simulation_counts *c)
{
    json_t *stages = json_object();
    for (unsigned s = 0; s < STAGES; s++) {
        json_t *reasons = json_object();
        for (unsigned i = 0; i < stage_rows[s].reasons; i++)
            json_object_set_new(reasons, stage_rows[s].reason[i].name,
                                json_integer((json_int_t)stage_cycles(c, &stage_rows[s], i)));
        json_object_set_new(stages, stage_rows[s].name, reasons);
    }
    return stages;
}

json_t *stat_report_json(const struct run_report *r)
{
    json_t *root = run_report_json(r, "stat");
    if (root) {
        json_object_set_new(root, "events", counts_json(&r->result.counts));
        if (r->sampled)
            json_object_set_new(root, "event_intervals", counts_intervals_json(r));
        json_object_set_new(root, "cycles_by", cycles_json(&r->result.counts));
    }
    return root;
}
