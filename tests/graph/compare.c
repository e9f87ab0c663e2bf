/* compare: the dependence graph of a run, evaluated by src/graph, evaluated literally, and compared with simulations.
 *
 *     compare [--core NAME|FILE] [--set KEY=VALUE]... [--max-insns N] [--simulate] [--times N]
 *             [--times-in STRUCTURES] [--quick] [--show] [--jobs N] [--] PROGRAM [ARGUMENTS] | --restore FILE
 *
 * The vectors must agree with the literal evaluation in every set of real structures: what does not hold is a line on
 * standard output. With --simulate the program is also simulated on each of the idealized cores, and a table shows
 * predicted and simulated cycles. With --times N, a table shows the N places in the program at which the times of the
 * graph and of the simulation part most (times.h), in the set of structures that are real on the core: with
 * `--set perfect.branch=yes`, in one with perfect prediction. With --times-in the graph of the core as it is predicts
 * the core on which only the named structures are real (`l1i,branch`, or `none`), and that core is simulated. Exit
 * status 0, 1 if evaluations differ, 125 for other errors. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"
#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "guest/files.h"
#include "graph/base_lanes.h"
#include "graph/changed_nodes.h"
#include "graph/literal.h"
#include "graph/times.h"
#include "graph/what_if.h"
#include "stacks/reference.h"

enum { SETS = GRAPH_EVERYTHING + 1, LINES = 20 };

/* All instructions of a run, in memory. */
struct recording {
    struct held_insn *insns;
    uint64_t count, room;
    uint64_t *stores; /* numbers of instructions, by number of the store */
    uint64_t store_count, store_room, drained;
    struct literal_times *times; /* of the simulation, by instruction, if they are wanted */
    uint64_t ideal_count;        /* instructions that have retired on the core of --times-in */
    struct times_log log;
    uint64_t space;
    struct graph_core core;
    struct node_builder *builder;
};

struct comparison {
    struct core_options core;
    struct guest_options guest;
    bool simulate, quick, show, base;
    uint64_t jobs, time_rows;
    const char *times_in;
    unsigned times_real; /* the set of times_in, or of the structures that are real on the core */
    struct own_output own;
    struct recording recording;
    struct graph *graph;
    struct graph_cycles streamed; /* by the graph as commands use it */
    uint64_t *simulated;          /* by set, or by what-if, shared with the processes that simulate */
    struct option_list what_if_texts;
    struct what_ifs what_ifs;
    unsigned lines; /* of complaints */
};

static void *resized(void *p, uint64_t count, size_t size)
{
    p = realloc(p, count * size);
    if (p == NULL)
        abort();
    return p;
}

/* ---- recording */

static void on_begin(void *context, struct core *c, const struct core_counts *live)
{
    struct comparison *k = context;
    struct error err;
    (void)live;
    graph_core_init(&k->recording.core, &k->core.config);
    k->recording.space = core_warm_parts(c).space;
    k->recording.builder = node_builder_new(&k->recording.core, &k->core.config, &err);
    if (k->recording.builder == NULL)
        abort();
    node_builder_begin(k->recording.builder, c);
    graph_begin(k->graph, c);
}

static void on_retired(void *context, const struct retired_insn *r, uint64_t cycle)
{
    struct comparison *k = context;
    struct recording *c = &k->recording;
    if (c->count == c->room) {
        c->room = c->room ? 2 * c->room : 1 << 16;
        c->insns = resized(c->insns, c->room, sizeof *c->insns);
        c->times = resized(c->times, c->room, sizeof *c->times);
    }
    if (c->store_count == c->store_room) {
        c->store_room = c->store_room ? 2 * c->store_room : 1 << 16;
        c->stores = resized(c->stores, c->store_room, sizeof *c->stores);
    }
    if (r->code->flags & IS_STORE)
        c->stores[c->store_count++] = c->count;
    c->times[c->count] = c->log.of_slot[r->slot];
    c->times[c->count].committed = (int64_t)cycle;
    graph_hold(&c->insns[c->count++], r, c->space);
    graph_retired(k->graph, r);
    if (c->count % 256 == 0)
        graph_advance(k->graph, UINT64_MAX);
}

static void on_drained(void *context, uint32_t store, const struct data_access *a, uint64_t cycle)
{
    struct comparison *k = context;
    struct recording *c = &k->recording;
    if (c->drained < c->store_count && c->insns[c->stores[c->drained]].store == store)
        c->insns[c->stores[c->drained++]].drain = *a;
    (void)cycle;
    graph_drained(k->graph, store, a);
}

static void on_fetched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct comparison *k = context;
    times_fetched(&k->recording.log, v, cycle);
}

static void on_dispatched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct comparison *k = context;
    times_dispatched(&k->recording.log, v, cycle);
}

static void on_issued(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct comparison *k = context;
    times_issued(&k->recording.log, v, cycle);
}

static void on_completed(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct comparison *k = context;
    times_completed(&k->recording.log, v, cycle);
}

/* An instruction retires on the core of --times-in, which retires the same instructions as the core as it is. */
static void on_ideal_retired(void *context, const struct retired_insn *r, uint64_t cycle)
{
    struct comparison *k = context;
    struct recording *c = &k->recording;
    if (c->ideal_count == c->count || c->insns[c->ideal_count].pc != r->pc)
        abort();
    c->times[c->ideal_count] = c->log.of_slot[r->slot];
    c->times[c->ideal_count++].committed = (int64_t)cycle;
}

static void keep_cycles(void *context, const struct graph_cycles *cycles)
{
    struct comparison *k = context;
    k->streamed = *cycles;
}

/* ---- runs */

/* Runs the program on this core; ends the process if the guest forked it. */
static int simulate(struct comparison *c, const struct core_config *core, const struct core_observer *observer,
                    uint64_t *cycles, struct error *err)
{
    struct simulation_result result;
    struct simulation s = c->core.simulation;
    struct process *p = guest_options_start(&c->guest, err);
    if (p == NULL)
        return -EINVAL;
    s.core = core;
    s.observer = observer;
    int code = simulate_process(p, &s, &result, err);
    if (process_is_child(p))
        end_as_child(p);
    process_free(p);
    *cycles = result.counts.core.cycles;
    return code;
}

static struct reference_run run_of_set(unsigned real)
{
    static const struct {
        unsigned structure;
        enum component component;
    } row[] = {{GRAPH_L1I, COMPONENT_l1i},       {GRAPH_L2I, COMPONENT_l2i}, {GRAPH_ITLB, COMPONENT_itlb},
               {GRAPH_BRANCH, COMPONENT_branch}, {GRAPH_L1D, COMPONENT_l1d}, {GRAPH_L2D, COMPONENT_l2d},
               {GRAPH_DTLB, COMPONENT_dtlb}};
    struct reference_run run = {0};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++)
        run.real |= real & row[i].structure ? 1u << row[i].component : 0;
    return run;
}

/* A process opens the checkpoint for itself: descriptors that several processes inherit have one file position. */
static int reopen(struct comparison *c, struct error *err)
{
    if (c->guest.restore == NULL)
        return 0;
    c->guest.checkpoint = checkpoint_open(c->guest.restore, err);
    return c->guest.checkpoint ? 0 : -EINVAL;
}

/* The core of simulation i: of a set of real structures, or of a what-if. */
static struct core_config core_of(const struct comparison *c, unsigned i)
{
    struct reference_run run = run_of_set(i);
    return c->what_ifs.count ? c->what_ifs.of[i].core : reference_core(&c->core.config, &run);
}

/* Simulates all sets, in processes of their own, because what a guest does to descriptors and folders stays. If there
 * are what-ifs, simulates these instead. */
static int simulate_all(struct comparison *c, struct error *err)
{
    unsigned running = 0, count = c->what_ifs.count ? c->what_ifs.count : SETS;
    int status, failed = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!c->what_ifs.count && !graph_has_set(i))
            continue;
        pid_t pid = fork();
        if (pid < 0)
            return error_set(err, -errno, "no process for a simulation: %s", strerror(errno));
        if (pid == 0) {
            struct core_config core = core_of(c, i);
            _exit(reopen(c, err) != 0 || simulate(c, &core, NULL, &c->simulated[i], err) != 0);
        }
        if (++running >= c->jobs && wait(&status) > 0) {
            running--;
            failed |= status;
        }
    }
    while (wait(&status) > 0)
        failed |= status;
    return failed ? error_set(err, -ECHILD, "a simulation failed") : 0;
}

/* ---- what must hold, and what is shown */

static void must_equal(struct comparison *c, const char *what, unsigned real, uint64_t is, uint64_t should_be)
{
    if (is != should_be && c->lines++ < LINES)
        fprintf(c->own.out, "set %u: %s %" PRIu64 ", not %" PRIu64 "\n", real, what, is, should_be);
}

static void compare_evaluations(struct comparison *c, const struct graph_node *nodes)
{
    struct error err;
    struct recording *r = &c->recording;
    struct graph_cycles at_once;
    struct lanes *l = lanes_new(&r->core, &err);
    struct literal_times *times = resized(NULL, r->count + 1, sizeof *times);
    if (l == NULL)
        abort();
    lanes_evaluate(l, nodes, (unsigned)r->count);
    lanes_flush(l);
    lanes_cycles(l, r->count, &at_once);
    for (unsigned real = 0; real < SETS; real++) {
        if (!graph_has_set(real))
            continue;
        must_equal(c, "streamed", real, c->streamed.with[real], at_once.with[real]);
        if (!c->quick)
            must_equal(c, "vectors", real, at_once.with[real],
                       literal_evaluate(&r->core, nodes, r->count, real, times));
    }
    lanes_free(l);
    free(times);
}

/* The cycles of a what-if by the literal evaluation. */
static uint64_t evaluate_what_if(const struct recording *r, const struct what_if *w, const struct graph_node *nodes)
{
    struct graph_core core;
    struct node_changer changer;
    struct literal_times *times = resized(NULL, r->count + 1, sizeof *times);
    struct graph_node *changed = resized(NULL, r->count + 1, sizeof *changed);
    graph_core_init(&core, &w->core);
    if (!node_changer_init(&changer, &r->core, &core, w->changes))
        abort();
    for (uint64_t i = 0; i < r->count; i++) {
        changed[i] = nodes[i];
        node_change(&changer, &r->insns[i], &changed[i]);
    }
    uint64_t cycles = literal_evaluate_alone(&core, changed, r->count, core.real, times);
    node_changer_free(&changer);
    free(changed);
    free(times);
    return cycles;
}

/* `cycles`: of the simulation of the core as it is. */
static void show_what_ifs(struct comparison *c, const struct graph_node *nodes, uint64_t cycles)
{
    double real = (double)c->streamed.with[GRAPH_EVERYTHING], sum = 0;
    for (unsigned i = 0; i < c->what_ifs.count; i++) {
        uint64_t predicted = evaluate_what_if(&c->recording, &c->what_ifs.of[i], nodes);
        must_equal(c, c->what_ifs.of[i].text, i, c->streamed.what_if[i], predicted);
        if (!c->simulate)
            continue;
        double truth = (double)c->simulated[i], scaled = (double)predicted / real * (double)cycles;
        fprintf(c->own.out, "%12" PRIu64 " %12" PRIu64 " %+7.2f %% scaled %+7.2f %% change %+7.2f %%  %s\n", predicted,
                c->simulated[i], 100 * ((double)predicted / truth - 1), 100 * (scaled / truth - 1),
                100 * (truth / (double)cycles - 1), c->what_ifs.of[i].text);
        sum += fabs(scaled / truth - 1);
    }
    if (c->simulate)
        fprintf(c->own.out, "what-ifs: mean error %.2f %%\n", 100 * sum / c->what_ifs.count);
}

/* The cycles of all sets of limits of the base. */
static void compare_base(struct comparison *c, const struct graph_node *nodes)
{
    const struct recording *r = &c->recording;
    struct literal_times *times = resized(NULL, r->count + 1, sizeof *times);
    struct graph_node *changed = resized(NULL, r->count + 1, sizeof *changed);
    for (unsigned limits = 0; limits < GRAPH_LIMIT_SETS; limits++) {
        struct graph_core core = base_core(&r->core, limits);
        if (!graph_has_limits(limits))
            continue;
        for (uint64_t i = 0; i < r->count; i++) {
            changed[i] = nodes[i];
            base_change_node(&changed[i], i, limits);
        }
        uint64_t cycles = literal_evaluate_alone(&core, changed, r->count, 0, times);
        must_equal(c, "base", limits, c->streamed.base[limits], cycles);
        if (c->show)
            fprintf(c->own.out, "%12" PRIu64 "  limits %u\n", cycles, limits);
    }
    free(changed);
    free(times);
}

static void range_of(const uint64_t cycles[SETS], struct reference_range *range, int64_t paper[COMPONENTS])
{
    struct reference_plan plan;
    uint64_t of_run[REFERENCE_ALL_RUNS];
    reference_plan_make(&plan, REFERENCE_ALL);
    for (unsigned i = 0; i < plan.count; i++)
        for (unsigned real = 0; real < SETS; real++)
            if (graph_has_set(real) && run_of_set(real).real == plan.run[i].real)
                of_run[i] = cycles[real];
    reference_all_orders(&plan, of_run, range);
    reference_stack(&plan, REFERENCE_PAPER, of_run, paper);
}

static void show_stacks(struct comparison *c)
{
    struct reference_range graph, truth;
    int64_t graph_paper[COMPONENTS], paper[COMPONENTS];
    uint64_t cycles = c->simulated[GRAPH_EVERYTHING];
    range_of(c->streamed.with, &graph, graph_paper);
    range_of(c->simulated, &truth, paper);
    fprintf(c->own.out, "%-8s %12s %12s %8s   %12s %12s %8s\n", "", "mean", "simulated", "error %", "paper",
            "simulated", "error %");
    for (unsigned k = 0; k < COMPONENTS; k++)
        fprintf(c->own.out, "%-8s %12" PRId64 " %12" PRId64 " %8.2f   %12" PRId64 " %12" PRId64 " %8.2f\n",
                component_rows[k].key, graph.mean[k], truth.mean[k],
                100.0 * (double)(graph.mean[k] - truth.mean[k]) / (double)cycles, graph_paper[k], paper[k],
                100.0 * (double)(graph_paper[k] - paper[k]) / (double)cycles);
    struct stack_error mean = stack_error(graph.mean, truth.mean, cycles);
    struct stack_error first = stack_error(graph_paper, paper, cycles);
    fprintf(c->own.out, "largest error: mean of orders %.2f %%, paper's order %.2f %%\n", mean.percent, first.percent);
}

/* The set of real structures of this core. */
static unsigned real_on(const struct core_config *k)
{
    unsigned perfect = 0;
    perfect |= k->perfect_l1i ? GRAPH_L1I | GRAPH_L2I : 0;
    perfect |= k->perfect_l2i ? GRAPH_L2I : 0;
    perfect |= k->perfect_itlb ? GRAPH_ITLB : 0;
    perfect |= k->perfect_branch ? GRAPH_BRANCH : 0;
    perfect |= k->perfect_l1d ? GRAPH_L1D | GRAPH_L2D : 0;
    perfect |= k->perfect_l2d ? GRAPH_L2D : 0;
    perfect |= k->perfect_dtlb ? GRAPH_DTLB : 0;
    return GRAPH_EVERYTHING & ~perfect;
}

static void show_times(struct comparison *c, const struct graph_node *nodes)
{
    struct recording *r = &c->recording;
    struct literal_times *times = resized(NULL, r->count + 1, sizeof *times);
    literal_evaluate(&r->core, nodes, r->count, c->times_real, times);
    times_print(c->own.out, r->insns, times, r->times, r->count, (unsigned)c->time_rows);
    free(times);
}

static void show_predicted(struct comparison *c)
{
    for (unsigned real = 0; real < SETS; real++) {
        char text[128];
        struct reference_run run = run_of_set(real);
        if (graph_has_set(real))
            fprintf(c->own.out, "%12" PRIu64 "  %s\n", c->streamed.with[real],
                    reference_run_text(&run, text, sizeof text));
    }
}

static void show_simulated(struct comparison *c)
{
    double sum = 0, worst = 0;
    for (unsigned real = 0; real < SETS; real++) {
        if (!graph_has_set(real))
            continue;
        double truth = (double)c->simulated[real], error = 100 * ((double)c->streamed.with[real] / truth - 1);
        char text[128];
        struct reference_run run = run_of_set(real);
        sum += error < 0 ? -error : error;
        if ((error < 0 ? -error : error) > (worst < 0 ? -worst : worst))
            worst = error;
        fprintf(c->own.out, "%12" PRIu64 " %12" PRIu64 " %+7.2f %%  %s\n", c->streamed.with[real], c->simulated[real],
                error, reference_run_text(&run, text, sizeof text));
    }
    show_stacks(c);
    fprintf(c->own.out, "cycles of %u sets: mean error %.2f %%, worst %+.2f %%, everything real %+.2f %%\n", GRAPH_SETS,
            sum / GRAPH_SETS, worst,
            100 * ((double)c->streamed.with[GRAPH_EVERYTHING] / (double)c->simulated[GRAPH_EVERYTHING] - 1));
}

/* Simulates the core of --times-in, for its times. */
static int simulate_times(struct comparison *c, struct error *err)
{
    struct core_observer observer = {.fetched = on_fetched,
                                     .dispatched = on_dispatched,
                                     .issued = on_issued,
                                     .completed = on_completed,
                                     .retired = on_ideal_retired,
                                     .context = c};
    struct core_config core = core_of(c, c->times_real);
    uint64_t cycles;
    return reopen(c, err) != 0 ? -EINVAL : simulate(c, &core, &observer, &cycles, err);
}

/* ---- the command line */

/* Sets c->times_real. */
static int find_times_set(struct comparison *c, struct error *err)
{
    char text[128];
    c->times_real = real_on(&c->core.config);
    if (c->times_in == NULL)
        return 0;
    c->times_real = 0;
    snprintf(text, sizeof text, "%s", c->times_in);
    for (char *word = strtok(text, ","); word && strcmp(c->times_in, "none") != 0; word = strtok(NULL, ",")) {
        unsigned bit = 0;
        for (unsigned real = 1; real < SETS; real <<= 1) {
            struct reference_run run = run_of_set(real);
            bit |= strcmp(component_rows[__builtin_ctz(run.real)].key, word) == 0 ? real : 0;
        }
        if (!bit)
            return error_set(err, -EINVAL, "no structure %s", word);
        c->times_real |= bit;
    }
    return graph_has_set(c->times_real) ? 0 : error_set(err, -EINVAL, "no set %s", c->times_in);
}

/* The guest's output goes nowhere. */
static void silence(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    for (int to = 0; to < 3; to++)
        dup2(fd, to);
    if (fd > 2)
        close(fd);
}

static int run_all(struct comparison *c, char **argv, struct error *err)
{
    int code = core_options_finish(&c->core, err);
    if (code == 0)
        code = guest_options_finish(&c->guest, argv, err);
    if (code == 0)
        code = find_times_set(c, err);
    if (code == 0)
        code = graph_check(&c->core.config, err);
    for (size_t i = 0; code == 0 && i < c->what_if_texts.count; i++)
        code = what_ifs_add(&c->what_ifs, &c->core.config, c->what_if_texts.value[i], err);
    if (code == 0 && c->simulate)
        code = simulate_all(c, err);
    if (code != 0)
        return code;
    c->graph = graph_new(&c->core.config, keep_cycles, c, err);
    struct core_observer observer = {.begin = on_begin, .retired = on_retired, .drained = on_drained, .context = c};
    if (c->time_rows) {
        observer.fetched = on_fetched;
        observer.dispatched = on_dispatched;
        observer.issued = on_issued;
        observer.completed = on_completed;
    }
    for (unsigned i = 0; c->graph && i < c->what_ifs.count; i++)
        if (graph_add_what_if(c->graph, &c->what_ifs.of[i], err) != 0)
            return -ENOMEM;
    if (c->graph && c->base && graph_split_base(c->graph, err) != 0)
        return -ENOMEM;
    uint64_t cycles;
    if (c->graph == NULL || simulate(c, &c->core.config, &observer, &cycles, err) != 0)
        return -EINVAL;
    graph_mark(c->graph, c->recording.count);
    graph_finish(c->graph);
    struct recording *r = &c->recording;
    struct graph_node *nodes = resized(NULL, r->count + 1, sizeof *nodes);
    const struct held_insns held = {.of = r->insns, .mask = UINT64_MAX, .end = r->count};
    for (uint64_t i = 0; i < r->count; i++)
        node_build(r->builder, &held, i, &nodes[i]);
    compare_evaluations(c, nodes);
    if (c->times_in && simulate_times(c, err) != 0)
        return -EINVAL;
    if (c->show)
        show_predicted(c);
    if (c->time_rows)
        show_times(c, nodes);
    if (c->base)
        compare_base(c, nodes);
    if (c->what_ifs.count)
        show_what_ifs(c, nodes, cycles);
    else if (c->simulate)
        show_simulated(c);
    else if (!c->lines && c->quick)
        fprintf(c->own.out, "%" PRIu64 " cycles, everything real %+.2f %%\n", cycles,
                100 * ((double)c->streamed.with[GRAPH_EVERYTHING] / (double)cycles - 1));
    free(nodes);
    free(r->insns);
    free(r->times);
    free(r->stores);
    node_builder_free(r->builder);
    return 0;
}

static int start(struct comparison *c, char **argv)
{
    struct error err;
    own_output_open(&c->own);
    silence();
    int status = run_all(c, argv, &err) == 0 ? c->lines > 0 : own_fail(&c->own, &err);
    fflush(c->own.out);
    graph_free(c->graph);
    own_output_close(&c->own);
    return status;
}

int main(int argc, char **argv)
{
    struct comparison c = {.jobs = 2};
    guest_options_init(&c.guest);
    core_options_init(&c.core);
    const struct option table[] = {
        {"simulate", OPTION_FLAG, &c.simulate, NULL, "also simulate all idealized cores"},
        {"times", OPTION_COUNT, &c.time_rows, "N", "show the N places at which graph and simulation part most"},
        {"times-in", OPTION_STRING, &c.times_in, "STRUCTURES", "with --times: in the set in which these are real"},
        {"show", OPTION_FLAG, &c.show, NULL, "show the predicted cycles of each set"},
        {"quick", OPTION_FLAG, &c.quick, NULL, "leave out the literal evaluation"},
        {"what-if", OPTION_LIST, &c.what_if_texts, "TEXT", "compare what-ifs instead of sets"},
        {"base", OPTION_FLAG, &c.base, NULL, "also compare sets of limits of the base"},
        {"jobs", OPTION_COUNT, &c.jobs, "N", "simulations at once"},
        CORE_OPTION_ROWS(&c.core),
        GUEST_OPTION_ROWS(&c.guest),
        RESTORE_OPTION_ROW(&c.guest),
    };
    struct error err;
    c.simulated = mmap(NULL, SETS * sizeof *c.simulated, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int first = options_parse(table, sizeof table / sizeof table[0], argc - 1, argv + 1, &err), status;
    if (first < 0) {
        fprintf(stderr, "compare: %s\n", err.text);
        status = STATUS_OWN_ERROR;
    } else {
        status = start(&c, argv + 1 + first);
    }
    what_ifs_free(&c.what_ifs);
    option_list_free(&c.what_if_texts);
    core_options_free(&c.core);
    guest_options_free(&c.guest);
    return status;
}
