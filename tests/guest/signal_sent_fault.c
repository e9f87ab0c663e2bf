/* SIGSEGV and SIGBUS that another process sends are signals like others: they arrive, and faults are handled later. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t sent[65], faults;
static sigjmp_buf jump;

static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0) {
        sent[sig]++;
        return;
    }
    faults++;
    siglongjmp(jump, 1);
}

static void fault(void)
{
    volatile int *volatile nowhere = (volatile int *)8;
    if (sigsetjmp(jump, 1) == 0)
        *nowhere = 1;
}

static void child_sends(int sig)
{
    int status = 0;
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        _exit(kill(parent, sig) == 0 ? 0 : 1);
    while (!sent[sig])
        usleep(1000);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(sent[sig] == 1);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    int status = 0;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    child_sends(SIGSEGV);
    fault();
    child_sends(SIGBUS);
    fault();
    CHECK(faults == 2);

    /* Without a handler the signal ends the process that gets it. */
    pid_t child = fork();
    if (child == 0) {
        signal(SIGBUS, SIG_DFL);
        for (;;)
            pause();
    }
    usleep(10000);
    CHECK(kill(child, SIGBUS) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    return check_result();
}
