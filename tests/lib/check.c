/* check GUEST: facts about libcyclescope, seen from outside: this includes the public header alone. */
#include <cyclescope/cyclescope.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { HANG_MS = 1800 * 1000 }; /* a wait of this length counts as a hang */

static char *guest;
static int failed;

static void is(const char *name, int good, const char *why)
{
    failed |= !good;
    printf("%s %s%s%s\n", good ? "ok" : "not ok", name, good ? "" : ": ", good ? "" : why);
    fflush(stdout);
}

static struct cyclescope_options every(uint64_t cycles)
{
    struct cyclescope_options o = cyclescope_defaults();
    o.interval_cycles = cycles;
    return o;
}

static struct cyclescope *start(const char *what, const char *n, const struct cyclescope_options *o,
                                struct cyclescope_error *error)
{
    char *argv[] = {guest, (char *)what, (char *)n, NULL};
    return cyclescope_start(argv, o, error);
}

static int no_child_is_left(void)
{
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static uint64_t parts(const struct cyclescope_breakdown *b)
{
    uint64_t sum = b->completion;
    for (int i = 0; i < CYCLESCOPE_SOURCES; i++)
        sum += b->stalls[i];
    return sum;
}

/* ---- breakdowns */

static struct cyclescope_result reference; /* of `spin 30000` in intervals of 10000 cycles */

static void breakdowns_follow_each_other(void)
{
    struct cyclescope_options o = every(10000);
    struct cyclescope_error error = {""};
    struct cyclescope_breakdown b;
    struct cyclescope *run = start("spin", "30000", &o, &error);
    uint64_t cycle = 0, insn = 0, number = 0, sum_good = 1, length_good = 1, gapless = 1, last = 0;
    while (run && cyclescope_next(run, &b, &error) > 0) {
        sum_good &= parts(&b) == b.cycles;
        length_good &= number == 0 || last == 10000;
        gapless &= b.first_cycle == cycle && b.first_insn == insn && b.number == ++number;
        cycle += b.cycles;
        insn += b.insns;
        last = b.cycles;
    }
    is("breakdowns-come", run && number > 10, error.text);
    is("breakdowns-add-up", (int)sum_good, "completion and stalls are not the cycles");
    is("breakdowns-have-their-length", (int)length_good, "one is not 10000 cycles long");
    is("breakdowns-have-no-gaps", (int)gapless, "one does not begin where the last one ended");
    int code = run ? cyclescope_finish(run, &reference, &error) : -1;
    is("exit-status", code == 0 && reference.exit_status == 3 && !reference.cut, error.text);
    is("total-is-the-sum",
       reference.total.cycles == cycle && reference.total.insns == insn && reference.total.number == number &&
           parts(&reference.total) == cycle,
       "it is not");
    is("the-end-stays", run && cyclescope_next(run, &b, &error) == 0 && cyclescope_ended(run), "there is more");
    cyclescope_free(run);
    is("nothing-is-left", no_child_is_left(), "a process is");
}

/* By counters that take turns: the same program, the same sums, and errors. The sampler's cycles are not the program's.
 */
static void breakdowns_by_turns(void)
{
    struct cyclescope_options o = every(40000);
    struct cyclescope_error error = {""};
    struct cyclescope_breakdown b;
    struct cyclescope_result result = {0};
    uint64_t sum_good = 1, errors = 0, cycle = 0, gapless = 1;
    o.multiplexed = 1;
    struct cyclescope *run = start("spin", "30000", &o, &error);
    while (run && cyclescope_next(run, &b, &error) > 0) {
        sum_good &= parts(&b) == b.cycles;
        gapless &= b.first_cycle == cycle;
        cycle += b.cycles;
        for (int i = 0; i < CYCLESCOPE_SOURCES; i++)
            errors += b.error[i];
    }
    int code = run ? cyclescope_finish(run, &result, &error) : -1;
    is("turns-end-as-the-program-does", code == 0 && result.exit_status == 3, error.text);
    is("turns-add-up", (int)(sum_good && gapless && cycle == result.total.cycles), "they do not");
    is("turns-have-errors", errors > 0, "all are 0");
    is("turns-have-the-same-instructions", result.total.insns == reference.total.insns, "there are others");
    is("turns-are-near", result.total.cycles < reference.total.cycles * 11 / 10, "the program was slowed down");
    cyclescope_free(run);
    o.slice = 100;
    run = start("spin", "10", &o, &error);
    code = run ? cyclescope_finish(run, &result, &error) : -1;
    is("turns-can-be-too-short", code < 0 && strstr(error.text, "100") != NULL, error.text);
    cyclescope_free(run);
}

static void latest_by_poll(void)
{
    struct cyclescope_options o = every(10000);
    struct cyclescope_error error = {""};
    struct cyclescope_breakdown b = {0};
    struct cyclescope_result result = {0};
    struct cyclescope *run = start("spin", "30000", &o, &error);
    int polls = 0, code = 0;
    while (run && !cyclescope_ended(run) && code >= 0) {
        struct pollfd p = {.fd = cyclescope_fd(run), .events = POLLIN};
        polls += poll(&p, 1, HANG_MS);
        code = cyclescope_latest(run, &b, &error);
    }
    is("poll-wakes", polls > 1 && code >= 0, error.text);
    is("latest-is-the-last", b.number == reference.total.number, "one is missing");
    is("latest-loses-nothing",
       run && cyclescope_finish(run, &result, &error) == 0 && result.total.cycles == reference.total.cycles &&
           result.total.number == reference.total.number,
       "the total is another");
    cyclescope_free(run);
}

static int count_to(void *context, const struct cyclescope_breakdown *b)
{
    (void)b;
    return --*(int *)context == 0;
}

static void callbacks(void)
{
    struct cyclescope_options o = every(10000);
    struct cyclescope_error error = {""};
    struct cyclescope_result result = {0};
    int left = 1000000;
    struct cyclescope *run = start("spin", "30000", &o, &error);
    int code = run ? cyclescope_each(run, count_to, &left, &error) : -1;
    is("callback-for-each", code == 0 && 1000000 - left == (int)reference.total.number, error.text);
    cyclescope_free(run);
    left = 3;
    int nowhere = open("/dev/null", O_WRONLY); /* the guest's byte would begin a line of this test */
    o.output = nowhere;
    run = start("family", NULL, &o, &error);
    close(nowhere);
    code = run ? cyclescope_each(run, count_to, &left, &error) : -1;
    is("callback-ends-it",
       code == 1 && cyclescope_finish(run, &result, &error) == 0 && result.cut && result.total.number == 3, error.text);
    is("callback-leaves-nothing", no_child_is_left(), "a process is");
    cyclescope_free(run);
}

/* ---- how programs end, and what they are given */

static int status_of(const char *what, const char *n, const struct cyclescope_options *o)
{
    struct cyclescope_error error = {""};
    struct cyclescope_result result;
    struct cyclescope *run = start(what, n, o, &error);
    int status = run && cyclescope_finish(run, &result, &error) == 0 ? result.exit_status : -1;
    if (status < 0)
        printf("# %s: %s\n", what, error.text);
    cyclescope_free(run);
    return status;
}

static void never(int number)
{
    (void)number;
    abort();
}

static void ends(void)
{
    struct cyclescope_options o = every(0);
    struct cyclescope_error error = {""};
    struct cyclescope_result result;
    sigset_t all, before;
    is("death-by-signal", status_of("signal", "11", NULL) == 128 + 11, "the status is another");
    sigfillset(&all);
    signal(SIGTERM, never);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is("the-caller's-signals-are-its-own", status_of("signal", "15", NULL) == 128 + 15, "the guest did not die");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    signal(SIGTERM, SIG_DFL);
    o.max_insns = 50000;
    struct cyclescope *run = start("spin", "1000000000", &o, &error);
    is("cut",
       run && cyclescope_finish(run, &result, &error) == 0 && result.cut && result.exit_status == 0 &&
           result.total.insns == 50000,
       error.text);
    cyclescope_free(run);
}

static void descriptors(void)
{
    struct cyclescope_options o = every(0);
    int pipes[2], kept = dup(0);
    is("three-descriptors", status_of("descriptors", NULL, &o) == 3, "the guest has others");
    close(kept);
    if (pipe(pipes) == 0 && write(pipes[1], "A", 1) == 1)
        o.input = pipes[0];
    is("input-is-given", status_of("read", NULL, &o) == 'A', "the guest read something else");
    close(pipes[0]);
    close(pipes[1]);
}

/* ---- death */

/* Takes breakdowns until the guest has forked and its child has written its byte. */
static int is_family(struct cyclescope *run, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct cyclescope_breakdown b;
    while (run && poll(&p, 1, 0) == 0)
        if (cyclescope_next(run, &b, NULL) <= 0)
            return 0;
    return run && (p.revents & POLLIN) != 0;
}

/* Whether all who could write end, having written one byte. */
static int closes(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char bytes[2];
    return read(fd, bytes, 2) == 1 && poll(&p, 1, HANG_MS) == 1 && read(fd, bytes, 1) == 0;
}

static int only_child(void)
{
    char name[64];
    int pid = -1;
    snprintf(name, sizeof name, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(name, "r");
    if (f && fscanf(f, "%d", &pid) != 1)
        pid = -1;
    if (f)
        fclose(f);
    return pid;
}

static void deaths(void)
{
    struct cyclescope_options o = every(10000);
    struct cyclescope_error error = {""};
    struct cyclescope_breakdown b;
    int ends[2];
    if (pipe(ends) != 0)
        return;
    o.output = ends[1];
    struct cyclescope *run = start("family", NULL, &o, &error);
    close(ends[1]);
    is("a-family-runs", is_family(run, ends[0]), error.text);
    cyclescope_free(run);
    is("free-ends-all-of-it", closes(ends[0]) && no_child_is_left(), "a process is left");
    close(ends[0]);

    o.output = 0;
    run = start("spin", "1000000000", &o, &error);
    int pid = only_child(), code = 1;
    if (pid > 0)
        kill(pid, SIGKILL);
    while (run && code > 0)
        code = cyclescope_next(run, &b, &error);
    is("a-killed-simulation-is-reported", code < 0 && strstr(error.text, "killed by SIGKILL"), error.text);
    cyclescope_free(run);

    pid_t tool = -1;
    if (pipe(ends) == 0 && (tool = fork()) == 0) {
        o.output = ends[1];
        run = start("family", NULL, &o, NULL);
        close(ends[1]);
        _exit(!is_family(run, ends[0]));
    } else {
        close(ends[1]);
        int status = 1;
        waitpid(tool, &status, 0);
        is("a-simulation-ends-with-its-tool", status == 0 && closes(ends[0]), "a process is left");
        close(ends[0]);
    }
}

static void reap_all(int number)
{
    (void)number;
    int code = errno;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = code;
}

static void children(void)
{
    int status = 0;
    pid_t own = fork();
    if (own == 0)
        _exit(7);
    is("beside-a-child", status_of("spin", "10", NULL) == 3, "it failed");
    is("the-caller's-child-is-its-own", waitpid(own, &status, 0) == own && WEXITSTATUS(status) == 7, "it was reaped");
    struct sigaction action = {.sa_handler = reap_all}, before;
    sigaction(SIGCHLD, &action, &before);
    is("the-caller-reaps-all", status_of("spin", "10", NULL) == 3, "it failed");
    action.sa_handler = SIG_IGN;
    sigaction(SIGCHLD, &action, NULL);
    is("the-caller-ignores-children", status_of("spin", "10", NULL) == 3, "it failed");
    sigaction(SIGCHLD, &before, NULL);
}

/* ---- threads */

static void *run_in_thread(void *result)
{
    struct cyclescope_options o = every(10000);
    struct cyclescope *run = start("spin", "30000", &o, NULL);
    if (run && cyclescope_finish(run, result, NULL) != 0)
        memset(result, 0, sizeof(struct cyclescope_result));
    cyclescope_free(run);
    return NULL;
}

static volatile int busy = 1;

static void *allocate(void *context)
{
    for (unsigned i = 0; busy; i++) {
        volatile char *bytes = malloc(i % 5000 + 1);
        bytes[0] = 1;
        free((void *)bytes);
    }
    return context;
}

/* The address sanitizer's allocator, unlike the C library's, stays locked in a process that is forked while another
 * thread allocates: there, threads take turns. gcc and clang tell that it is there in different ways. */
#ifdef __has_feature
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
enum { AT_ONCE = 1 };
#else
enum { AT_ONCE = 3 };
#endif

static void threads(void)
{
    enum { RUNS = 3 };
    struct cyclescope_result result[RUNS] = {{0}};
    pthread_t thread[RUNS], other;
    int same = 1;
    if (AT_ONCE > 1)
        pthread_create(&other, NULL, allocate, NULL);
    for (int first = 0; first < RUNS; first += AT_ONCE) {
        for (int i = first; i < first + AT_ONCE; i++)
            pthread_create(&thread[i], NULL, run_in_thread, &result[i]);
        for (int i = first; i < first + AT_ONCE; i++)
            pthread_join(thread[i], NULL);
    }
    busy = 0;
    if (AT_ONCE > 1)
        pthread_join(other, NULL);
    for (int i = 0; i < RUNS; i++)
        same &= memcmp(&result[i], &reference, sizeof reference) == 0;
    is("threads", same, "results differ");
}

/* ---- mistakes */

static void refuses(const char *name, const char *words, char *program, const struct cyclescope_options *o)
{
    struct cyclescope_error error = {""};
    char *argv[] = {program, NULL};
    struct cyclescope *run = cyclescope_start(argv, o, &error);
    is(name, run == NULL && strstr(error.text, words), run ? "it runs" : error.text);
    cyclescope_free(run);
}

static void mistakes(void)
{
    struct cyclescope_options o = cyclescope_defaults();
    const char *settings[] = {"rob.sise=4", NULL};
    refuses("no-program", "no program", NULL, NULL);
    refuses("missing-program", "/nowhere/program", (char *)"/nowhere/program", NULL);
    refuses("a-program-of-the-host", "RISC-V", (char *)"/bin/true", NULL);
    o.core = "eyermann";
    refuses("unknown-core", "eyerman2006", guest, &o);
    o.core = NULL;
    o.settings = settings;
    refuses("unknown-setting", "rob.size", guest, &o);
    o.settings = NULL;
    o.sysroot = "/nowhere";
    refuses("no-sysroot", "/nowhere", guest, &o);
    o.sysroot = NULL;
    o.warm = 1;
    refuses("warm-without-skip", "skip_insns", guest, &o);
    o.warm = 0;
    o.output = 777;
    refuses("no-such-descriptor", "descriptor 777", guest, &o);
    o.output = 0;
    o.size = 0;
    refuses("options-without-defaults", "cyclescope_defaults", guest, &o);

    struct {
        struct cyclescope_options known;
        uint64_t more;
    } newer = {cyclescope_defaults(), 0};
    newer.known.size = sizeof newer;
    is("options-of-a-newer-header", status_of("spin", "10", &newer.known) == 3, "they are refused");
    newer.more = 1;
    refuses("options-that-are-not-known", "does not know", guest, &newer.known);
    struct cyclescope *run = start("spin", "10", &o, NULL);
    is("nobody-asks-for-the-error", run == NULL, "it runs");
    cyclescope_free(run);
    is("mistakes-leave-nothing", no_child_is_left(), "a process is");
}

static void words(void)
{
    int good = cyclescope_source_name(CYCLESCOPE_SOURCES) == NULL;
    for (int i = 0; i < CYCLESCOPE_SOURCES; i++)
        good &= cyclescope_source_name((enum cyclescope_source)i) != NULL;
    is("sources-have-names", good, "one has none, or there is one too many");
    is("version", strchr(cyclescope_version(), '.') != NULL, cyclescope_version());
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    guest = argv[1];
    breakdowns_follow_each_other();
    breakdowns_by_turns();
    latest_by_poll();
    callbacks();
    ends();
    descriptors();
    deaths();
    children();
    threads();
    mistakes();
    words();
    printf("total %llu cycles, %llu instructions\n", (unsigned long long)reference.total.cycles,
           (unsigned long long)reference.total.insns);
    return failed;
}
