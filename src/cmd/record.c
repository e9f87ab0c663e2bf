/* cyclescope record: a profile of a program on a simulated core. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "cmd/simulation_run.h"
#include "monitor/recorder.h"
#include "pmu/fit.h"
#include "pmu/pmu.h"

enum { CYCLES_PERIOD = 20000, EVENT_PERIOD = 1000, PROFILEME_PERIOD = 10000 };

struct record_options {
    struct guest_options guest;
    struct core_options core;
    struct option_list events;
    const char *output;
    uint64_t count, frequency, pairs, seed;
    bool precise, profileme, oracle, data, truth, fixed, quiet, help;
    struct event_specs specs;
    struct recorder_config config;
};

static int choose_mode(struct record_options *o, struct error *err)
{
    struct recorder_config *k = &o->config;
    if (o->precise + o->profileme + o->oracle > 1)
        return error_set(err, -EINVAL, "--precise, --profileme and --oracle are different ways to sample: give one");
    if (o->profileme && o->events.count)
        return error_set(err, -EINVAL, "--profileme samples instructions and needs no -e: their histories tell events");
    if (o->pairs && !o->profileme)
        return error_set(err, -EINVAL, "--pairs needs --profileme");
    if (o->pairs > RECORD_PAIRS_MOST)
        return error_set(err, -EINVAL, "--pairs %" PRIu64 " is too far: at most %d", o->pairs, RECORD_PAIRS_MOST);
    if (o->truth && (o->profileme || o->oracle))
        return error_set(err, -EINVAL, "--truth is for samples by counters: --profileme and --oracle tell it anyway");
    if (o->profileme && o->frequency)
        return error_set(err, -EINVAL, "-F is for cycles: use -c with --profileme");
    if (o->count && o->frequency)
        return error_set(err, -EINVAL, "-c and -F both say how often to sample: give one");
    if (o->oracle && (o->count || o->frequency))
        return error_set(err, -EINVAL, "--oracle counts every event and takes no -c or -F");
    if (o->data && o->profileme)
        return error_set(err, -EINVAL, "--profileme tells data addresses anyway: leave --data out");
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

/* Samples a second, at the core's clock. */
static int choose_period(struct record_options *o, struct error *err)
{
    struct recorder_config *k = &o->config;
    k->period = o->count ? o->count : o->profileme ? PROFILEME_PERIOD : EVENT_PERIOD;
    if (k->period > RECORD_PERIOD_MOST)
        return error_set(err, -EINVAL, "-c %" PRIu64 " is too much: a sample at least every %" PRIu64 " events",
                         k->period, RECORD_PERIOD_MOST);
    if (o->frequency == 0)
        return 0;
    uint64_t hertz = o->core.config.clock_mhz * 1000000;
    if (o->frequency > hertz / 2)
        return error_set(err, -EINVAL, "-F %" PRIu64 " is more than half of the core's clock, %" PRIu64 " MHz",
                         o->frequency, o->core.config.clock_mhz);
    k->period = hertz / o->frequency;
    return 0;
}

static int choose_events(struct record_options *o, struct error *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < o->events.count; i++)
        code = event_specs_parse(&o->specs, o->events.value[i], err);
    if (code == 0 && o->events.count == 0 && !o->profileme)
        code = event_specs_parse(&o->specs, o->data ? "l1d-misses" : "cycles", err);
    for (size_t i = 0; code == 0 && i < o->specs.count; i++) {
        struct event_spec *s = &o->specs.of[i];
        if (o->count + o->frequency + s->period == 0 && pmu_counts_cycles(s))
            s->period = CYCLES_PERIOD;
        if (s->period == 0)
            s->period = o->config.period;
        if (s->period > RECORD_PERIOD_MOST)
            code = error_set(err, -EINVAL, "period=%" PRIu64 " is too much: a sample at least every %" PRIu64 " events",
                             s->period, RECORD_PERIOD_MOST);
        else if (o->frequency && strcmp(s->event->name, "cycles") != 0)
            code = error_set(err, -EINVAL, "-F is for cycles: use -c with %s", s->text);
        else if (o->data && !s->event->addressed)
            code = error_set(err, -EINVAL, "--data: %s has no data address", s->text);
    }
    o->config.specs = &o->specs;
    return code;
}

static void describe(const struct record_options *o, char **argv, struct profile_writer *to)
{
    char words[4096] = "", seed[24], root[PATH_MAX] = "";
    if (o->guest.config.sysroot && realpath(o->guest.config.sysroot, root) == NULL)
        root[0] = '\0';
    for (size_t used = 0, i = 1; argv[0] && argv[i] && used < sizeof words; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? " " : "", argv[i]);
    snprintf(seed, sizeof seed, "%" PRIu64, o->seed);
    const struct profile_info info[] = {{"version", CYCLESCOPE_VERSION},
                                        {"core", o->core.config.name},
                                        {"arguments", words},
                                        {"mode", record_mode_name(o->config.mode)},
                                        {"sysroot", root},
                                        {"seed", seed}};
    for (size_t i = 0; i < sizeof info / sizeof info[0]; i++)
        profile_write(to, &(struct profile_record){.kind = PROFILE_INFO, .info = info[i]});
}

static void describe_run(const struct run_report *run, const struct recorder_totals *t, struct profile_writer *to)
{
    char insns[24], cycles[24];
    snprintf(insns, sizeof insns, "%" PRIu64, t->instructions);
    snprintf(cycles, sizeof cycles, "%" PRIu64, t->cycles);
    const struct profile_info info[] = {{"program", run->program}, {"instructions", insns}, {"cycles", cycles}};
    for (size_t i = 0; i < sizeof info / sizeof info[0]; i++)
        profile_write(to, &(struct profile_record){.kind = PROFILE_INFO, .info = info[i]});
}

static int record_run(struct record_options *o, const struct own_output *own, struct process *p,
                      struct profile_writer *to, struct recorder *r)
{
    struct run_report run;
    struct recorder_totals totals;
    struct error err;
    o->core.simulation.observer = recorder_observer(r);
    o->core.simulation.sum = recorder_sum(r);
    if (run_simulation(p, &o->core.simulation, own, o->quiet, &run, &err) != 0) {
        profile_writer_abandon(to);
        return own_fail(own, &err);
    }
    int status = simulation_status(p, &run);
    if (recorder_finish(r, &totals, &err) != 0) {
        profile_writer_abandon(to);
        return own_fail(own, &err);
    }
    describe_run(&run, &totals, to);
    if (profile_writer_close(to, &err) != 0)
        return own_fail(own, &err);
    if (!o->quiet) {
        tell_death(own, p);
        fprintf(own->err, "%s: %" PRIu64 " %s of %" PRIu64 " instructions in %" PRIu64 " cycles\n", o->output,
                totals.samples, o->oracle ? "places" : "samples", totals.instructions, totals.cycles);
        fflush(own->err);
    }
    return status;
}

static int record_process(struct record_options *o, const struct own_output *own, struct process *p, FILE *file,
                          char **argv)
{
    struct error err;
    struct profile_writer *to = profile_writer_new(file, &err);
    if (to == NULL)
        return own_fail(own, &err);
    describe(o, argv, to);
    struct recorder *r = recorder_new(&o->config, &o->core.config, process_memory(p), to, &err);
    if (r == NULL) {
        profile_writer_abandon(to);
        return own_fail(own, &err);
    }
    int status = record_run(o, own, p, to, r);
    recorder_free(r);
    return status;
}

static int check_output(const struct record_options *o, const struct own_output *own, struct error *err)
{
    if (strcmp(o->output, "-") == 0 && isatty(fileno(own->out)))
        return error_set(err, -EINVAL, "--output -: a profile is nothing for a terminal");
    return 0;
}

static int record_program(struct record_options *o, char **argv)
{
    struct own_output own;
    struct own_file file = {0};
    struct process *p = NULL;
    struct error err;
    own_output_open(&own);
    offer_to_be_killed_first();
    if (choose_mode(o, &err) == 0 && core_options_finish(&o->core, &err) == 0 && choose_period(o, &err) == 0 &&
        choose_events(o, &err) == 0 && pmu_check_rules(&o->core.config, &err) == 0 &&
        guest_options_finish(&o->guest, argv, &err) == 0 && check_output(o, &own, &err) == 0)
        p = process_new(&o->guest.config, &err);
    /* A program that is not there must not cost the profile before. */
    int status = p && own_file_open(&file, &own, "--output", o->output, &err) == 0
                     ? record_process(o, &own, p, file.to, argv)
                     : own_fail(&own, &err);
    process_free(p);
    return status;
}

int command_record(int argc, char **argv)
{
    struct record_options o = {.output = "cyclescope.prof", .seed = 1};
    guest_options_init(&o.guest);
    core_options_init(&o.core);
    const struct option table[] = {
        {"e,event", OPTION_LIST, &o.events, "EVENTS", "what to sample (cycles); `list events` has them"},
        {"c,count", OPTION_COUNT, &o.count, "N",
         "a sample every N events (1000; cycles: 20000; --profileme: 10000 insns)"},
        {"F,frequency", OPTION_COUNT, &o.frequency, "HZ", "instead, samples per second of the core's clock"},
        {"o,output", OPTION_STRING, &o.output, "FILE", "the profile (cyclescope.prof); - is standard output"},
        {"precise", OPTION_FLAG, &o.precise, NULL, "charge the instruction that caused it: no skid"},
        {"profileme", OPTION_FLAG, &o.profileme, NULL, "sample instructions, each with its whole history"},
        {"pairs", OPTION_COUNT, &o.pairs, "W", "with --profileme: a second one, at most W behind the first"},
        {"data", OPTION_FLAG, &o.data, NULL, "precise samples of misses with their data addresses"},
        {"oracle", OPTION_FLAG, &o.oracle, NULL, "no sampling: charge every event (slow)"},
        {"truth", OPTION_FLAG, &o.truth, NULL, "samples also say which instruction caused them (slow)"},
        {"no-jitter", OPTION_FLAG, &o.fixed, NULL, "periods of equal length"},
        {"sample-seed", OPTION_NUMBER, &o.seed, "N", "of the random periods (1)"},
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print nothing"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        CORE_OPTION_ROWS(&o.core),
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_begins(
            table, ROWS, argc, argv, &o.help,
            "usage: cyclescope record [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Runs a 64-bit RISC-V Linux program on a simulated out-of-order core and writes a profile for\n"
            "`cyclescope report` and `cyclescope annotate`. Passes the program's exit status through (125 for\n"
            "an error of Cyclescope's own, 0 when --max-insns ends the run).\n\noptions:",
            &first, &status))
        status = record_program(&o, argv + first);
    event_specs_free(&o.specs);
    option_list_free(&o.events);
    core_options_free(&o.core);
    guest_options_free(&o.guest);
    return status;
}
