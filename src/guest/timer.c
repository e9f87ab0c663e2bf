#include "guest/timer.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "guest/syscalls/syscall.h"
#include "guest/time_convert.h"

static uint64_t timer_now(const struct process *p, const struct timer *timer)
{
    return timer->cpu ? p->retired_insns : process_time_ns(p);
}

static void timer_set(struct process *p, struct timer *timer, uint64_t expires_ns, uint64_t interval_ns)
{
    p->timers_armed += (expires_ns != NEVER) - (timer->expires_ns != NEVER);
    timer->expires_ns = expires_ns;
    timer->interval_ns = interval_ns;
}

void timers_reset(struct process *p)
{
    static const int itimer_signals[TIMER_POSIX] = {SIGALRM, SIGVTALRM, SIGPROF};
    memset(p->timers, 0, sizeof p->timers);
    p->timers_armed = 0;
    for (int i = 0; i < TIMER_COUNT; i++)
        p->timers[i].expires_ns = NEVER;
    for (int i = 0; i < TIMER_POSIX; i++) {
        p->timers[i].used = true;
        p->timers[i].cpu = i != ITIMER_REAL;
        p->timers[i].signal = itimer_signals[i];
    }
    timers_limit_cpu(p);
}

struct timer *timer_new(struct process *p, int clock)
{
    int id = TIMER_POSIX;
    while (id < TIMER_CPU_LIMIT && p->timers[id].used)
        id++;
    if (id == TIMER_CPU_LIMIT)
        return NULL;
    p->timers[id] = (struct timer){.used = true, .clock = clock, .expires_ns = NEVER, .notify = SIGEV_NONE};
    return &p->timers[id];
}

void timer_free(struct process *p, struct timer *timer)
{
    timer_set(p, timer, NEVER, 0);
    timer->used = false;
    timer->file = NULL;
}

/* SIGXCPU when the soft limit is reached and in each second after that, SIGKILL at the hard limit, as in Linux. A
 * second of CPU time has 10^9 instructions. */
void timers_limit_cpu(struct process *p)
{
    const uint64_t second = 1000000000;
    const struct rlimit *limit = &p->limits[RLIMIT_CPU];
    uint64_t first = limit->rlim_cur < limit->rlim_max ? limit->rlim_cur : limit->rlim_max;
    struct timer *timer = &p->timers[TIMER_CPU_LIMIT];
    bool limited = first != RLIM_INFINITY && first < NEVER / second;
    timer->used = false;
    timer->cpu = true;
    timer->signal = SIGXCPU;
    timer_set(p, timer, limited ? (first ? first : 1) * second : NEVER, limited ? second : 0);
}

static void exceed_cpu_limit(struct process *p)
{
    uint64_t hard = p->limits[RLIMIT_CPU].rlim_max;
    bool over = hard != RLIM_INFINITY && p->retired_insns / 1000000000 >= hard;
    signal_send_kernel(p, over ? SIGKILL : SIGXCPU);
}

void timers_delete_posix(struct process *p)
{
    for (int i = TIMER_POSIX; i < TIMER_CPU_LIMIT; i++)
        if (!p->timers[i].file)
            timer_free(p, &p->timers[i]);
}

uint64_t timers_next_ns(const struct process *p, bool running)
{
    uint64_t next = NEVER;
    if (p->timers_armed == 0)
        return next;
    for (int i = 0; i < TIMER_COUNT; i++) {
        const struct timer *timer = &p->timers[i];
        if (timer->expires_ns == NEVER || (timer->cpu && !running))
            continue;
        uint64_t at = timer->expires_ns;
        if (timer->cpu)
            at += process_time_ns(p) - p->retired_insns;
        if (at < next)
            next = at;
    }
    return next;
}

static void add_overrun(struct timer *timer, uint64_t missed)
{
    uint64_t room = (uint64_t)(INT32_MAX - timer->overrun); /* the count saturates at INT32_MAX, as in Linux */
    timer->overrun += (int)(missed < room ? missed : room);
}

static void timer_signal(struct process *p, int id)
{
    struct timer *timer = &p->timers[id];
    if (id == TIMER_CPU_LIMIT) {
        exceed_cpu_limit(p);
        return;
    }
    if (id < TIMER_POSIX) {
        signal_send_kernel(p, timer->signal);
        return;
    }
    if (timer->notify == SIGEV_NONE)
        return;
    struct thread *t = timer->notify == SIGEV_THREAD_ID ? thread_by_tid(p, timer->tid) : NULL;
    const struct signal_queue *queue = t ? &t->pending : &p->pending;
    for (const struct pending_signal *s = queue->first; s; s = s->next) {
        if (s->info.si_code == SI_TIMER && s->info.si_timerid == id) {
            add_overrun(timer, 1);
            return;
        }
    }
    siginfo_t info = {.si_signo = timer->signal, .si_code = SI_TIMER};
    info.si_timerid = id;
    info.si_value.sival_ptr = (void *)(uintptr_t)timer->value;
    signal_send(p, t, &info);
}

void timers_expire(struct process *p)
{
    if (p->timers_armed == 0)
        return;
    for (int i = 0; i < TIMER_COUNT; i++) {
        struct timer *timer = &p->timers[i];
        uint64_t now = timer_now(p, timer);
        if (timer->expires_ns > now || timer->expires_ns == NEVER)
            continue;
        uint64_t next = NEVER, missed = timer->interval_ns > 0 ? (now - timer->expires_ns) / timer->interval_ns : 0;
        if (timer->file)
            timerfd_expire(p, timer, missed + 1);
        else
            timer_signal(p, i);
        if (timer->interval_ns > 0) {
            add_overrun(timer, missed);
            next = time_add(timer->expires_ns + missed * timer->interval_ns, timer->interval_ns);
        }
        timer_set(p, timer, next, timer->interval_ns);
    }
}

int timer_delivered(struct process *p, int timer_id)
{
    if (timer_id < 0 || timer_id >= TIMER_COUNT)
        return 0;
    struct timer *timer = &p->timers[timer_id];
    timer->last_overrun = timer->overrun;
    timer->overrun = 0;
    return timer->last_overrun;
}

static uint64_t timer_left(const struct process *p, const struct timer *timer)
{
    uint64_t now = timer_now(p, timer);
    if (timer->expires_ns == NEVER)
        return 0;
    return timer->expires_ns > now ? timer->expires_ns - now : 1;
}

static uint64_t timeval_ns(struct timeval tv)
{
    return time_to_ns(tv.tv_sec, tv.tv_usec * 1000);
}

static struct timeval ns_timeval(uint64_t ns)
{
    return (struct timeval){(time_t)(ns / 1000000000), (suseconds_t)(ns % 1000000000 / 1000)};
}

int64_t sys_getitimer(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    if (a[0] >= TIMER_POSIX)
        return -EINVAL;
    const struct timer *timer = &p->timers[a[0]];
    struct itimerval value = {ns_timeval(timer->interval_ns), ns_timeval(timer_left(p, timer))};
    return guest_copy_out(p->memory, a[1], &value, sizeof value);
}

int64_t sys_setitimer(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    struct itimerval value = {{0, 0}, {0, 0}};
    if (a[0] >= TIMER_POSIX)
        return -EINVAL;
    if (a[1] != 0 && guest_copy_in(p->memory, &value, a[1], sizeof value) < 0)
        return -EFAULT;
    bool good = value.it_value.tv_sec >= 0 && value.it_interval.tv_sec >= 0;
    good = good && value.it_value.tv_usec >= 0 && value.it_value.tv_usec < 1000000;
    good = good && value.it_interval.tv_usec >= 0 && value.it_interval.tv_usec < 1000000;
    if (!good)
        return -EINVAL;
    if (a[2] != 0 && sys_getitimer(t, (uint64_t[6]){a[0], a[2]}) < 0)
        return -EFAULT;
    struct timer *timer = &p->timers[a[0]];
    uint64_t first = timeval_ns(value.it_value);
    timer_set(p, timer, first ? time_add(timer_now(p, timer), first) : NEVER, timeval_ns(value.it_interval));
    return 0;
}

/* The first fields of struct sigevent, which the guest passes to timer_create. */
struct guest_sigevent {
    uint64_t value;
    int32_t signal, notify, tid;
};

static struct timer *posix_timer(struct process *p, uint64_t id)
{
    return id >= TIMER_POSIX && id < TIMER_CPU_LIMIT && p->timers[id].used && !p->timers[id].file ? &p->timers[id]
                                                                                                  : NULL;
}

int64_t sys_timer_create(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    int id = TIMER_POSIX;
    while (id < TIMER_CPU_LIMIT && p->timers[id].used)
        id++;
    if (id == TIMER_CPU_LIMIT)
        return -EAGAIN;
    int clock = (int)a[0];
    if (clock > CLOCK_TAI || clock == CLOCK_MONOTONIC_RAW)
        return -EINVAL;
    struct guest_sigevent event = {(uint64_t)id, SIGALRM, SIGEV_SIGNAL, 0};
    if (a[1] != 0 && guest_copy_in(p->memory, &event, a[1], sizeof event) < 0)
        return -EFAULT;
    bool to_thread = event.notify == SIGEV_THREAD_ID;
    if (!to_thread && event.notify != SIGEV_SIGNAL && event.notify != SIGEV_NONE)
        return -EINVAL;
    if (event.notify != SIGEV_NONE && (event.signal < 1 || event.signal > SIGNAL_MAX))
        return -EINVAL;
    if (to_thread && !thread_by_tid(p, event.tid))
        return -EINVAL;
    p->timers[id] = (struct timer){
        .used = true,
        .cpu = clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID,
        .clock = clock,
        .expires_ns = NEVER,
        .notify = event.notify,
        .signal = event.signal,
        .tid = event.tid,
        .value = event.value,
    };
    int32_t result = id;
    return guest_copy_out(p->memory, a[2], &result, sizeof result);
}

static struct itimerspec timer_value(const struct process *p, const struct timer *timer)
{
    return (struct itimerspec){ns_to_timespec(timer->interval_ns), ns_to_timespec(timer_left(p, timer))};
}

int64_t timer_get(struct thread *t, const struct timer *timer, uint64_t addr)
{
    struct itimerspec value = timer_value(t->process, timer);
    return guest_copy_out(t->process->memory, addr, &value, sizeof value);
}

int64_t sys_timer_gettime(struct thread *t, const uint64_t a[6])
{
    const struct timer *timer = posix_timer(t->process, a[0]);
    return timer ? timer_get(t, timer, a[1]) : -EINVAL;
}

int64_t timer_change(struct thread *t, struct timer *timer, bool absolute, uint64_t new_addr, uint64_t old_addr)
{
    struct process *p = t->process;
    struct itimerspec value;
    if (guest_copy_in(p->memory, &value, new_addr, sizeof value) < 0)
        return -EFAULT;
    if (!timespec_valid(&value.it_value) || !timespec_valid(&value.it_interval))
        return -EINVAL;
    struct itimerspec old = timer_value(p, timer);
    if (old_addr != 0 && guest_copy_out(p->memory, old_addr, &old, sizeof old) < 0)
        return -EFAULT;
    uint64_t expires = timespec_to_ns(&value.it_value);
    if (expires == 0)
        expires = NEVER;
    else if (!absolute)
        expires = time_add(timer_now(p, timer), expires);
    else if (clock_is_wall(timer->clock))
        expires = wall_to_monotonic_ns(p, expires);
    timer->overrun = 0;
    timer_set(p, timer, expires, timespec_to_ns(&value.it_interval));
    return 0;
}

int64_t sys_timer_settime(struct thread *t, const uint64_t a[6])
{
    struct timer *timer = posix_timer(t->process, a[0]);
    return timer ? timer_change(t, timer, a[1] & TIMER_ABSTIME, a[2], a[3]) : -EINVAL;
}

int64_t sys_timer_getoverrun(struct thread *t, const uint64_t a[6])
{
    const struct timer *timer = posix_timer(t->process, a[0]);
    return timer ? timer->last_overrun : -EINVAL;
}

int64_t sys_timer_delete(struct thread *t, const uint64_t a[6])
{
    struct timer *timer = posix_timer(t->process, a[0]);
    if (!timer)
        return -EINVAL;
    timer_free(t->process, timer);
    return 0;
}
