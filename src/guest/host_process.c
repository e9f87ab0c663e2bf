#include "guest/host_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "guest/process.h"

void prefer_oom_kill(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "1000", 4) < 0) {
        /* Ignored: the setting is a precaution. */
    }
    close(fd);
}

_Noreturn void end_as_child(const struct process *p)
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
