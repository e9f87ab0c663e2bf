/* cyclescope phases: finds the phases of a program, and the parts of a run that represent the whole run. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/program_command.h"
#include "cmd/progress.h"
#include "report/json_text.h"
#include "report/phase_report.h"

enum { MOST_CLUSTERS = 1000 };

static const uint64_t NOT_GIVEN = UINT64_MAX;

struct phases_output {
    struct output_file bb, simpoints, weights, json, csv, similarity, functions, svg, dot;
};

struct phases_options {
    struct program_options common;
    uint64_t interval, budget, max_clusters;
    bool early, by_insns;
    const char *weight; /* what vectors are made of; NULL: entries */
    const char *bb;     /* .bb file to read instead of running a program */
    const char *write_bb, *simpoints, *weights, *json, *csv, *similarity, *functions, *svg, *dot;
    struct phases_output output;
};

/* The run that the vectors come from; status and time are 0 if they come from a file. */
struct phases_run {
    const char *source;    /* name of the program or of the file */
    const char *arguments; /* of the program, each with a terminating zero; NULL: of a file */
    size_t argument_bytes;
    int status;
    int interrupted; /* signal from outside that ended the run early, or 0 */
    double seconds;
};

static int open_output(void *options, const struct own_output *own, struct error *err)
{
    struct phases_options *o = options;
    struct phases_output *to = &o->output;
    const struct {
        struct output_file *file;
        const char *option, *path;
    } files[] = {
        {&to->bb, "--write-bb", o->write_bb},
        {&to->simpoints, "--simpoints", o->simpoints},
        {&to->weights, "--weights", o->weights},
        {&to->json, "--json", o->json},
        {&to->csv, "--csv", o->csv},
        {&to->similarity, "--similarity", o->similarity},
        {&to->functions, "--functions", o->functions},
        {&to->svg, "--svg", o->svg},
        {&to->dot, "--dot", o->dot},
    };
    int code = 0;
    for (unsigned i = 0; code == 0 && i < sizeof files / sizeof files[0]; i++)
        code = own_file_open(files[i].file, own, files[i].option, files[i].path, err);
    return code;
}

/* Makes the JSON document: the keys that all commands have, then those of the report. */
static json_t *document(const struct phase_report *r, const struct phases_run *run)
{
    json_t *root = json_pack("{s:s, s:s, s:o, s:o, s:i, s:b, s:I, s:{s:f, s:f}}", "command", "phases", "version",
                             CYCLESCOPE_VERSION, "program", text_json(run->source), "argv",
                             texts_json(run->arguments, run->argument_bytes), "exit_status", run->status, "interrupted",
                             run->interrupted != 0, "instructions", (json_int_t)r->set->insns, "host", "seconds",
                             run->seconds, "mips", run->seconds > 0 ? (double)r->set->insns / run->seconds / 1e6 : 0);
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
    struct output_file *written[] = {&to->bb,         &to->simpoints, &to->weights, &to->csv,
                                     &to->similarity, &to->functions, &to->svg,     &to->dot};
    int code = 0;
    for (unsigned k = 0; code == 0 && k < sizeof written / sizeof written[0]; k++)
        code = output_file_close(written[k], err);
    if (code || to->json.to == NULL)
        return code;
    return own_file_write_json(&to->json, document(r, run), err);
}

static bool needs_details(const struct phases_options *o)
{
    return !o->common.quiet || o->json || o->similarity || o->functions || o->svg || o->dot;
}

static int report(struct phases_options *o, const struct own_output *own, const struct bbv_set *s,
                  const struct fine_signal *fine, const struct phases_run *run, struct error *err)
{
    struct phases phases = {0};
    struct clusters clusters = {0};
    struct cluster_options cluster = {(unsigned)o->max_clusters, o->common.guest.seed, o->early};
    uint64_t budget = o->budget / s->interval + (o->budget % s->interval != 0);
    projected *vector = bbv_project(s);
    int code = vector ? 0 : error_set(err, -ENOMEM, "out of memory for basic block vectors");
    if (code == 0)
        code = phases_analyse(s, fine, budget < s->count ? budget : s->count, &phases, err);
    if (code == 0)
        code = clusters_find(s, (const projected *)vector, &cluster, &clusters, err);
    free(vector);
    struct phase_report r = {
        .source = run->source, .interrupted = run->interrupted, .set = s, .phases = &phases, .clusters = &clusters};
    if (code == 0)
        code = phase_report_begin(&r, needs_details(o), o->common.guest.config.sysroot, err);
    if (code == 0 && !o->common.quiet)
        phase_report_page(&r, own_page(own), own_columns(own));
    if (code == 0)
        code = write_files(&o->output, &r, run, err);
    phase_report_end(&r);
    clusters_free(&clusters);
    phases_free(&phases);
    fflush(own->err);
    return code;
}

static void note_insns(void *context, uint64_t insns)
{
    progress_run(context, insns, 0);
}

static int run_process(void *options, const struct own_output *own, struct process *p)
{
    struct phases_options *o = options;
    struct error err;
    struct bbv_set set = {0};
    double start = now_seconds();
    struct fine_signal fine = {.weight = o->by_insns ? BBV_INSNS : BBV_ENTRIES};
    struct progress progress;
    progress_begin(&progress, o->common.quiet ? NULL : own->line, 0, 0);
    int code =
        bbv_profile_with(p, o->interval == NOT_GIVEN ? 0 : o->interval, &set, &fine, note_insns, &progress, &err);
    if (process_is_child(p))
        end_as_child(p);
    progress_end(&progress);
    if (code || process_loader_failed(p)) {
        fine_signal_free(&fine);
        bbv_free(&set);
        return code ? own_fail(own, &err) : STATUS_OWN_ERROR;
    }
    struct phases_run run = {.source = process_program(p),
                             .status = process_status(p),
                             .interrupted = process_interruption(p),
                             .seconds = now_seconds() - start};
    run.arguments = process_arguments(p, &run.argument_bytes);
    report_death(own, p);
    set.weight = fine.weight;
    code = report(o, own, &set, &fine, &run, &err);
    fine_signal_free(&fine);
    bbv_free(&set);
    return code ? own_fail(own, &err) : run.status;
}

static int analyze_file(struct phases_options *o)
{
    struct own_output own;
    struct error err;
    struct bbv_set set = {0};
    struct fine_signal fine = {0};
    struct phases_run run = {.source = o->bb};
    own_output_open(&own);
    own_input(&own, "--bb", o->bb);
    int code = bbv_read(o->bb, &set, &err);
    if (code == 0)
        code = open_output(o, &own, &err);
    if (code == 0 && fine_signal_of_set(&fine, &set) != 0)
        code = error_set(&err, -ENOMEM, "%s: out of memory for basic block vectors", o->bb);
    if (code == 0)
        code = own_page_open(&own, o->common.page, &err);
    if (code == 0)
        code = report(o, &own, &set, &fine, &run, &err);
    fine_signal_free(&fine);
    bbv_free(&set);
    int status = code ? command_fail("%s", err.text) : own_page_close(&own, 0);
    own_output_close(&own);
    return status;
}

static int check_and_run(struct phases_options *o, char **argv)
{
    static const struct program_steps steps = {.open = open_output, .run = run_process};
    if (o->interval == 0 || (o->interval > INT64_MAX && o->interval != NOT_GIVEN))
        return command_fail("--interval must be at least 1");
    o->by_insns = o->weight && strcmp(o->weight, "instructions") == 0;
    if (o->weight && !o->by_insns && strcmp(o->weight, "entries") != 0)
        return command_fail("--weight is entries or instructions, not '%s'", o->weight);
    if (o->bb && o->weight && !o->by_insns)
        return command_fail("--weight entries needs a program: a .bb file has instructions only");
    if (o->max_clusters == 0 || o->max_clusters > MOST_CLUSTERS)
        return command_fail("--max-k must be 1 to %d", MOST_CLUSTERS);
    if (o->bb && (o->functions || o->dot))
        return command_fail("%s needs a program: a .bb file contains no addresses", o->dot ? "--dot" : "--functions");
    if (o->bb && argv[0])
        return command_fail("--bb reads a file and runs no program: remove '%s'", argv[0]);
    return o->bb ? analyze_file(o) : run_program(&o->common, argv, &steps, o);
}

int command_phases(int argc, char **argv)
{
    struct phases_options o = {.interval = NOT_GIVEN, .max_clusters = 30};
    program_options_init(&o.common);
    const struct option table[] = {
        {"interval", OPTION_POSITIVE, &o.interval, "N",
         "instructions of an interval, which has one basic block vector (by the length of the run)"},
        {"weight", OPTION_STRING, &o.weight, "WHAT",
         "compare blocks by their entries, or by their instructions as SimPoint does"},
        {"budget", OPTION_COUNT, &o.budget, "N",
         "also find the N consecutive instructions that represent the run best"},
        {"max-k", OPTION_NUMBER, &o.max_clusters, "K", "largest number of clusters; each cluster gives a point (30)"},
        {"early", OPTION_FLAG, &o.early, NULL, "prefer points that come early in the run"},
        {"bb", OPTION_STRING, &o.bb, "FILE", "analyze the vectors of a .bb file instead of running a program"},
        {"write-bb", OPTION_STRING, &o.write_bb, "FILE", "write the vectors in SimPoint's .bb format"},
        {"simpoints", OPTION_STRING, &o.simpoints, "FILE", "write the points as SimPoint does"},
        {"weights", OPTION_STRING, &o.weights, "FILE", "write the weights of the points as SimPoint does"},
        {"json", OPTION_STRING, &o.json, "FILE", "write everything as JSON; - is standard output"},
        {"csv", OPTION_STRING, &o.csv, "FILE", "write a row for each interval; - is standard output"},
        {"similarity", OPTION_STRING, &o.similarity, "FILE", "write the similarity matrix as CSV"},
        {"functions", OPTION_STRING, &o.functions, "FILE", "write the functions of each phase as CSV"},
        {"svg", OPTION_STRING, &o.svg, "FILE", "draw the graphs, the phases over time and the similarity matrix"},
        {"dot", OPTION_STRING, &o.dot, "FILE", "write the call graph of each phase for Graphviz"},
        PAGE_OPTION_ROW(&o.common.page),
        {"quiet", OPTION_FLAG, &o.common.quiet, NULL, "print no report"},
        {"h,help", OPTION_FLAG, &o.common.help, NULL, "print this help"},
        GUEST_OPTION_ROWS(&o.common.guest),
    };
    int first, status;
    if (command_parse(table, sizeof table / sizeof table[0], argc, argv, &o.common.help,
                      "usage: cyclescope phases [options] [--] PROGRAM [ARGUMENTS]\n"
                      "       cyclescope phases [options] --bb FILE\n\n"
                      "Runs a program at full speed, counts its basic blocks, and finds its initialization, its\n"
                      "period and the parts of the run that are worth simulating.\n\noptions:",
                      &first, &status))
        status = check_and_run(&o, argv + first);
    program_options_free(&o.common);
    return status;
}
