#include "cmd/sampled_simulation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "cmd/progress.h"
#include "cmd/sampled_refine.h"
#include "cmd/simulation_run.h"
#include "phases/choose.h"
#include "phases/head_start.h"
#include "phases/kept.h"

/* Context of the callbacks of a pass: the progress line, and the file of --keep. */
struct pass_context {
    struct status_line *line;      /* for progress; NULL: it is not shown */
    double begun, printed;         /* times: start of the run, last update of the line; in seconds */
    struct run_facts run;          /* of the whole run */
    size_t points;                 /* number of points; 0: unknown */
    struct kept *kept;             /* finished windows; NULL without --keep */
    struct saved_states *states;   /* NULL: there is only one pass */
    struct head_start *head_start; /* NULL: none */
};

static void show_progress(void *context, uint64_t insns, size_t done, size_t begun)
{
    struct pass_context *t = context;
    double now = now_seconds();
    if (t->line == NULL || now - t->printed < PROGRESS_MS / 1000.0)
        return;
    t->printed = now;
    char whole[40] = "", rest[40] = "";
    if (t->run.insns)
        snprintf(whole, sizeof whole, " of %.0f", (double)t->run.insns / 1e6);
    if (t->points && done)
        snprintf(rest, sizeof rest, ", %.0f s left", (now - t->begun) * ((double)t->points / (double)done - 1));
    status_line_draw(t->line, "%.0f%s million instructions, %zu of %zu windows%s", (double)insns / 1e6, whole, done,
                     t->points ? t->points : begun, rest);
}

static void keep_window(void *context, size_t i, const struct measured *m)
{
    struct pass_context *t = context;
    if (t->kept)
        kept_add(t->kept, i, m->number);
}

static const uint64_t *find_kept(void *context, size_t i)
{
    const struct pass_context *t = context;
    return t->kept ? kept_find(t->kept, i) : NULL;
}

/* ---- identity of a run, for --keep */

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text, strlen(text) + 1);
}

/* Returns a hash that identifies the run: version, arguments, seed, core, windows and number of counts. The file of
 * --keep stores it, so that windows of another run are not used. */
static uint64_t key_of(const struct process *p, const struct points *points, const struct simulation *s)
{
    const struct process_config *c = process_configuration(p);
    uint64_t hash = mix_text(UINT64_C(0xcbf29ce484222325), CYCLESCOPE_VERSION), counted = s->sum ? s->sum->count : 0;
    for (char *const *a = c->argv; a && *a; a++)
        hash = mix_text(hash, *a);
    for (size_t i = 0; i < core_param_count; i++) {
        char value[64];
        param_text(s->core, &core_params[i], value, sizeof value);
        hash = mix_text(hash, value);
    }
    for (size_t i = 0; i < points->count; i++)
        hash = mix(hash, &points->point[i].window, sizeof points->point[i].window);
    uint64_t rest[] = {points->period,  points->insns,   points->lead, points->head, points->second_every,
                       points->covered, s->warmup_insns, counted,      c->seed,      points->stretch};
    return mix(hash, rest, sizeof rest);
}

/* ---- the run */

enum {
    SECOND_LEADS = 3,   /* points: lead of the second measurement, in multiples of the usual one */
    HEAD_PERIODS = 100, /* assumed length of a run of unknown length, in periods, to choose the head */
};
#define PERIOD_USUAL UINT64_C(1000000)   /* instructions of a period of a run of unknown length */
#define RUN_SHORT    UINT64_C(100000000) /* runs up to this length are simulated whole: a sample takes about as long */

/* The windows of a systematic sample. `insns` is the length of the run; 0: unknown. */
static void choose_systematic(const struct points_options *o, uint64_t insns, struct points *to)
{
    uint64_t windows = o->precision > 0 ? CHOOSE_FIRST : CHOOSE_WINDOWS;
    uint64_t period = o->period ? o->period : insns ? insns / windows : PERIOD_USUAL;
    uint64_t units = period / o->window;
    to->insns = o->window;
    to->period = (units < 2 ? 2 : units) * o->window;
    to->head = choose_head(insns ? insns : HEAD_PERIODS * to->period);
    choose_stretches(insns, to);
    to->second_every = insns / to->period / CHOOSE_TWICE;
    if (insns && to->second_every == 0)
        to->second_every = 1;
}

/* Whether all of a run of this length should be simulated: it is short, and the user did not say how many windows there
 * are; or windows of the length that the user gave would be half of it. */
static bool should_be_whole(const struct points_options *o, const struct simulation *s, uint64_t insns)
{
    uint64_t measured = CHOOSE_WINDOWS * (o->window + s->warmup_insns);
    return insns > 0 && !o->count && !o->period && (o->sized ? measured > insns / 2 : insns <= RUN_SHORT);
}

/* Chooses the windows. `*whole`: all of the run should be simulated. */
static int choose_points(struct process *p, const struct points_options *o, const struct simulation *simulation,
                         struct sampled_run *s, struct pass_context *t, bool *whole, struct error *err)
{
    struct points *to = &s->points;
    const bool again = o->precision > 0;
    struct choose_options choice = {.unit = o->window,
                                    .points = o->count ? o->count
                                              : again  ? CHOOSE_FIRST
                                                       : CHOOSE_WINDOWS,
                                    .per_phase = again ? CHOOSE_PER_PHASE_FIRST : CHOOSE_PER_PHASE,
                                    .seed = process_configuration(p)->seed};
    struct error unknown;
    *whole = false;
    to->lead = o->lead;
    choose_stretches(0, to);
    to->second_lead = SECOND_LEADS * o->lead;
    to->seed = choice.seed;
    if (o->points && strcmp(o->points, "auto") != 0)
        return points_read(to, o->points, o->weights, o->window, err);
    status_line_draw(t->line, o->systematic ? "counting instructions" : "looking for phases");
    if (o->systematic) {
        bool once = o->period && o->precision == 0; /* its length need not be known */
        if (once || run_facts_for(p, &t->run, &unknown) != 0)
            t->run = (struct run_facts){0};
        choose_systematic(o, t->run.insns, to);
        to->covered = t->run.insns;
        *whole = should_be_whole(o, simulation, t->run.insns);
        return 0;
    }
    int code = points_choose_for(p, &choice, to, &s->units, &t->run, err);
    choose_stretches(t->run.insns, to);
    *whole = should_be_whole(o, simulation, t->run.insns);
    return *whole ? 0 : code;
}

/* Lets the pass go on from the head start, if that has the same head. */
static void use_head_start(struct pass_context *t, struct pass *pass)
{
    if (t->head_start && pass->save && pass->points->head == choose_head(UINT64_MAX)) {
        pass->begun_units = head_start_end(t->head_start);
        pass->begun = t->head_start;
    } else if (t->head_start) {
        head_start_free(t->head_start);
        t->head_start = NULL;
        saved_forget(t->states, 0);
    }
}

static int run_pass(struct process *p, const struct points_options *o, struct simulation *s, struct pass_context *t,
                    struct sampled_run *sampled, struct error *err)
{
    struct pass pass = {.points = &sampled->points,
                        .simulation = s,
                        .jobs = (unsigned)o->jobs,
                        .rehearse = t->run.insns == 0 ? sampled->points.period == 0 : t->run.acts,
                        .progress = show_progress,
                        .done = keep_window,
                        .kept = find_kept,
                        .context = t};
    if (o->keep) {
        t->kept = kept_open(o->keep, key_of(p, &sampled->points, s), pass_numbers(&pass), err);
        if (t->kept == NULL)
            return -EINVAL;
    }
    struct error ignored;
    bool again = o->precision > 0 && t->run.insns;
    if (again && t->states &&
        saved_add(t->states, (unsigned)(t->run.insns / sampled->points.stretch) + 2, SAVED_BYTES / 4 * 3) == 0)
        pass.save = t->states;
    use_head_start(t, &pass);
    struct refine_context refine = {.precision = o->precision,
                                    .warmup_insns = s->warmup_insns,
                                    .second_lines = s->core->l2_size / s->core->l2_line,
                                    .line = t->line};
    if (again)
        refine.spares = spares_new(p, &pass);
    int code = pass_run(p, &pass, &sampled->result, err);
    int closed = kept_close(t->kept, code ? &ignored : err);
    if (code == 0)
        code = closed;
    if (code == 0)
        code = combine_prepare(sampled, err);
    if (code == 0 && !process_interruption(p))
        code = refine_run(&refine, sampled, err);
    spares_free(&refine.spares);
    status_line_clear(t->line);
    int finished = pass_finish(p, &pass, &sampled->result, code ? &ignored : err);
    if (code == 0)
        combine_count_strayed(sampled);
    return code ? code : finished;
}

/* Stores the estimates for the whole run where a full simulation would store its counts. */
static int fill_report(const struct sampled_run *sampled, struct simulation *s, struct run_report *report,
                       struct error *err)
{
    uint64_t *numbers = malloc(sampled->result.numbers * sizeof *numbers);
    if (numbers == NULL)
        return error_set(err, -ENOMEM, "out of memory for estimates");
    combine_numbers(sampled, numbers);
    memcpy(&report->result.counts, numbers, sizeof report->result.counts);
    report->result.counts.core.instructions = sampled->result.insns;
    if (s->sum)
        memcpy(s->sum->numbers, numbers + SIMULATION_NUMBERS, s->sum->count * sizeof *numbers);
    free(numbers);
    return 0;
}

/* Begins to warm while the instructions of the run are counted, if there is a processor for it. */
static void begin_early(struct process *p, const struct points_options *o, const struct simulation *s,
                        struct pass_context *t)
{
    bool given = o->count || o->period || o->keep || (o->points && strcmp(o->points, "auto") != 0);
    t->states = o->precision > 0 ? saved_new() : NULL;
    if (t->states && !given && o->jobs > 1 && saved_add(t->states, 1, SAVED_BYTES / 4) == 0)
        t->head_start = head_start_begin(p, s, choose_head(UINT64_MAX), o->window, t->states);
}

static void free_early(struct pass_context *t)
{
    head_start_free(t->head_start);
    saved_free(t->states);
    t->head_start = NULL;
    t->states = NULL;
}

int run_sampled(struct process *p, const struct points_options *o, struct simulation *s, const struct own_output *own,
                bool quiet, struct run_report *report, struct sampled_run *sampled, struct error *err)
{
    struct pass_context t = {.line = quiet ? NULL : own->line, .begun = now_seconds()};
    *sampled = (struct sampled_run){0};
    *report = (struct run_report){.version = CYCLESCOPE_VERSION, .simulation = s, .sampled = sampled};
    bool whole;
    begin_early(p, o, s, &t);
    int code = choose_points(p, o, s, sampled, &t, &whole, err);
    status_line_clear(t.line);
    if (code == 0 && whole) {
        free_early(&t);
        sampled_run_free(sampled);
        s->warmup_insns = 0;
        code = run_simulation(p, s, own, quiet, report, err);
        report->whole = true;
        return code;
    }
    t.points = sampled->points.count;
    if (code == 0)
        code = run_pass(p, o, s, &t, sampled, err);
    status_line_clear(t.line);
    if (process_interruption(p) && (code != 0 || sampled->result.insns == 0))
        code = error_set(err, -EINTR, "interrupted before a window was measured: there is no estimate");
    if (code == 0)
        code = fill_report(sampled, s, report, err);
    describe_process(report, p);
    report->seconds = now_seconds() - t.begun;
    if (code != 0)
        sampled_run_free(sampled);
    free_early(&t);
    return code;
}
