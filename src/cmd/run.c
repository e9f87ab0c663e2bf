/* cyclescope run: a program at full speed. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/guest_options.h"
#include "emulate/emulate.h"
#include "guest/files.h"

struct run_options {
    struct guest_options guest;
    const char *count; /* NULL: do not; "": to standard error; else a file */
    const char *json;  /* NULL, "-" or a file */
    bool quiet;
    bool help;
};

/* Where our own lines go: duplicates that the guest cannot close, since its descriptors are the host's. */
struct own_output {
    FILE *out, *err;
};

struct run_result {
    const char *program;
    int status;
    uint64_t instructions;
    double seconds;
};

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double mips(const struct run_result *r)
{
    return r->seconds > 0 ? (double)r->instructions / r->seconds / 1e6 : 0;
}

static FILE *private_stream(int fd, FILE *otherwise)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, FD_PRIVATE);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "w");
    return stream ? stream : otherwise;
}

static int fail_to_write(const struct own_output *to, const char *option, const char *path)
{
    fprintf(to->err, "cyclescope: %s %s: %s\n", option, path, strerror(errno));
    return STATUS_OWN_ERROR;
}

static int print_count(const struct own_output *own, const char *path, const struct run_result *r)
{
    FILE *to = *path ? fopen(path, "w") : own->err;
    if (to == NULL)
        return fail_to_write(own, "--count", path);
    fprintf(to, "cyclescope: %llu instructions, %.3f seconds, %.1f MIPS\n", (unsigned long long)r->instructions,
            r->seconds, mips(r));
    if ((*path ? fclose(to) : fflush(to)) != 0)
        return fail_to_write(own, "--count", path);
    return 0;
}

static int print_json(const struct own_output *own, const char *path, const struct run_result *r)
{
    json_t *root = json_pack("{s:s, s:s, s:s, s:i, s:I, s:{s:f, s:f}}", "command", "run", "version", CYCLESCOPE_VERSION,
                             "program", r->program, "exit_status", r->status, "instructions",
                             (json_int_t)r->instructions, "host", "seconds", r->seconds, "mips", mips(r));
    if (root == NULL) {
        errno = EILSEQ; /* the program's name is not valid UTF-8 */
        return fail_to_write(own, "--json", path);
    }
    FILE *to = strcmp(path, "-") == 0 ? own->out : fopen(path, "w");
    bool failed = to == NULL || json_dumpf(root, to, JSON_INDENT(2)) != 0 || fputc('\n', to) == EOF;
    if (to != NULL && (to == own->out ? fflush(to) : fclose(to)) != 0)
        failed = true;
    json_decref(root);
    return failed ? fail_to_write(own, "--json", path) : 0;
}

/* A guest that allocates without end must not take others down: this process shall be the first that the kernel kills.
 */
static void offer_to_be_killed_first(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "1000", 4) < 0) {
        /* no matter: it is an offer */
    }
    close(fd);
}

/* A forked guest process ends as the guest ended, since its parent waits for it through the host. */
static void end_as_child(const struct process *p)
{
    int number = process_signal(p);
    if (number) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigset_t mask;
        prctl(PR_SET_DUMPABLE, 0);
        sigaction(number, &action, NULL);
        sigemptyset(&mask);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        kill(getpid(), number);
    }
    _exit(process_status(p));
}

/* As in a shell: what the user or the reader of the output did needs no words. */
static bool dies_quietly(int number)
{
    return number == SIGINT || number == SIGPIPE;
}

static int run_process(const struct run_options *o, struct process *p)
{
    const struct own_output own = {private_stream(STDOUT_FILENO, stdout), private_stream(STDERR_FILENO, stderr)};
    struct error err;
    double start = now_seconds();
    if (emulate_process(p, &interpreter, NULL, &err) != 0)
        return command_fail("%s", err.text);
    if (process_is_child(p))
        end_as_child(p);
    struct run_result result = {.program = process_program(p),
                                .status = process_status(p),
                                .instructions = process_total_insns(p),
                                .seconds = now_seconds() - start};
    if (process_signal(p) && !dies_quietly(process_signal(p)) && !o->quiet)
        fprintf(own.err, "cyclescope: %s was killed by SIG%s\n", result.program, sigabbrev_np(process_signal(p)));
    int failed = 0;
    if (o->count)
        failed |= print_count(&own, o->count, &result);
    if (o->json)
        failed |= print_json(&own, o->json, &result);
    fflush(own.err);
    return failed || process_loader_failed(p) ? STATUS_OWN_ERROR : result.status;
}

int command_run(int argc, char **argv)
{
    struct run_options o = {0};
    guest_options_init(&o.guest);
    const struct option table[] = {
        {"count", OPTION_OPTIONAL, &o.count, "FILE", "print instructions, seconds and MIPS (to FILE)"},
        {"json", OPTION_STRING, &o.json, "FILE", "write the figures as JSON; - is standard output"},
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "say nothing when the program dies"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    struct error err;
    int first = options_parse(table, ROWS, argc, argv, &err);
    if (first < 0)
        return command_fail("%s", err.text);
    if (o.help) {
        puts("usage: cyclescope run [options] [--] PROGRAM [ARGUMENTS]\n\n"
             "Runs a 64-bit RISC-V Linux program, static or dynamic, and passes its exit status through\n"
             "(128 + n for death by signal n, 125 for an error of Cyclescope's own).\n\noptions:");
        options_print(table, ROWS, stdout);
        return 0;
    }
    if (guest_options_finish(&o.guest, argv + first, &err) != 0) {
        guest_options_free(&o.guest);
        return command_fail("%s", err.text);
    }
    offer_to_be_killed_first();
    struct process *p = process_new(&o.guest.config, &err);
    int status = p ? run_process(&o, p) : command_fail("%s", err.text);
    process_free(p);
    guest_options_free(&o.guest);
    return status;
}
