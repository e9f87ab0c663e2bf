/* Clocks and sleeps. Guest time in ns is the number of instructions retired plus the time slept (sched.h); with
 * --host-time it is the host's clock. */
#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <sys/times.h>

#include "guest/syscalls/syscall.h"
#include "guest/time_convert.h"

/* A negative clock id is a CPU clock: (~id << 3) with these bits added, where id is a pid or a tid and 0 means the
 * caller. */
enum { CPU_CLOCK_OF_THREAD = 4, CPU_CLOCK_KIND = 3 };

static uint64_t host_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return timespec_to_ns(&now);
}

uint64_t process_time_ns(const struct process *p)
{
    return p->config.host_time ? host_clock_ns(CLOCK_MONOTONIC) : p->retired_insns + p->offset_ns;
}

uint64_t process_wall_clock_ns(const struct process *p)
{
    return p->config.host_time ? host_clock_ns(CLOCK_REALTIME) : WALL_CLOCK_START_NS + process_time_ns(p);
}

static int64_t cpu_clock_ns(const struct thread *t, int clock, uint64_t *ns)
{
    int id = ~(clock >> 3);
    if ((clock & CPU_CLOCK_KIND) == CPU_CLOCK_KIND)
        return -EINVAL;
    if (clock & CPU_CLOCK_OF_THREAD) {
        const struct thread *other = id == 0 ? t : thread_by_tid(t->process, id);
        if (!other)
            return -EINVAL;
        *ns = other->hart.retired;
        return 0;
    }
    if (id != 0 && id != t->process->pid)
        return -EINVAL;
    *ns = t->process->retired_insns;
    return 0;
}

static int64_t clock_ns(const struct thread *t, int clock, uint64_t *ns)
{
    const struct process *p = t->process;
    if (clock < 0)
        return cpu_clock_ns(t, clock, ns);
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI: *ns = process_wall_clock_ns(p); return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM: *ns = process_time_ns(p); return 0;
    case CLOCK_PROCESS_CPUTIME_ID:
        *ns = p->config.host_time ? host_clock_ns(CLOCK_PROCESS_CPUTIME_ID) : p->retired_insns;
        return 0;
    case CLOCK_THREAD_CPUTIME_ID: *ns = t->hart.retired; return 0;
    default: return -EINVAL;
    }
}

int64_t sys_clock_gettime(struct thread *t, const uint64_t a[6])
{
    uint64_t ns;
    int64_t result = clock_ns(t, (int)a[0], &ns);
    if (result < 0)
        return result;
    struct timespec now = ns_to_timespec(ns);
    return guest_copy_out(t->process->memory, a[1], &now, sizeof now);
}

int64_t sys_clock_getres(struct thread *t, const uint64_t a[6])
{
    uint64_t ns;
    int64_t result = clock_ns(t, (int)a[0], &ns);
    if (result < 0 || a[1] == 0)
        return result;
    struct timespec resolution = {0, 1};
    return guest_copy_out(t->process->memory, a[1], &resolution, sizeof resolution);
}

int64_t sys_gettimeofday(struct thread *t, const uint64_t a[6])
{
    uint64_t ns = process_wall_clock_ns(t->process);
    struct timeval now = {(time_t)(ns / 1000000000), (suseconds_t)(ns % 1000000000 / 1000)};
    struct timezone zone = {0, 0};
    if (a[0] != 0 && guest_copy_out(t->process->memory, a[0], &now, sizeof now) < 0)
        return -EFAULT;
    return a[1] == 0 ? 0 : guest_copy_out(t->process->memory, a[1], &zone, sizeof zone);
}

/* Times in ticks of 100 Hz, the rate in AT_CLKTCK. */
int64_t sys_times(struct thread *t, const uint64_t a[6])
{
    const struct process *p = t->process;
    const uint64_t tick_ns = 10000000;
    struct tms times = {
        .tms_utime = (clock_t)(p->retired_insns / tick_ns),
        .tms_cutime = (clock_t)(p->children_insns / tick_ns),
    };
    if (a[0] != 0 && guest_copy_out(p->memory, a[0], &times, sizeof times) < 0)
        return -EFAULT;
    return (int64_t)(process_time_ns(p) / tick_ns);
}

/* Sleeps until `deadline_ns`. If a signal ends a relative sleep, writes the remaining time to guest address
 * `left_addr`; 0 for an absolute sleep. */
static int64_t sleep_until(struct thread *t, uint64_t deadline_ns, uint64_t left_addr)
{
    if (call_timed_out(t) || (t->call.deadline_ns == NEVER && process_time_ns(t->process) >= deadline_ns))
        return 0;
    int64_t result = call_sleep(t, deadline_ns);
    if (result == -EINTR && left_addr != 0) {
        uint64_t now = process_time_ns(t->process);
        uint64_t end = t->call.deadline_ns == NEVER ? deadline_ns : t->call.deadline_ns;
        struct timespec left = ns_to_timespec(end > now ? end - now : 0);
        if (guest_copy_out(t->process->memory, left_addr, &left, sizeof left) < 0)
            return -EFAULT;
    }
    return result;
}

int64_t sys_nanosleep(struct thread *t, const uint64_t a[6])
{
    return sys_clock_nanosleep(t, (uint64_t[6]){CLOCK_MONOTONIC, 0, a[0], a[1]});
}

int64_t sys_clock_nanosleep(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    int clock = (int)a[0];
    uint64_t clock_now;
    struct timespec request;
    if (clock_ns(t, clock, &clock_now) < 0 || clock == CLOCK_THREAD_CPUTIME_ID)
        return -EINVAL;
    if (guest_copy_in(p->memory, &request, a[2], sizeof request) < 0)
        return -EFAULT;
    if (!timespec_valid(&request))
        return -EINVAL;
    uint64_t ns = timespec_to_ns(&request);
    if (!(a[1] & TIMER_ABSTIME))
        return sleep_until(t, time_add(process_time_ns(p), ns), a[3]);
    /* Convert an absolute time of any clock to a deadline on the monotonic clock by the time that remains on that
     * clock. */
    return sleep_until(t, ns > clock_now ? time_add(process_time_ns(p), ns - clock_now) : 0, 0);
}
