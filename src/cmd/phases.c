/* cyclescope phases: how a program behaves over time, and which parts of it stand for all of it. */
#include <errno.h>
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "report/phase_report.h"

enum { MOST_CLUSTERS = 1000 };

struct phases_options {
    struct guest_options guest;
    uint64_t interval, budget, max_clusters;
    bool early, quiet, help;
    const char *bb; /* a file to read instead of running a program */
    const char *write_bb, *simpoints, *weights, *json, *csv, *similarity, *functions, *svg, *dot;
};

struct phases_output {
    struct own_output own;
    struct own_file bb, simpoints, weights, json, csv, similarity, functions, svg, dot;
};

/* What the run came to; all zero for a file. */
struct phases_run {
    const char *source;
    int status;
    double seconds;
};

static int open_output(struct phases_output *to, const struct phases_options *o, struct error *err)
{
    int code = own_file_open(&to->bb, &to->own, "--write-bb", o->write_bb, err);
    code = code ? code : own_file_open(&to->simpoints, &to->own, "--simpoints", o->simpoints, err);
    code = code ? code : own_file_open(&to->weights, &to->own, "--weights", o->weights, err);
    code = code ? code : own_file_open(&to->json, &to->own, "--json", o->json, err);
    code = code ? code : own_file_open(&to->csv, &to->own, "--csv", o->csv, err);
    code = code ? code : own_file_open(&to->similarity, &to->own, "--similarity", o->similarity, err);
    code = code ? code : own_file_open(&to->functions, &to->own, "--functions", o->functions, err);
    code = code ? code : own_file_open(&to->svg, &to->own, "--svg", o->svg, err);
    return code ? code : own_file_open(&to->dot, &to->own, "--dot", o->dot, err);
}

/* The report's keys and what every command's document begins with. */
static json_t *document(const struct phase_report *r, const struct phases_run *run)
{
    json_t *root =
        json_pack("{s:s, s:s, s:s, s:i, s:I, s:{s:f, s:f}}", "command", "phases", "version", CYCLESCOPE_VERSION,
                  "program", run->source, "exit_status", run->status, "instructions", (json_int_t)r->set->insns, "host",
                  "seconds", run->seconds, "mips", run->seconds > 0 ? (double)r->set->insns / run->seconds / 1e6 : 0);
    json_t *found = root ? phase_report_json(r) : NULL;
    if (root)
        json_object_update(root, found);
    json_decref(found);
    return root;
}

static void write_pictures(struct phases_output *to, const struct phase_report *r)
{
    char title[256];
    snprintf(title, sizeof title, "phases of %s", r->source);
    if (to->svg.to)
        phase_report_svg(r, title, to->svg.to);
    if (to->dot.to)
        phase_report_dot(r, to->dot.to);
}

static void write_tables(struct phases_output *to, const struct phase_report *r)
{
    if (to->bb.to)
        bbv_write(r->set, to->bb.to);
    if (to->simpoints.to)
        clusters_write_simpoints(r->clusters, to->simpoints.to);
    if (to->weights.to)
        clusters_write_weights(r->clusters, to->weights.to);
    if (to->csv.to)
        phase_report_csv(r, to->csv.to);
    if (to->similarity.to)
        phase_report_similarity_csv(r, to->similarity.to);
    if (to->functions.to)
        phase_report_functions_csv(r, to->functions.to);
}

static int write_files(struct phases_output *to, const struct phase_report *r, const struct phases_run *run,
                       struct error *err)
{
    write_tables(to, r);
    write_pictures(to, r);
    struct own_file *written[] = {&to->bb,         &to->simpoints, &to->weights, &to->csv,
                                  &to->similarity, &to->functions, &to->svg,     &to->dot};
    int code = 0;
    for (unsigned k = 0; code == 0 && k < sizeof written / sizeof written[0]; k++)
        code = own_file_close(written[k], err);
    if (code || to->json.to == NULL)
        return code;
    return own_file_write_json(&to->json, document(r, run), err);
}

static bool needs_details(const struct phases_options *o)
{
    return !o->quiet || o->json || o->similarity || o->functions || o->svg || o->dot;
}

static int report(const struct phases_options *o, struct phases_output *to, const struct bbv_set *s,
                  const struct phases_run *run, struct error *err)
{
    struct phases phases = {0};
    struct clusters clusters = {0};
    struct cluster_options cluster = {(unsigned)o->max_clusters, o->guest.seed, o->early};
    uint64_t budget = o->budget / s->interval + (o->budget % s->interval != 0);
    projected *vector = bbv_project(s);
    int code = vector ? 0 : error_set(err, -ENOMEM, "out of memory for basic block vectors");
    if (code == 0)
        code = phases_analyse(s, (const projected *)vector, budget < s->count ? budget : s->count, &phases, err);
    if (code == 0)
        code = clusters_find(s, (const projected *)vector, &cluster, &clusters, err);
    free(vector);
    struct phase_report r = {.source = run->source, .set = s, .phases = &phases, .clusters = &clusters};
    if (code == 0)
        code = phase_report_begin(&r, needs_details(o), o->guest.config.sysroot, err);
    if (code == 0 && !o->quiet)
        phase_report_page(&r, to->own.err);
    if (code == 0)
        code = write_files(to, &r, run, err);
    phase_report_end(&r);
    clusters_free(&clusters);
    phases_free(&phases);
    fflush(to->own.err);
    return code;
}

static int run_process(const struct phases_options *o, struct phases_output *to, struct process *p)
{
    struct error err;
    struct bbv_set set = {0};
    double start = now_seconds();
    int code = bbv_profile(p, o->interval, &set, &err);
    if (process_is_child(p))
        end_as_child(p);
    if (code || process_loader_failed(p)) {
        bbv_free(&set);
        return code ? own_fail(&to->own, &err) : STATUS_OWN_ERROR;
    }
    struct phases_run run = {process_program(p), process_status(p), now_seconds() - start};
    tell_death(&to->own, p);
    code = report(o, to, &set, &run, &err);
    bbv_free(&set);
    return code ? own_fail(&to->own, &err) : run.status;
}

static int analyse_file(const struct phases_options *o, struct phases_output *to)
{
    struct error err;
    struct bbv_set set = {0};
    struct phases_run run = {.source = o->bb};
    int code = bbv_read(o->bb, &set, &err);
    if (code == 0)
        code = open_output(to, o, &err);
    if (code == 0)
        code = report(o, to, &set, &run, &err);
    bbv_free(&set);
    return code ? command_fail("%s", err.text) : 0;
}

static int run_program(struct phases_options *o, struct phases_output *to, char **argv)
{
    struct error err;
    struct process *p = NULL;
    offer_to_be_killed_first();
    if (guest_options_finish(&o->guest, argv, &err) == 0 && open_output(to, o, &err) == 0)
        p = process_new(&o->guest.config, &err);
    int status = p ? run_process(o, to, p) : command_fail("%s", err.text);
    process_free(p);
    return status;
}

int command_phases(int argc, char **argv)
{
    struct phases_options o = {.interval = 10000000, .max_clusters = 30};
    guest_options_init(&o.guest);
    const struct option table[] = {
        {"interval", OPTION_COUNT, &o.interval, "N", "instructions of each basic block vector (10M)"},
        {"budget", OPTION_COUNT, &o.budget, "N", "also find the best stretch of N instructions"},
        {"max-k", OPTION_NUMBER, &o.max_clusters, "K", "most points by clustering (30)"},
        {"early", OPTION_FLAG, &o.early, NULL, "prefer points that come early in the run"},
        {"bb", OPTION_STRING, &o.bb, "FILE", "analyse the vectors of a .bb file instead of running a program"},
        {"write-bb", OPTION_STRING, &o.write_bb, "FILE", "write the vectors in SimPoint's .bb format"},
        {"simpoints", OPTION_STRING, &o.simpoints, "FILE", "write the points as SimPoint does"},
        {"weights", OPTION_STRING, &o.weights, "FILE", "write their weights as SimPoint does"},
        {"json", OPTION_STRING, &o.json, "FILE", "write everything as JSON; - is standard output"},
        {"csv", OPTION_STRING, &o.csv, "FILE", "write a row for each interval; - is standard output"},
        {"similarity", OPTION_STRING, &o.similarity, "FILE", "write the similarity matrix as CSV"},
        {"functions", OPTION_STRING, &o.functions, "FILE", "write the functions of each phase as CSV"},
        {"svg", OPTION_STRING, &o.svg, "FILE", "draw the graphs, the phases over time and the similarity matrix"},
        {"dot", OPTION_STRING, &o.dot, "FILE", "write the call graph of each phase for Graphviz"},
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print no page"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        GUEST_OPTION_ROWS(&o.guest),
    };
    int first, status;
    if (!command_begins(table, sizeof table / sizeof table[0], argc, argv, &o.help,
                        "usage: cyclescope phases [options] [--] PROGRAM [ARGUMENTS]\n"
                        "       cyclescope phases [options] --bb FILE\n\n"
                        "Counts basic blocks at full speed, and finds initialization, periods and the parts of\n"
                        "the run that are worth simulating.\n\noptions:",
                        &first, &status)) {
        guest_options_free(&o.guest);
        return status;
    }
    struct phases_output to = {0};
    if (o.interval == 0 || o.interval > INT64_MAX)
        status = command_fail("--interval is to be at least one instruction");
    else if (o.max_clusters == 0 || o.max_clusters > MOST_CLUSTERS)
        status = command_fail("--max-k is to be 1 to %d", MOST_CLUSTERS);
    else if (o.bb && (o.functions || o.dot))
        status = command_fail("%s needs a program: a .bb file has no addresses", o.dot ? "--dot" : "--functions");
    else if (o.bb && first < argc)
        status = command_fail("--bb reads a file: there is no program to run beside it ('%s')", argv[first]);
    else {
        own_output_open(&to.own);
        status = o.bb ? analyse_file(&o, &to) : run_program(&o, &to, argv + first);
    }
    guest_options_free(&o.guest);
    return status;
}
