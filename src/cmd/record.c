/* cyclescope record: samples a program on a simulated core and writes a profile. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clean_text.h"
#include "cmd/program_command.h"
#include "cmd/simulation_run.h"
#include "profile/recorder.h"
#include "pmu/fit.h"
#include "pmu/pmu.h"
#include "report/json_text.h"

enum { CYCLES_PERIOD = 20000, EVENT_PERIOD = 1000, PROFILEME_PERIOD = 10000 };

struct record_options {
    struct program_options common;
    struct option_list events;
    const char *output;
    uint64_t count, frequency, pairs, seed;
    bool precise, profileme, oracle, data, truth, fixed;
    struct event_specs specs;
    struct recorder_config config;
    struct output_file file; /* the profile */
};

static int choose_mode(void *options, struct error *err)
{
    struct record_options *o = options;
    struct recorder_config *k = &o->config;
    if (o->precise + o->profileme + o->oracle > 1)
        return error_set(err, -EINVAL, "--precise, --profileme and --oracle are different ways to sample: give one");
    if (o->profileme && o->events.count)
        return error_set(
            err, -EINVAL,
            "--profileme samples instructions and needs no -e: a sample has all events of its instruction");
    if (o->pairs && !o->profileme)
        return error_set(err, -EINVAL, "--pairs needs --profileme");
    if (o->pairs > RECORD_PAIRS_MOST)
        return error_set(err, -EINVAL, "--pairs %" PRIu64 " is too far: it must be at most %d", o->pairs,
                         RECORD_PAIRS_MOST);
    if (o->truth && (o->profileme || o->oracle))
        return error_set(err, -EINVAL, "--truth is for samples by counters: --profileme and --oracle are exact anyway");
    if (o->profileme && o->frequency)
        return error_set(err, -EINVAL, "-F is for cycles: use -c with --profileme");
    if (o->count && o->frequency)
        return error_set(err, -EINVAL, "-c and -F both say how often to sample: give one");
    if (o->oracle && (o->count || o->frequency))
        return error_set(err, -EINVAL, "--oracle counts every event and takes no -c or -F");
    if (o->data && o->profileme)
        return error_set(err, -EINVAL, "--profileme records data addresses anyway: leave --data out");
    k->mode = o->profileme            ? RECORD_PROFILEME
              : o->oracle             ? RECORD_ORACLE
              : o->precise || o->data ? RECORD_PRECISE
                                      : RECORD_INTERRUPT;
    k->addresses = o->data;
    k->truth = o->truth;
    k->fixed = o->fixed;
    k->pair_window = o->pairs;
    k->seed = o->seed;
    return 0;
}

/* Sets the period in events. -F gives samples per second of the core's clock. */
static int choose_period(struct record_options *o, struct error *err)
{
    struct recorder_config *k = &o->config;
    k->period = o->count ? o->count : o->profileme ? PROFILEME_PERIOD : EVENT_PERIOD;
    if (k->period > RECORD_PERIOD_MOST)
        return error_set(err, -EINVAL, "-c %" PRIu64 " is too much: the longest period is %" PRIu64 " events",
                         k->period, RECORD_PERIOD_MOST);
    if (o->frequency == 0)
        return 0;
    uint64_t hertz = o->common.core.config.clock_mhz * 1000000;
    if (o->frequency > hertz / 2)
        return error_set(err, -EINVAL, "-F %" PRIu64 " is more than half of the core's clock, %" PRIu64 " MHz",
                         o->frequency, o->common.core.config.clock_mhz);
    k->period = hertz / o->frequency;
    return 0;
}

static int choose_events(struct record_options *o, struct error *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < o->events.count; i++)
        code = event_specs_parse(&o->specs, o->events.value[i], err);
    if (code == 0 && o->events.count == 0 && !o->profileme)
        code = event_specs_parse(&o->specs, o->data ? "l1d_misses" : "cycles", err);
    for (size_t i = 0; code == 0 && i < o->specs.count; i++) {
        struct event_spec *s = &o->specs.of[i];
        if (o->count + o->frequency + s->period == 0 && pmu_counts_cycles(s))
            s->period = CYCLES_PERIOD;
        if (s->period == 0)
            s->period = o->config.period;
        if (s->period > RECORD_PERIOD_MOST)
            code = error_set(err, -EINVAL, "period=%" PRIu64 " is too much: the longest period is %" PRIu64 " events",
                             s->period, RECORD_PERIOD_MOST);
        else if (o->frequency && strcmp(s->event->name, "cycles") != 0)
            code = error_set(err, -EINVAL, "-F is for cycles: use -c with %s", s->text);
        else if (o->data && !s->event->addressed)
            code = error_set(err, -EINVAL, "--data: %s has no data address", s->text);
    }
    o->config.specs = &o->specs;
    return code;
}

/* Writes what is known before the run to the profile. */
static void describe(const struct record_options *o, struct profile_writer *to)
{
    char *const *argv = o->common.guest.config.argv;
    char words[4096] = "", seed[24], root[PATH_MAX] = "";
    if (o->common.guest.config.sysroot && realpath(o->common.guest.config.sysroot, root) == NULL)
        root[0] = '\0';
    for (size_t used = 0, i = 1; argv[0] && argv[i] && used < sizeof words; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? " " : "", argv[i]);
    snprintf(seed, sizeof seed, "%" PRIu64, o->seed);
    const struct profile_info info[] = {{"version", CYCLESCOPE_VERSION},
                                        {"core", o->common.core.config.name},
                                        {"arguments", words},
                                        {"mode", record_mode_name(o->config.mode)},
                                        {"sysroot", root},
                                        {"seed", seed}};
    for (size_t i = 0; i < sizeof info / sizeof info[0]; i++)
        profile_write(to, &(struct profile_record){.kind = PROFILE_INFO, .info = info[i]});
}

/* Writes what is known after the run to the profile. */
static void describe_run(const struct run_report *run, const struct recorder_totals *t, struct profile_writer *to)
{
    char insns[24], cycles[24];
    snprintf(insns, sizeof insns, "%" PRIu64, t->instructions);
    snprintf(cycles, sizeof cycles, "%" PRIu64, t->cycles);
    const struct profile_info info[] = {{"program", run->program}, {"instructions", insns}, {"cycles", cycles}};
    for (size_t i = 0; i < sizeof info / sizeof info[0]; i++)
        profile_write(to, &(struct profile_record){.kind = PROFILE_INFO, .info = info[i]});
    json_t *argv = texts_json(run->arguments, run->argument_bytes);
    char *text = json_dumps(argv, JSON_COMPACT);
    struct profile_info more[] = {{"argv", text}, {"interrupted", sigabbrev_np(run->interrupted)}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (more[i].value)
            profile_write(to, &(struct profile_record){.kind = PROFILE_INFO, .info = more[i]});
    free(text);
    json_decref(argv);
}

static int record_run(struct record_options *o, const struct own_output *own, struct process *p,
                      struct profile_writer *to, struct recorder *r)
{
    struct run_report run;
    struct recorder_totals totals;
    struct error err;
    o->common.core.simulation.observer = recorder_observer(r);
    o->common.core.simulation.sum = recorder_sum(r);
    if (run_simulation(p, &o->common.core.simulation, own, o->common.quiet, &run, &err) != 0) {
        profile_writer_abandon(to);
        return own_fail(own, &err);
    }
    int status = simulation_status(p, &run);
    if (recorder_finish(r, &totals, &err) != 0) {
        profile_writer_abandon(to);
        return own_fail(own, &err);
    }
    describe_run(&run, &totals, to);
    if (profile_writer_close(to, &err) != 0 || output_file_close(&o->file, &err) != 0)
        return own_fail(own, &err);
    if (!o->common.quiet) {
        report_death(own, p);
        clean_print(o->output, own->err);
        fprintf(own->err, ": %" PRIu64 " %s%s of %" PRIu64 " instructions in %" PRIu64 " cycles\n", totals.samples,
                o->oracle ? "place" : "sample", totals.samples == 1 ? "" : "s", totals.instructions, totals.cycles);
        run_report_print_interruption(&run, own->err);
        fflush(own->err);
    }
    return status;
}

/* The profile is opened only after the program was started: if that fails, an existing profile must stay. */
static int record_process(void *options, const struct own_output *own, struct process *p)
{
    struct record_options *o = options;
    FILE *file;
    struct error err;
    struct profile_writer *to = NULL;
    if (own_stream_open(&o->file, &file, own, "--output", o->output, &err) == 0)
        to = profile_writer_new(file, &err);
    if (to == NULL)
        return own_fail(own, &err);
    describe(o, to);
    struct recorder *r = recorder_new(&o->config, &o->common.core.config, process_memory(p), to, &err);
    if (r == NULL) {
        profile_writer_abandon(to);
        return own_fail(own, &err);
    }
    int status = record_run(o, own, p, to, r);
    recorder_free(r);
    return status;
}

static int configure(void *options, struct error *err)
{
    struct record_options *o = options;
    int code = choose_period(o, err);
    if (code == 0)
        code = choose_events(o, err);
    return code == 0 ? pmu_check_rules(&o->common.core.config, err) : code;
}

static int check_output(void *options, const struct own_output *own, struct error *err)
{
    struct record_options *o = options;
    if (strcmp(o->output, "-") == 0 && isatty(fileno(own->out)))
        return error_set(err, -EINVAL, "--output -: a profile is binary: redirect standard output to a file");
    return own_file_check(own, "--output", o->output, err);
}

int command_record(int argc, char **argv)
{
    struct record_options o = {.output = "cyclescope.prof", .seed = 1};
    program_options_init(&o.common);
    const struct option table[] = {
        {"e,event", OPTION_LIST, &o.events, "EVENTS", "events to sample (cycles); see `list events`"},
        {"c,period", OPTION_POSITIVE, &o.count, "N",
         "take a sample every N events (1000; cycles: 20000; --profileme: 10000 instructions)"},
        {"F,frequency", OPTION_POSITIVE, &o.frequency, "HZ", "instead of -c: samples per second of the core's clock"},
        {"o,output", OPTION_STRING, &o.output, "FILE", "profile to write (cyclescope.prof); - is standard output"},
        {"precise", OPTION_FLAG, &o.precise, NULL, "charge a sample to the instruction that caused it: no skid"},
        {"profileme", OPTION_FLAG, &o.profileme, NULL, "sample instructions, each with its whole history"},
        {"pairs", OPTION_POSITIVE, &o.pairs, "W",
         "with --profileme: also sample a second instruction, at most W after the first"},
        {"data", OPTION_FLAG, &o.data, NULL, "take precise samples of misses with their data addresses"},
        {"oracle", OPTION_FLAG, &o.oracle, NULL, "instead of sampling, charge every event (slow)"},
        {"truth", OPTION_FLAG, &o.truth, NULL, "samples also record which instruction caused them (slow)"},
        {"no-jitter", OPTION_FLAG, &o.fixed, NULL, "sample at periods of equal length"},
        {"sample-seed", OPTION_NUMBER, &o.seed, "N", "seed of the random periods (1)"},
        PROGRAM_OPTION_ROWS(&o.common),
        CORE_OPTION_ROWS(&o.common.core),
        GUEST_OPTION_ROWS(&o.common.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    static const struct program_steps steps = {
        .check = choose_mode, .simulates = true, .configure = configure, .open = check_output, .run = record_process};
    int first, status;
    if (command_parse(
            table, ROWS, argc, argv, &o.common.help,
            "usage: cyclescope record [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Runs a 64-bit RISC-V Linux program on a simulated out-of-order core and writes a profile for\n"
            "`cyclescope report` and `cyclescope annotate`. Exits with the program's exit status (125: error of\n"
            "Cyclescope, 0: --max-insns ended the run).\n\noptions:",
            &first, &status))
        status = run_program(&o.common, argv + first, &steps, &o);
    event_specs_free(&o.specs);
    option_list_free(&o.events);
    program_options_free(&o.common);
    return status;
}
