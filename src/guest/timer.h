/* Interval timers and POSIX timers. They run on guest time or on CPU time, which is the number of instructions retired.
 *
 * A timer expires at an exact instruction: the scheduler limits the engine's budget to the next expiry. Timers of
 * descriptors (timerfd) are of the same kind; sys_timerfd.c has their calls. */
#ifndef CYCLESCOPE_GUEST_TIMER_H
#define CYCLESCOPE_GUEST_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct open_file;
struct process;
struct thread;

enum {
    TIMER_POSIX = 3, /* index of the first POSIX timer; before it are ITIMER_REAL, ITIMER_VIRTUAL and ITIMER_PROF */
    TIMER_CPU_LIMIT = 63, /* expires when the process has used its RLIMIT_CPU */
    TIMER_COUNT = 64      /* number of timers of a process */
};

struct timer {
    bool used;              /* the timer exists; always set for interval timers */
    bool cpu;               /* runs on instructions retired instead of guest time */
    int clock;              /* clock id passed to timer_create */
    uint64_t expires_ns;    /* next expiry on the timer's clock; NEVER: disarmed */
    uint64_t interval_ns;   /* period; 0: expires once */
    int notify;             /* SIGEV_SIGNAL, SIGEV_NONE or SIGEV_THREAD_ID */
    int signal;             /* signal sent at expiry */
    int tid;                /* SIGEV_THREAD_ID: thread that receives the signal */
    uint64_t value;         /* si_value of the signal */
    int overrun;            /* expiries since the pending signal was sent */
    struct open_file *file; /* timerfd: its descriptors' record, whose host descriptor is an eventfd; else NULL */
    int last_overrun;       /* value of `overrun` when the last signal was delivered */
};

void timers_reset(struct process *p);        /* disarms all timers and deletes POSIX timers, for a new process */
void timers_delete_posix(struct process *p); /* deletes POSIX timers, for execve, which keeps the interval timers */
/* Returns the guest time of the next expiry, or NEVER. `running`: instructions retire until then; otherwise timers on
 * CPU time do not count. */
uint64_t timers_next_ns(const struct process *p, bool running);
void timers_expire(struct process *p); /* sends the signals of all timers that are due and rearms periodic ones */
/* Returns an unused timer, which is not armed, or NULL. */
struct timer *timer_new(struct process *p, int clock);
void timer_free(struct process *p, struct timer *timer);
/* timer_gettime and timer_settime on this timer: `new_addr` and `old_addr` are guest addresses of a struct itimerspec.
 */
int64_t timer_get(struct thread *t, const struct timer *timer, uint64_t addr);
int64_t timer_change(struct thread *t, struct timer *timer, bool absolute, uint64_t new_addr, uint64_t old_addr);
void timers_limit_cpu(struct process *p); /* RLIMIT_CPU has changed */
/* sys_timerfd.c: the timer of a descriptor expired `count` times; the last descriptor of a timer was closed. */
void timerfd_expire(struct process *p, const struct timer *timer, uint64_t count);
void timerfd_close(struct process *p, const struct open_file *file);
/* The signal of a timer was delivered: returns its overrun count and clears it. */
int timer_delivered(struct process *p, int timer_id);

#endif
