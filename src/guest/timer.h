/* Interval timers and POSIX timers, on guest time or on instructions retired.
 *
 * A timer expires at an exact instruction: the scheduler cuts the engine's budget at the next expiry. */
#ifndef CYCLESCOPE_GUEST_TIMER_H
#define CYCLESCOPE_GUEST_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct process;

enum { TIMER_POSIX = 3, TIMER_COUNT = 64 }; /* the first three are ITIMER_REAL, _VIRTUAL and _PROF */

struct timer {
    bool used;
    bool cpu;             /* counts instructions retired instead of guest time */
    int clock;            /* of timer_create */
    uint64_t expires_ns;  /* NEVER when disarmed */
    uint64_t interval_ns; /* 0: once */
    int notify;           /* SIGEV_SIGNAL, SIGEV_NONE or SIGEV_THREAD_ID */
    int signal, tid;
    uint64_t value;   /* handed to the handler */
    int overrun;      /* expiries that the pending signal stands for, besides the first */
    int last_overrun; /* the same for the signal that was delivered last */
};

void timers_reset(struct process *p);        /* disarms and deletes all: a new process has none */
void timers_delete_posix(struct process *p); /* a new program keeps the interval timers */
/* The guest time of the next expiry; `running` says that instructions retire meanwhile. NEVER if there is none. */
uint64_t timers_next_ns(const struct process *p, bool running);
void timers_expire(struct process *p);
int timer_delivered(struct process *p, int timer_id); /* its signal was: the overrun, which starts again */

#endif
