/* An alarm ends an open that waits for the other end of a named pipe. Without one, the open waits for the other end,
 * also when it comes late, and when it has gone again before. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char *const name = "named-pipe";
static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
    (void)sig;
    alarms++;
}

/* An alarm in a short time: what waits for another process waits in the host's time. */
static void alarm_soon(void)
{
    struct itimerval soon = {.it_value = {0, 20000}};
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
}

static void alarm_ends(int flags)
{
    int before = alarms;
    alarm_soon();
    errno = 0;
    CHECK(open(name, flags) == -1 && errno == EINTR);
    CHECK(alarms == before + 1);
}

/* Pipes that are opened again by their number: one with a name waits for a writer, one without does not. */
static void alarm_ends_reopening(void)
{
    int ends[2], before = alarms, fd = open(name, O_RDONLY | O_NONBLOCK);
    char self[32];
    sprintf(self, "/proc/self/fd/%d", fd);
    alarm_soon();
    CHECK(open(self, O_RDONLY) == -1 && errno == EINTR && alarms == before + 1);
    close(fd);

    CHECK(pipe(ends) == 0);
    close(ends[1]);
    sprintf(self, "/proc/self/fd/%d", ends[0]);
    CHECK((fd = open(self, O_RDONLY)) >= 0);
    close(fd);
    close(ends[0]);
}

static void *write_late(void *unused)
{
    usleep(20000);
    int fd = open(name, O_WRONLY);
    CHECK(fd >= 0);
    close(fd);
    return unused;
}

/* The writer says nothing, and is gone at once: the reader's open ends nevertheless. */
static void silent_writer(void)
{
    pthread_t thread;
    char c;
    CHECK(pthread_create(&thread, NULL, write_late, NULL) == 0);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && read(fd, &c, 1) == 0);
    CHECK(!(fcntl(fd, F_GETFL) & O_NONBLOCK) && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
    close(fd);
    pthread_join(thread, NULL);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    CHECK(mkfifo(name, 0600) == 0);
    alarm_ends(O_RDONLY);
    alarm_ends(O_WRONLY);
    alarm_ends_reopening();
    silent_writer();
    CHECK(unlink(name) == 0);
    return check_result();
}
