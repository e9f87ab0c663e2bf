/* compare: one run of a program, accounted for by the methods of src/stacks and by the literal tables; the counts must
 * be equal, component by component and interval by interval.
 *
 *     compare [--core NAME|FILE] [--set KEY=VALUE]... [--max-insns N] [--interval N] [--step] [--all-insns]
 *             [--] PROGRAM [ARGUMENTS]
 *
 * What does not hold is a line on standard output. Exit status 0, 1 if there is such a line, 125 for other errors.
 * Processes that the guest forks compare their own part, without intervals. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "stacks/literal.h"

enum { LINES = 20 }; /* of complaints that are printed */

/* Shared by a process and those that it forks. */
struct verdict {
    bool failed, forked;
};

struct comparison {
    struct core_options core;
    struct guest_options guest;
    uint64_t interval_insns;
    bool all_insns; /* the core tells about every instruction, of which the accounting gets those it asks for */
    struct own_output own;
    struct accounting *accounting;
    struct literal *literal;
    const struct core_observer *fast, *slow; /* of the two */
    const struct simulation_sum *fast_sum;
    struct literal_interval slow_total; /* of this process */
    uint64_t *numbers;                  /* those of fast_sum, then slow_total: summed over forked processes */
    struct verdict *verdict;
    unsigned lines;
};

/* ---- one observer for both */

static void begin(void *context, const struct core_counts *live)
{
    struct comparison *c = context;
    if (c->fast->begin)
        c->fast->begin(c->fast->context, live);
    if (c->slow->begin)
        c->slow->begin(c->slow->context, live);
}

static void cycles(void *context, const struct cycle_record *r, uint64_t n)
{
    struct comparison *c = context;
    if (c->fast->cycles)
        c->fast->cycles(c->fast->context, r, n);
    c->slow->cycles(c->slow->context, r, n);
}

static bool wanted(const struct core_observer *o, const struct insn_view *v)
{
    return !o->keys_only || v->control || v->events & EVENTS_OF_FETCH;
}

#define PASS_ON(call)                                                                                                  \
    static void call(void *context, const struct insn_view *v, uint64_t cycle)                                         \
    {                                                                                                                  \
        struct comparison *c = context;                                                                                \
        if (c->fast->call && wanted(c->fast, v))                                                                       \
            c->fast->call(c->fast->context, v, cycle);                                                                 \
        if (c->slow->call)                                                                                             \
            c->slow->call(c->slow->context, v, cycle);                                                                 \
    }
PASS_ON(fetched)
PASS_ON(dispatched)
PASS_ON(issued)
PASS_ON(resolved)
PASS_ON(completed)
PASS_ON(committed)
PASS_ON(squashed)

/* ---- forked processes */

enum { SLOW_NUMBERS = sizeof(struct literal_interval) / sizeof(uint64_t) };

static void forked(void *context)
{
    struct comparison *c = context;
    c->verdict->forked = true;
    c->fast_sum->forked(c->fast_sum->context);
    literal_restart(c->literal);
}

static void add_slow(struct literal_interval *to, const struct literal_interval *l)
{
    to->instructions += l->instructions;
    to->cycles += l->cycles;
    for (unsigned m = 0; m < LITERAL_METHODS; m++)
        for (unsigned k = 0; k < COMPONENTS; k++)
            to->lost[m][k] += l->lost[m][k];
}

static void end(void *context)
{
    struct comparison *c = context;
    size_t count;
    c->fast_sum->end(c->fast_sum->context);
    literal_end(c->literal);
    const struct literal_interval *series = literal_series(c->literal, &count);
    for (size_t i = 0; i < count; i++)
        add_slow(&c->slow_total, &series[i]);
    memcpy(c->numbers, c->fast_sum->numbers, c->fast_sum->count * sizeof *c->numbers);
    memcpy(c->numbers + c->fast_sum->count, &c->slow_total, sizeof c->slow_total);
}

/* The sums back to where they belong. */
static void take_numbers(struct comparison *c)
{
    memcpy(c->fast_sum->numbers, c->numbers, c->fast_sum->count * sizeof *c->numbers);
    memcpy(&c->slow_total, c->numbers + c->fast_sum->count, sizeof c->slow_total);
}

/* ---- what must hold */

static void __attribute__((format(printf, 2, 3))) complain(struct comparison *c, const char *format, ...)
{
    va_list arguments;
    c->verdict->failed = true;
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
    for (unsigned m = 0; m < LITERAL_METHODS; m++) {
        const int64_t *parts = i->of[stack_find(literal_names[m])].parts;
        for (unsigned n = 0; n < COMPONENTS; n++)
            must_equal(c, where, literal_names[m], component_rows[n].key, parts[n], l->lost[m][n]);
    }
}

/* The stacks of the accounting in themselves: components sum to the cycles, and none is negative. */
static void check_stacks(struct comparison *c, const char *where, const struct stack_interval *i)
{
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        const char *name = stack_rows[k].name;
        const int64_t *parts = i->of[k].parts;
        int64_t sum = 0, whole = (int64_t)(i->cycles * accounting_parts(c->accounting, k));
        for (unsigned n = 0; n < COMPONENTS; n++) {
            sum += parts[n];
            if (parts[n] < 0 && !(n == COMPONENT_base && strncmp(name, "naive", 5) == 0))
                complain(c, "%s: %s %s is %" PRId64 ", less than 0\n", where, name, component_rows[n].key, parts[n]);
        }
        must_equal(c, where, name, "sum of components", sum, whole);
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
    must_equal(c, where, "all", "cycles", (int64_t)sum->cycles, (int64_t)total->cycles);
    must_equal(c, where, "all", "instructions", (int64_t)sum->instructions, (int64_t)total->instructions);
    must_equal(c, where, "all", "overlap", (int64_t)sum->overlap_cycles, (int64_t)total->overlap_cycles);
    for (unsigned k = 0; k < STACK_KINDS; k++)
        for (unsigned n = 0; n < COMPONENTS; n++)
            must_equal(c, where, stack_rows[k].name, component_rows[n].key, sum->of[k].parts[n], total->of[k].parts[n]);
}

static void name_interval(char name[32], size_t i)
{
    snprintf(name, 32, "interval %zu", i);
}

/* Forked processes have no series. */
static void compare_series(struct comparison *c)
{
    size_t fast_count, slow_count;
    const struct stack_interval *fast = accounting_series(c->accounting, &fast_count);
    const struct literal_interval *slow = literal_series(c->literal, &slow_count);
    must_equal(c, "total", "all", "number of intervals", (int64_t)fast_count, (int64_t)slow_count);
    for (size_t i = 0; i < fast_count && i < slow_count; i++) {
        char where[32];
        name_interval(where, i);
        compare_interval(c, where, &fast[i], &slow[i]);
    }
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
    if (!c->verdict->forked)
        check_sum(c, &sum, accounting_total(c->accounting));
}

/* First where the two differ, then what is wrong with both. */
static void check_all(struct comparison *c, const struct simulation_counts *counted, bool is_child)
{
    const struct stack_interval *total = accounting_total(c->accounting);
    compare_interval(c, "total", total, &c->slow_total);
    must_equal(c, "total", "core", "cycles", (int64_t)total->cycles, (int64_t)counted->core.cycles);
    must_equal(c, "total", "core", "instructions", (int64_t)total->instructions, (int64_t)counted->core.instructions);
    if (!is_child)
        compare_series(c);
    check_stacks(c, "total", total);
    if (!is_child)
        check_series(c);
}

/* ---- the run */

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

static int run(struct comparison *c, struct process *p)
{
    const struct core_observer both = {.begin = begin,
                                       .cycles = cycles,
                                       .fetched = fetched,
                                       .dispatched = dispatched,
                                       .issued = issued,
                                       .resolved = resolved,
                                       .completed = completed,
                                       .committed = committed,
                                       .squashed = squashed,
                                       .context = c,
                                       .keys_only = !c->all_insns && c->fast->keys_only};
    const struct simulation_sum sum = {
        .forked = forked, .end = end, .context = c, .numbers = c->numbers, .count = c->fast_sum->count + SLOW_NUMBERS};
    struct simulation_result result;
    struct error err;
    c->core.simulation.observer = &both;
    c->core.simulation.sum = &sum;
    if (simulate_process(p, &c->core.simulation, &result, &err) != 0)
        return own_fail(&c->own, &err);
    take_numbers(c);
    check_all(c, &result.counts, process_is_child(p));
    fflush(c->own.out);
    if (process_is_child(p))
        end_as_child(p);
    return c->verdict->failed;
}

static int prepare(struct comparison *c, char **argv, struct error *err)
{
    int code = core_options_finish(&c->core, err);
    if (code == 0)
        code = guest_options_finish(&c->guest, argv, err);
    if (code != 0)
        return code;
    c->accounting = accounting_new(&c->core.config, (1u << STACK_KINDS) - 1, c->interval_insns, err);
    if (c->accounting == NULL)
        return -ENOMEM;
    c->literal = literal_new(&c->core.config, c->interval_insns);
    c->fast = accounting_observer(c->accounting);
    c->slow = literal_observer(c->literal);
    c->fast_sum = accounting_sum(c->accounting);
    c->numbers = calloc(c->fast_sum->count + SLOW_NUMBERS, sizeof *c->numbers);
    c->verdict = mmap(NULL, sizeof *c->verdict, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->numbers == NULL || c->verdict == MAP_FAILED)
        return error_set(err, -ENOMEM, "out of memory");
    return 0;
}

static int start(struct comparison *c, char **argv)
{
    struct error err;
    struct process *p = NULL;
    own_output_open(&c->own);
    silence();
    if (prepare(c, argv, &err) == 0)
        p = process_new(&c->guest.config, &err);
    int status = p ? run(c, p) : own_fail(&c->own, &err);
    process_free(p);
    free(c->numbers);
    literal_free(c->literal);
    accounting_free(c->accounting);
    return status;
}

int main(int argc, char **argv)
{
    struct comparison c = {0};
    guest_options_init(&c.guest);
    core_options_init(&c.core);
    const struct option table[] = {
        {"interval", OPTION_COUNT, &c.interval_insns, "N", "instructions of an interval (0: one interval)"},
        {"all-insns", OPTION_FLAG, &c.all_insns, NULL, "let the core tell about every instruction"},
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
