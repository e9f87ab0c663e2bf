/* Clocks go forward, sleeps take as long as asked, timers fire when due. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static volatile int count;

static int64_t now_ns(clockid_t clock)
{
    struct timespec now = {0, 0};
    CHECK(clock_gettime(clock, &now) == 0);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void spin(int rounds)
{
    for (volatile int i = 0; i < rounds; i++)
        ;
}

static void clocks_advance(void)
{
    static const clockid_t clocks[] = {CLOCK_REALTIME,          CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
                                       CLOCK_THREAD_CPUTIME_ID, CLOCK_BOOTTIME,  CLOCK_MONOTONIC_RAW};
    for (unsigned i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        int64_t before = now_ns(clocks[i]);
        spin(10000);
        CHECK(now_ns(clocks[i]) > before);
        struct timespec resolution;
        CHECK(clock_getres(clocks[i], &resolution) == 0 && resolution.tv_sec == 0);
    }
    struct timespec ts;
    CHECK(clock_gettime(1000, &ts) == -1 && errno == EINVAL);
    CHECK(time(NULL) > 1700000000);
    struct timeval tv;
    CHECK(gettimeofday(&tv, NULL) == 0 && tv.tv_sec >= time(NULL) - 1);
    uint64_t t0, t1;
    asm volatile("rdtime %0" : "=r"(t0));
    spin(10000);
    asm volatile("rdtime %0" : "=r"(t1));
    CHECK(t1 > t0);
}

static void sleeps_last(void)
{
    int64_t before = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct timespec half = {0, 200000000};
    CHECK(nanosleep(&half, NULL) == 0);
    CHECK(now_ns(CLOCK_MONOTONIC) - before >= 200000000);
    CHECK(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu < 200000000);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == 0);
    CHECK(now_ns(CLOCK_REALTIME) >= until.tv_sec * INT64_C(1000000000) + until.tv_nsec);
    CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == 0); /* has passed */
    struct timespec bad = {0, 1000000000};
    CHECK(nanosleep(&bad, NULL) == -1 && errno == EINVAL);
}

static void note(int sig)
{
    (void)sig;
    count++;
}

static void interval_timers(void)
{
    static const int kinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    static const int signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
    for (int i = 0; i < 3; i++) {
        struct itimerval every = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}}, left;
        struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
        sigaction(signals[i], &action, NULL);
        count = 0;
        CHECK(setitimer(kinds[i], &every, NULL) == 0);
        while (count < 5)
            spin(1000);
        CHECK(getitimer(kinds[i], &left) == 0);
        int most_us = kinds[i] == ITIMER_REAL ? 1000 : 11000; /* a kernel may count processor time by ticks */
        CHECK(left.it_interval.tv_usec == 1000 && left.it_value.tv_sec == 0 && left.it_value.tv_usec <= most_us);
        CHECK(setitimer(kinds[i], &none, &left) == 0 && left.it_interval.tv_usec == 1000);
        int before = count;
        spin(500000);
        CHECK(count == before);
    }
}

static volatile int value;

static void note_value(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    value = info->si_value.sival_int;
    count += info->si_code == SI_TIMER;
}

static void posix_timers(void)
{
    struct sigaction action;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 33};
    memset(&action, 0, sizeof action);
    action.sa_sigaction = note_value;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMIN, &action, NULL);
    count = 0;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    struct itimerspec every = {{0, 10000000}, {0, 20000000}}, left;
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_nsec <= 20000000 && left.it_value.tv_nsec > 0);
    while (count < 3)
        pause();
    CHECK(value == 33);
    CHECK(timer_getoverrun(timer) >= 0);
    CHECK(timer_delete(timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == -1 && errno == EINVAL);
}

static void usage_is_counted(void)
{
    struct rusage before, after;
    struct tms ticks;
    getrusage(RUSAGE_SELF, &before);
    spin(1000000);
    CHECK(getrusage(RUSAGE_SELF, &after) == 0);
    CHECK(after.ru_utime.tv_sec > before.ru_utime.tv_sec || after.ru_utime.tv_usec > before.ru_utime.tv_usec);
    CHECK(after.ru_maxrss > 0);
    CHECK(times(&ticks) != (clock_t)-1 && ticks.tms_utime >= 0);
}

int main(void)
{
    clocks_advance();
    sleeps_last();
    interval_timers();
    posix_timers();
    usage_is_counted();
    return check_result();
}
