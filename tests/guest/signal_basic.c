/* Handlers, masks, flags, queues: what POSIX says of signals within one process. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

static volatile int count, last_signal, depth, deepest, order[8];
static volatile siginfo_t last_info;

static void note(int sig)
{
    order[count++ & 7] = sig;
    last_signal = sig;
}

static void note_info(int sig, siginfo_t *info, void *context)
{
    (void)context;
    last_info = *info;
    note(sig);
}

static void set_handler(int sig, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    CHECK(sigaction(sig, &action, NULL) == 0);
}

static void set_info_handler(int sig, int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = note_info;
    action.sa_flags = SA_SIGINFO | flags;
    CHECK(sigaction(sig, &action, NULL) == 0);
}

static void raise_runs_handler(void)
{
    count = 0;
    set_info_handler(SIGUSR1, 0);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(count == 1 && last_signal == SIGUSR1);
    CHECK(last_info.si_signo == SIGUSR1 && last_info.si_code == SI_TKILL && last_info.si_pid == getpid());
    CHECK(kill(getpid(), SIGUSR1) == 0);
    CHECK(count == 2 && last_info.si_code == SI_USER && last_info.si_pid == getpid() && last_info.si_uid == getuid());
}

static void blocked_signals_wait(void)
{
    sigset_t set, old, pending;
    count = 0;
    set_handler(SIGUSR1, note, 0);
    set_handler(SIGUSR2, note, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0);
    CHECK(!sigismember(&old, SIGUSR1));
    kill(getpid(), SIGUSR2);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR1);
    CHECK(count == 0);
    CHECK(sigpending(&pending) == 0);
    CHECK(sigismember(&pending, SIGUSR1) && sigismember(&pending, SIGUSR2) && !sigismember(&pending, SIGHUP));
    CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
    CHECK(count == 2); /* each once */
}

static void recurse(int sig)
{
    depth++;
    if (depth > deepest)
        deepest = depth;
    if (++count < 3)
        raise(sig);
    depth--;
}

static void a_handler_blocks_its_own_signal(void)
{
    count = depth = deepest = 0;
    set_handler(SIGUSR1, recurse, 0);
    raise(SIGUSR1);
    CHECK(count == 3 && deepest == 1);
    count = depth = deepest = 0;
    set_handler(SIGUSR1, recurse, SA_NODEFER);
    raise(SIGUSR1);
    CHECK(count == 3 && deepest == 3);
}

static void resethand_runs_once(void)
{
    struct sigaction now;
    count = 0;
    set_handler(SIGUSR1, note, SA_RESETHAND);
    raise(SIGUSR1);
    CHECK(count == 1);
    CHECK(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
}

static void realtime_signals_queue_in_order(void)
{
    sigset_t set, old;
    count = 0;
    set_info_handler(SIGRTMIN + 1, 0);
    set_info_handler(SIGRTMIN + 2, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    sigaddset(&set, SIGRTMIN + 2);
    sigprocmask(SIG_BLOCK, &set, &old);
    for (int i = 0; i < 3; i++) {
        CHECK(sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 10 + i}) == 0);
        CHECK(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 20 + i}) == 0);
    }
    siginfo_t info;
    struct timespec no_time = {0, 0};
    for (int i = 0; i < 3; i++) {
        CHECK(sigtimedwait(&set, &info, &no_time) == SIGRTMIN + 1);
        CHECK(info.si_value.sival_int == 20 + i && info.si_code == SI_QUEUE && info.si_pid == getpid());
    }
    for (int i = 0; i < 3; i++) {
        CHECK(sigtimedwait(&set, &info, &no_time) == SIGRTMIN + 2);
        CHECK(info.si_value.sival_int == 10 + i);
    }
    CHECK(sigtimedwait(&set, &info, &no_time) == -1 && errno == EAGAIN);
    sigprocmask(SIG_SETMASK, &old, NULL);
    CHECK(count == 0);
}

static volatile double from_handler;

static void use_registers(int sig)
{
    (void)sig;
    double x = 3.5;
    for (int i = 0; i < 10; i++)
        x = x * 1.25 + i;
    from_handler = x;
}

/* A value in every callee- and caller-saved register that the compiler keeps across the system call. */
static void registers_survive_a_handler(void)
{
    set_handler(SIGUSR1, use_registers, 0);
    long pid = getpid(); /* first: a call would clobber the registers below */
    register double f0 asm("fa0") = 1.5, f1 asm("ft3") = 2.5, f2 asm("fs2") = 4.5;
    register long t0 asm("t0") = 11, t4 asm("t4") = 12, s5 asm("s5") = 13;
    register long a0 asm("a0") = pid, a1 asm("a1") = SIGUSR1, a7 asm("a7") = 129;
    asm volatile("fsflags x0, %[flags]\n\tecall"
                 : "+r"(a0), "+r"(a1), "+r"(a7), "+r"(t0), "+r"(t4), "+r"(s5), "+f"(f0), "+f"(f1), "+f"(f2)
                 : [flags] "r"(5L)
                 : "memory");
    long flags, a = a0, b = t0, c = t4, d = s5;
    double x = f0, y = f1, z = f2;
    asm volatile("frflags %0" : "=r"(flags));
    CHECK(a == 0 && b == 11 && c == 12 && d == 13);
    CHECK(x == 1.5 && y == 2.5 && z == 4.5);
    CHECK(flags == 5);
    CHECK(from_handler > 3.5);
}

static char alternate[65536];
static volatile int on_alternate;

static void where_am_i(int sig)
{
    char here;
    stack_t now;
    (void)sig;
    on_alternate = &here >= alternate && &here < alternate + sizeof alternate;
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_ONSTACK);
    CHECK(sigaltstack(&now, NULL) == -1 && errno == EPERM);
}

static void alternate_stack_is_used(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate}, old;
    CHECK(sigaltstack(&stack, NULL) == 0);
    CHECK(sigaltstack(NULL, &old) == 0 && old.ss_sp == alternate && old.ss_flags == 0);
    set_handler(SIGUSR1, where_am_i, SA_ONSTACK);
    raise(SIGUSR1);
    CHECK(on_alternate);
    set_handler(SIGUSR2, note, 0);
    stack.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&stack, NULL) == 0);
    stack.ss_flags = 0;
    stack.ss_size = 100;
    CHECK(sigaltstack(&stack, NULL) == -1 && errno == ENOMEM);
}

static sigjmp_buf jump;

static void jump_out(int sig)
{
    siglongjmp(jump, sig);
}

static void longjmp_leaves_a_handler(void)
{
    set_handler(SIGUSR1, jump_out, 0);
    for (int i = 0; i < 3; i++) {
        int sig = sigsetjmp(jump, 1);
        if (sig == 0)
            raise(SIGUSR1);
        CHECK(sig == 0 || sig == SIGUSR1);
    }
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    CHECK(!sigismember(&now, SIGUSR1));
}

static void ignored_signals_vanish(void)
{
    sigset_t set, old, pending;
    signal(SIGUSR1, SIG_IGN);
    raise(SIGUSR1);
    raise(SIGCHLD); /* ignored by default */
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    set_handler(SIGUSR1, note, 0);
    sigprocmask(SIG_BLOCK, &set, &old);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_IGN); /* discards what is pending */
    sigpending(&pending);
    CHECK(!sigismember(&pending, SIGUSR1));
    count = 0;
    set_handler(SIGUSR1, note, 0);
    sigprocmask(SIG_SETMASK, &old, NULL);
    CHECK(count == 0);
}

static void a_broken_pipe_signals_once(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    close(ends[0]);
    count = 0;
    set_handler(SIGPIPE, note, 0);
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE && count == 1);
    signal(SIGPIPE, SIG_IGN);
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE && count == 1);
    close(ends[1]);
}

static void bad_arguments_fail(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    CHECK(sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL);
    CHECK(sigaction(SIGSTOP, &action, NULL) == -1 && errno == EINVAL);
    CHECK(sigaction(65, &action, NULL) == -1 && errno == EINVAL);
    CHECK(kill(getpid(), 65) == -1 && errno == EINVAL);
    CHECK(kill(getpid(), 0) == 0);
    CHECK(kill(9999999, 0) == -1 && errno == ESRCH);
    CHECK(kill(INT_MIN, 0) == -1 && errno == ESRCH);
    CHECK(waitpid(INT_MIN, NULL, WNOHANG) == -1 && errno == ESRCH);
}

int main(void)
{
    raise_runs_handler();
    blocked_signals_wait();
    a_handler_blocks_its_own_signal();
    resethand_runs_once();
    realtime_signals_queue_in_order();
    registers_survive_a_handler();
    alternate_stack_is_used();
    longjmp_leaves_a_handler();
    ignored_signals_vanish();
    a_broken_pipe_signals_once();
    bad_arguments_fail();
    return check_result();
}
