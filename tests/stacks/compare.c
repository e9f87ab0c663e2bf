/* compare: a program, accounted for by the methods of src/stacks and by the literal tables; the counts must be equal,
 * component by component and interval by interval.
 *
 *     compare [--core NAME|FILE] [--set KEY=VALUE]... [--max-insns N] [--interval N] [--step] [--all-insns]
 *             [--fewer] [--] PROGRAM [ARGUMENTS]
 *
 * The program runs twice, since the two observe different instructions: first in a process of its own for the literal
 * tables, then for the accounting as commands use it. What does not hold is a line on standard output. Exit status 0,
 * 1 if there is such a line, 125 for other errors. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "guest/files.h"
#include "stacks/literal.h"

enum { LINES = 20 }; /* of complaints that are printed */

/* What the literal tables have counted, as it comes from their process: before the intervals. */
struct slow_total {
    struct literal_interval total; /* forked processes included */
    uint64_t count;                /* of intervals */
};

struct comparison {
    struct core_options core;
    struct guest_options guest;
    uint64_t interval_insns;
    bool all_insns; /* the literal tables observe every instruction */
    bool fewer;     /* leave out methods that examine every cycle */
    struct own_output own;
    struct literal *literal;
    struct slow_total slow;
    struct literal_interval *slow_series;
    struct accounting *accounting;
    unsigned lines; /* of complaints */
};

/* ---- runs */

/* Runs the program; ends the process if the guest forked it. */
static int simulate(struct comparison *c, const struct core_observer *observer, const struct simulation_sum *sum,
                    struct simulation_result *result, struct error *err)
{
    struct process *p = process_new(&c->guest.config, err);
    if (p == NULL)
        return -EINVAL;
    c->core.simulation.observer = observer;
    c->core.simulation.sum = sum;
    int code = simulate_process(p, &c->core.simulation, result, err);
    if (process_is_child(p))
        end_as_child(p);
    process_free(p);
    return code;
}

static void add_slow(struct literal_interval *to, const struct literal_interval *l)
{
    to->instructions += l->instructions;
    to->cycles += l->cycles;
    to->overlap_cycles += l->overlap_cycles;
    for (unsigned m = 0; m < LITERAL_METHODS; m++)
        for (unsigned k = 0; k < COMPONENTS; k++)
            to->lost[m][k] += l->lost[m][k];
}

static void forked(void *context)
{
    struct comparison *c = context;
    literal_restart(c->literal);
}

static void end(void *context)
{
    struct comparison *c = context;
    size_t count;
    literal_end(c->literal);
    const struct literal_interval *series = literal_series(c->literal, &count);
    for (size_t i = 0; i < count; i++)
        add_slow(&c->slow.total, &series[i]);
    c->slow.count = count;
}

static bool write_all(int fd, const void *from, size_t bytes)
{
    for (const char *p = from; bytes > 0;) {
        ssize_t n = write(fd, p, bytes);
        if (n <= 0)
            return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

static int run_literal(struct comparison *c, int to)
{
    const struct simulation_sum sum = {.forked = forked,
                                       .end = end,
                                       .context = c,
                                       .numbers = (uint64_t *)&c->slow.total,
                                       .count = sizeof c->slow.total / sizeof(uint64_t)};
    struct simulation_result result;
    struct error err;
    size_t count;
    c->literal = literal_new(&c->core.config, c->interval_insns);
    const struct core_observer *o = literal_observer(c->literal, c->all_insns ? OBSERVE_ALL : OBSERVE_CONTROL);
    if (simulate(c, o, &sum, &result, &err) != 0)
        return own_fail(&c->own, &err);
    const struct literal_interval *series = literal_series(c->literal, &count);
    bool written = write_all(to, &c->slow, sizeof c->slow) && write_all(to, series, count * sizeof *series);
    literal_free(c->literal);
    return written ? 0 : STATUS_OWN_ERROR;
}

static bool read_at(int fd, void *to, size_t bytes, off_t at)
{
    char *p = to;
    for (ssize_t n; bytes > 0; p += n, at += n, bytes -= (size_t)n)
        if ((n = pread(fd, p, bytes, at)) <= 0)
            return false;
    return true;
}

/* Fills c->slow and c->slow_series. A process of its own, because what a guest does to descriptors and folders stays.
 */
static int run_literal_apart(struct comparison *c, struct error *err)
{
    int file = memfd_create("series", MFD_CLOEXEC), fd = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, FD_PRIVATE);
    if (fd < 0)
        return error_set(err, -errno, "no file for the literal tables: %s", strerror(errno));
    close(file);
    pid_t pid = fork();
    if (pid == 0)
        _exit(run_literal(c, fd));
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return error_set(err, -errno, "no process for the literal tables: %s", strerror(errno));
    if (status != 0)
        return error_set(err, -ECHILD, "the literal tables end with wait status %d", status);
    if (!read_at(fd, &c->slow, sizeof c->slow, 0))
        return error_set(err, -EIO, "the literal tables have left nothing");
    size_t bytes = c->slow.count * sizeof *c->slow_series;
    c->slow_series = malloc(bytes);
    if (c->slow_series == NULL || !read_at(fd, c->slow_series, bytes, sizeof c->slow))
        return error_set(err, -EIO, "the literal tables have left no intervals");
    close(fd);
    return 0;
}

/* ---- what must hold */

static bool in_use(const struct comparison *c, unsigned kind)
{
    struct error unused;
    if (stack_check(&c->core.config, (enum stack_kind)kind, &unused) != 0)
        return false;
    return !c->fewer || !(stack_rows[kind].view || kind == STACK_fmt2 || kind == STACK_graph);
}

static void __attribute__((format(printf, 2, 3))) complain(struct comparison *c, const char *format, ...)
{
    va_list arguments;
    if (c->lines++ >= LINES)
        return;
    va_start(arguments, format);
    vfprintf(c->own.out, format, arguments);
    va_end(arguments);
}

static void must_equal(struct comparison *c, const char *where, const char *kind, const char *what, int64_t is,
                       int64_t should_be)
{
    if (is != should_be)
        complain(c, "%s: %s %s is %" PRId64 ", not %" PRId64 "\n", where, kind, what, is, should_be);
}

static void compare_interval(struct comparison *c, const char *where, const struct stack_interval *i,
                             const struct literal_interval *l)
{
    must_equal(c, where, "all", "cycles", (int64_t)i->cycles, (int64_t)l->cycles);
    must_equal(c, where, "all", "instructions", (int64_t)i->instructions, (int64_t)l->instructions);
    must_equal(c, where, "all", "overlap", (int64_t)i->overlap_cycles, (int64_t)l->overlap_cycles);
    for (unsigned m = 0; m < LITERAL_METHODS; m++) {
        unsigned kind = (unsigned)stack_find(literal_names[m]);
        const int64_t *parts = i->of[kind].parts;
        for (unsigned n = 0; in_use(c, kind) && n < COMPONENTS; n++)
            must_equal(c, where, literal_names[m], component_rows[n].key, parts[n], l->lost[m][n]);
    }
}

/* The base of a naive method, which ignores overlap, and of sfmt, which may charge cycles twice; all of graph, where a
 * real structure may save cycles of another one. */
static bool may_be_negative(const char *method, unsigned component)
{
    if (strcmp(method, "graph") == 0)
        return true;
    return component == COMPONENT_base && (strncmp(method, "naive", 5) == 0 || strcmp(method, "sfmt") == 0);
}

/* The stacks of the accounting in themselves: components sum to the cycles, and none but these is negative. */
static void check_stacks(struct comparison *c, const char *where, const struct stack_interval *i)
{
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        const char *name = stack_rows[k].name;
        const int64_t *parts = i->of[k].parts;
        int64_t sum = 0, whole = (int64_t)(i->cycles * accounting_parts(c->accounting, k));
        for (unsigned n = 0; n < COMPONENTS; n++) {
            sum += parts[n];
            if (parts[n] < 0 && !may_be_negative(name, n))
                complain(c, "%s: %s %s is %" PRId64 ", less than 0\n", where, name, component_rows[n].key, parts[n]);
        }
        must_equal(c, where, name, "sum of components", sum, in_use(c, k) ? whole : 0);
    }
}

static void name_interval(char name[32], size_t i)
{
    snprintf(name, 32, "interval %zu", i);
}

static void compare_series(struct comparison *c)
{
    size_t count;
    const struct stack_interval *series = accounting_series(c->accounting, &count);
    must_equal(c, "total", "all", "number of intervals", (int64_t)count, (int64_t)c->slow.count);
    for (size_t i = 0; i < count && i < c->slow.count; i++) {
        char where[32];
        name_interval(where, i);
        compare_interval(c, where, &series[i], &c->slow_series[i]);
    }
}

static void add_fast(struct stack_interval *to, const struct stack_interval *i)
{
    to->instructions += i->instructions;
    to->cycles += i->cycles;
    to->overlap_cycles += i->overlap_cycles;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        for (unsigned n = 0; n < COMPONENTS; n++)
            to->of[k].parts[n] += i->of[k].parts[n];
}

static void check_sum(struct comparison *c, const struct stack_interval *sum, const struct stack_interval *total)
{
    const char *where = "sum of intervals";
    must_equal(c, where, "all", "instructions", (int64_t)sum->instructions, (int64_t)total->instructions);
    must_equal(c, where, "all", "overlap", (int64_t)sum->overlap_cycles, (int64_t)total->overlap_cycles);
    for (unsigned k = 0; k < STACK_KINDS; k++)
        for (unsigned n = 0; n < COMPONENTS; n++)
            must_equal(c, where, stack_rows[k].name, component_rows[n].key, sum->of[k].parts[n], total->of[k].parts[n]);
}

/* Cycles of processes that the guest forked are in no interval. */
static bool has_forked(const struct comparison *c)
{
    uint64_t cycles = 0;
    for (size_t i = 0; i < c->slow.count; i++)
        cycles += c->slow_series[i].cycles;
    return cycles != c->slow.total.cycles;
}

static void check_series(struct comparison *c)
{
    struct stack_interval sum = {0};
    size_t count;
    const struct stack_interval *series = accounting_series(c->accounting, &count);
    for (size_t i = 0; i < count; i++) {
        char where[32];
        name_interval(where, i);
        check_stacks(c, where, &series[i]);
        add_fast(&sum, &series[i]);
    }
    if (!has_forked(c))
        check_sum(c, &sum, accounting_total(c->accounting));
}

/* First where the two differ, then what is wrong with both. */
static void check_all(struct comparison *c, const struct simulation_counts *counted)
{
    const struct stack_interval *total = accounting_total(c->accounting);
    must_equal(c, "total", "core", "cycles", (int64_t)total->cycles, (int64_t)counted->core.cycles);
    must_equal(c, "total", "core", "instructions", (int64_t)total->instructions, (int64_t)counted->core.instructions);
    compare_interval(c, "total", total, &c->slow.total);
    compare_series(c);
    check_stacks(c, "total", total);
    check_series(c);
}

/* ---- the command line */

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

static int run_both(struct comparison *c, char **argv, struct error *err)
{
    struct simulation_result result;
    int code = core_options_finish(&c->core, err);
    if (code == 0)
        code = guest_options_finish(&c->guest, argv, err);
    if (code == 0)
        code = run_literal_apart(c, err);
    if (code != 0)
        return code;
    unsigned kinds = 0;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        kinds |= (unsigned)in_use(c, k) << k;
    c->accounting = accounting_new(&c->core.config, kinds, c->interval_insns, err);
    if (c->accounting == NULL)
        return -ENOMEM;
    code = simulate(c, accounting_observer(c->accounting), accounting_sum(c->accounting), &result, err);
    if (code == 0)
        check_all(c, &result.counts);
    return code;
}

static int start(struct comparison *c, char **argv)
{
    struct error err;
    own_output_open(&c->own);
    silence();
    int status = run_both(c, argv, &err) == 0 ? c->lines > 0 : own_fail(&c->own, &err);
    fflush(c->own.out);
    free(c->slow_series);
    accounting_free(c->accounting);
    own_output_close(&c->own);
    return status;
}

int main(int argc, char **argv)
{
    struct comparison c = {0};
    guest_options_init(&c.guest);
    core_options_init(&c.core);
    const struct option table[] = {
        {"interval", OPTION_COUNT, &c.interval_insns, "N", "instructions of an interval (0: one interval)"},
        {"all-insns", OPTION_FLAG, &c.all_insns, NULL, "let the literal tables observe every instruction"},
        {"fewer", OPTION_FLAG, &c.fewer, NULL, "leave out methods that examine every cycle"},
        CORE_OPTION_ROWS(&c.core),
        GUEST_OPTION_ROWS(&c.guest),
    };
    struct error err;
    int first = options_parse(table, sizeof table / sizeof table[0], argc - 1, argv + 1, &err), status;
    if (first < 0) {
        fprintf(stderr, "compare: %s\n", err.text);
        status = STATUS_OWN_ERROR;
    } else {
        status = start(&c, argv + 1 + first);
    }
    core_options_free(&c.core);
    guest_options_free(&c.guest);
    return status;
}
