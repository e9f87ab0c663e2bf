/* Time is one for all processes: who sleeps longer wakes later, whichever process it is in. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A child that writes to the pipe after this long. */
static pid_t late_writer(const int ends[2], int ms)
{
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        usleep((unsigned)ms * 1000);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    return pid;
}

static void a_timeout_comes_before_late_data(void)
{
    int ends[2], status;
    char byte;
    CHECK(pipe(ends) == 0);
    struct pollfd reader = {ends[0], POLLIN, 0};
    int64_t start = now_ms();
    pid_t pid = late_writer(ends, 600);
    CHECK(poll(&reader, 1, 200) == 0);
    CHECK(now_ms() - start >= 200 && now_ms() - start < 600);
    CHECK(poll(&reader, 1, 10000) == 1);
    CHECK(now_ms() - start >= 600 && now_ms() - start < 5000);
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    close(ends[0]);
    close(ends[1]);
}

static void sleepers_wake_in_order(void)
{
    int ends[2];
    char order[4] = "";
    CHECK(pipe(ends) == 0);
    static const int ms[] = {300, 100, 200};
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            usleep((unsigned)ms[i] * 1000);
            char name = (char)('a' + i);
            _exit(write(ends[1], &name, 1) == 1 ? 0 : 1);
        }
    }
    for (int i = 0; i < 3; i++)
        CHECK(read(ends[0], &order[i], 1) == 1);
    CHECK(order[0] == 'b' && order[1] == 'c' && order[2] == 'a');
    while (wait(NULL) > 0)
        ;
    CHECK(errno == ECHILD);
}

static volatile int alarms;

static void note(int sig)
{
    (void)sig;
    alarms++;
}

static void an_alarm_comes_before_a_sleeping_child_ends(void)
{
    int status;
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGALRM, &action, NULL);
    int64_t start = now_ms();
    pid_t pid = fork();
    if (pid == 0) {
        sleep(1000);
        _exit(0);
    }
    alarm(1);
    CHECK(waitpid(pid, &status, 0) == -1 && errno == EINTR && alarms == 1);
    CHECK(now_ms() - start < 5000);
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

int main(void)
{
    a_timeout_comes_before_late_data();
    sleepers_wake_in_order();
    an_alarm_comes_before_a_sleeping_child_ends();
    return check_result();
}
