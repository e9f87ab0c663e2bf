/* Checks the parameters of a core, each alone and together with others. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/config_priv.h"

#define FIELD(name) offsetof(struct core_config, name)

/* The parameters that a check compares; NOTHING fills unused elements. */
enum { NOTHING = -1 };
struct involved {
    long field[3];
};
#define INVOLVED(...) (&(const struct involved){{__VA_ARGS__}})

/* Returns the parameter of these that was set last. */
static const struct param *latest(const struct core_config *c, const struct involved *who)
{
    const struct param *best = NULL;
    for (size_t i = 0; i < 3 && who->field[i] != NOTHING; i++) {
        const struct param *p = param_at((size_t)who->field[i]);
        if (best == NULL || c->origin[p - core_params] > c->origin[best - core_params])
            best = p;
    }
    return best;
}

/* Sets the error message: the setting or line that gave the latest of the values, then the sentence. */
__attribute__((format(printf, 4, 5))) static int refuse(const struct core_config *c, struct error *err,
                                                        const struct involved *who, const char *format, ...)
{
    char where[256], sentence[240], value[32];
    const struct param *p = latest(c, who);
    uint32_t origin = c->origin[p - core_params];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    param_text(c, p, value, sizeof value);
    if (origin >= ORIGIN_SETTING)
        snprintf(where, sizeof where, "--set %s.%s=%s", p->section, p->key, value);
    else if (origin != 0)
        snprintf(where, sizeof where, "%s:%u", c->file, origin);
    else
        snprintf(where, sizeof where, "core %s", c->name);
    return error_set(err, -EINVAL, "%s: %s", where, sentence);
}

static bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* A parameter's value, and its name and value as text. */
struct shown {
    uint64_t value;
    char name[48], text[32];
};

static struct shown show(const struct core_config *c, size_t field)
{
    struct shown s;
    const struct param *p = param_at(field);
    s.value = param_value(c, p);
    snprintf(s.name, sizeof s.name, "%s.%s", p->section, p->key);
    param_text(c, p, s.text, sizeof s.text);
    return s;
}

/* ---- each value alone. Values that did not come from text must lie in the same ranges. */

static int check_ranges(const struct core_config *c, struct error *err)
{
    for (size_t i = 0; i < core_param_count; i++) {
        const struct param *p = &core_params[i];
        uint64_t value = param_value(c, p), count = 0;
        while (p->type == PARAM_CHOICE && p->choice((unsigned)count))
            count++;
        bool good = p->type == PARAM_CHOICE ? value < count : value >= p->least && value <= p->most;
        char range[160];
        if (!good) {
            param_range_text(p, range, sizeof range);
            return refuse(c, err, INVOLVED((long)p->offset, NOTHING), "%s.%s must be in %s, not %" PRIu64, p->section,
                          p->key, range, value);
        }
    }
    return 0;
}

static int check_powers_of_two(const struct core_config *c, struct error *err)
{
    static const size_t fields[] = {FIELD(l1i_line), FIELD(l1d_line),  FIELD(l2_line),
                                    FIELD(l3_line),  FIELD(bus_width), FIELD(tlb_page)};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct shown s = show(c, fields[i]);
        if (!is_power_of_two(s.value))
            return refuse(c, err, INVOLVED((long)fields[i], NOTHING), "%s (%s) must be a power of two", s.name, s.text);
    }
    return 0;
}

/* ---- pairs: `small` must not exceed `large`, unless `large` is 0, which means no limit */

static const struct {
    size_t small, large;
} at_most[] = {
    {FIELD(lsq_loads), FIELD(lsq_size)},
    {FIELD(lsq_stores), FIELD(lsq_size)},
    {FIELD(iq_int), FIELD(iq_size)},
    {FIELD(iq_fp), FIELD(iq_size)},
    {FIELD(iq_mem), FIELD(iq_size)},
    {FIELD(branch_history_bits), FIELD(branch_gshare_bits)},
    {FIELD(branch_btb_ways), FIELD(branch_btb_entries)},
    {FIELD(itlb_ways), FIELD(itlb_entries)},
    {FIELD(dtlb_ways), FIELD(dtlb_entries)},
    {FIELD(l2tlb_ways), FIELD(l2tlb_entries)},
    /* A bundle dispatches and retires as a whole: without room for a full one it would wait forever. */
    {FIELD(dispatch_bundle), FIELD(fetch_buffer)},
    {FIELD(dispatch_bundle), FIELD(dispatch_width)},
    {FIELD(dispatch_bundle), FIELD(rob_size)},
    {FIELD(dispatch_bundle), FIELD(iq_size)},
    {FIELD(dispatch_bundle), FIELD(iq_int)},
    {FIELD(dispatch_bundle), FIELD(iq_fp)},
    {FIELD(dispatch_bundle), FIELD(iq_mem)},
    {FIELD(dispatch_bundle), FIELD(lsq_size)},
    {FIELD(dispatch_bundle), FIELD(lsq_loads)},
    {FIELD(dispatch_bundle), FIELD(lsq_stores)},
    {FIELD(dispatch_bundle), FIELD(store_buffer_size)},
};

static int check_at_most(const struct core_config *c, struct error *err)
{
    for (size_t i = 0; i < sizeof at_most / sizeof at_most[0]; i++) {
        struct shown small = show(c, at_most[i].small), large = show(c, at_most[i].large);
        if (large.value != 0 && small.value > large.value)
            return refuse(c, err, INVOLVED((long)at_most[i].small, (long)at_most[i].large, NOTHING),
                          "%s (%s) must not exceed %s (%s)", small.name, small.text, large.name, large.text);
    }
    return 0;
}

/* ---- the window */

static int check_registers(const struct core_config *c, size_t field, uint64_t architectural, struct error *err)
{
    struct shown s = show(c, field);
    uint64_t at_once = c->dispatch_bundle > 1 ? c->dispatch_bundle : 1;
    if (s.value == 0 || s.value >= architectural + at_once)
        return 0;
    return refuse(c, err, INVOLVED((long)field, FIELD(dispatch_bundle), NOTHING),
                  "%s (%s) must be 0 or at least %" PRIu64 ": %" PRIu64 " architectural registers and %" PRIu64
                  " for what dispatches at once",
                  s.name, s.text, architectural + at_once, architectural, at_once);
}

static int check_window(const struct core_config *c, struct error *err)
{
    if (c->issue_order == ISSUE_IN_ORDER_SERIAL && c->dispatch_bundle > 1)
        return refuse(c, err, INVOLVED(FIELD(issue_order), FIELD(dispatch_bundle), NOTHING),
                      "issue.order in_order_serial needs a dispatch.bundle of 0 or 1, not %" PRIu64
                      ": instructions of a bundle would wait for each other's commit",
                      c->dispatch_bundle);
    int code = check_registers(c, FIELD(rename_int_regs), 31, err);
    return code ? code : check_registers(c, FIELD(rename_fp_regs), 32, err);
}

/* ---- tables with sets: predictors and TLBs */

static const struct table {
    const char *name;
    size_t entries, ways;
} tables[] = {
    {"the BTB", FIELD(branch_btb_entries), FIELD(branch_btb_ways)},
    {"itlb", FIELD(itlb_entries), FIELD(itlb_ways)},
    {"dtlb", FIELD(dtlb_entries), FIELD(dtlb_ways)},
    {"l2tlb", FIELD(l2tlb_entries), FIELD(l2tlb_ways)},
};

static int check_tables(const struct core_config *c, struct error *err)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const struct table *t = &tables[i];
        struct shown entries = show(c, t->entries), ways = show(c, t->ways);
        const struct involved *who = INVOLVED((long)t->entries, (long)t->ways, NOTHING);
        if (entries.value % ways.value != 0)
            return refuse(c, err, who, "%s (%s) must be a multiple of %s (%s)", entries.name, entries.text, ways.name,
                          ways.text);
        if (entries.value != 0 && !is_power_of_two(entries.value / ways.value))
            return refuse(c, err, who,
                          "%s has %" PRIu64 " sets (%s entries / %s ways): the number of sets must be a power of two",
                          t->name, entries.value / ways.value, entries.text, ways.text);
    }
    if (c->branch_tage_min_history >= c->branch_tage_max_history)
        return refuse(c, err, INVOLVED(FIELD(branch_tage_min_history), FIELD(branch_tage_max_history), NOTHING),
                      "branch.tage_min_history (%" PRIu64 ") must be less than branch.tage_max_history (%" PRIu64 ")",
                      c->branch_tage_min_history, c->branch_tage_max_history);
    if (c->branch_tage_max_history - c->branch_tage_min_history < c->branch_tage_tables - 1)
        return refuse(
            c, err, INVOLVED(FIELD(branch_tage_min_history), FIELD(branch_tage_max_history), FIELD(branch_tage_tables)),
            "%" PRIu64 " tables of TAGE need as many lengths of history, but from branch.tage_min_history to "
            "branch.tage_max_history there are %" PRIu64,
            c->branch_tage_tables, c->branch_tage_max_history - c->branch_tage_min_history + 1);
    return 0;
}

/* ---- caches */

enum { CACHE_LINES_MOST = 1 << 24 }; /* keeps the model of a cache far smaller than the host's memory */

static const struct level {
    const char *name;
    size_t size, ways, line, prefetch;
} levels[] = {
#define LEVEL(name)                                                                                                    \
    {                                                                                                                  \
#name, FIELD(name##_size), FIELD(name##_ways), FIELD(name##_line), FIELD(name##_prefetch)                      \
    }
    LEVEL(l1i),
    LEVEL(l1d),
    LEVEL(l2),
    LEVEL(l3),
#undef LEVEL
};
enum { L1I, L1D, L2, L3 };

static int check_level(const struct core_config *c, const struct level *l, struct error *err)
{
    struct shown size = show(c, l->size), ways = show(c, l->ways), line = show(c, l->line);
    struct shown prefetch = show(c, l->prefetch);
    const struct involved *who = INVOLVED((long)l->size, (long)l->ways, (long)l->line);
    if (size.value == 0 && prefetch.value != 0)
        return refuse(c, err, INVOLVED((long)l->size, (long)l->prefetch, NOTHING),
                      "%s is %s, but there is no such cache (%s is 0)", prefetch.name, prefetch.text, size.name);
    if (size.value == 0)
        return 0;
    uint64_t set_bytes = ways.value * line.value, sets = size.value / set_bytes;
    if (sets == 0)
        return refuse(c, err, who, "%s has no room for a set: %s ways x %s bytes are more than %s", l->name, ways.text,
                      line.text, size.text);
    if (size.value % set_bytes != 0)
        return refuse(c, err, who, "%s (%s) must be a multiple of %s ways x %s bytes", size.name, size.text, ways.text,
                      line.text);
    if (!is_power_of_two(sets))
        return refuse(c, err, who,
                      "%s has %" PRIu64 " sets (%s / (%s ways x %s bytes)): the number of sets must be a power of two",
                      l->name, sets, size.text, ways.text, line.text);
    if (size.value / line.value > CACHE_LINES_MOST)
        return refuse(c, err, who, "%s has %" PRIu64 " lines (%s / %s bytes): at most %d can be simulated", l->name,
                      size.value / line.value, size.text, line.text, CACHE_LINES_MOST);
    return 0;
}

/* A line must not be longer than a line of the next level. */
static int check_next(const struct core_config *c, const struct level *near, const struct level *far, struct error *err)
{
    struct shown small = show(c, near->line), large = show(c, far->line);
    if (show(c, far->size).value == 0 || small.value <= large.value)
        return 0;
    return refuse(c, err, INVOLVED((long)near->line, (long)far->line, (long)far->size),
                  "%s (%s) must not exceed %s (%s)", small.name, small.text, large.name, large.text);
}

static int check_caches(const struct core_config *c, struct error *err)
{
    static const struct {
        unsigned char near, far;
    } next[] = {{L1I, L2}, {L1D, L2}, {L2, L3}};
    int code = 0;
    for (size_t i = L1I; i <= L1D; i++)
        if (show(c, levels[i].size).value == 0)
            return refuse(c, err, INVOLVED((long)levels[i].size, NOTHING),
                          "%s.size must not be 0: every core has this cache (perfect.%s makes it always hit)",
                          levels[i].name, levels[i].name);
    if (c->l3_size != 0 && c->l2_size == 0)
        return refuse(c, err, INVOLVED(FIELD(l2_size), FIELD(l3_size), NOTHING),
                      "there is an l3 (l3.size is not 0), but no l2 (l2.size is 0)");
    for (size_t i = L1I; i <= L3 && code == 0; i++)
        code = check_level(c, &levels[i], err);
    for (size_t i = 0; i < sizeof next / sizeof next[0] && code == 0; i++)
        code = check_next(c, &levels[next[i].near], &levels[next[i].far], err);
    return code;
}

int core_config_check(const struct core_config *c, struct error *err)
{
    static int (*const checks[])(const struct core_config *, struct error *) = {
        check_ranges, check_powers_of_two, check_at_most, check_window, check_tables, check_caches};
    int code = 0;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && code == 0; i++)
        code = checks[i](c, err);
    return code;
}
