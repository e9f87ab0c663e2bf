/* Conversions between the guest's representations of time and nanoseconds. Times above INT64_MAX nanoseconds (292
 * years) become NEVER. */
#ifndef CYCLESCOPE_GUEST_TIME_CONVERT_H
#define CYCLESCOPE_GUEST_TIME_CONVERT_H

#include <time.h>

#include "guest/process_priv.h"

static inline uint64_t time_to_ns(int64_t seconds, int64_t ns)
{
    uint64_t total;
    if (seconds < 0)
        return 0;
    if (__builtin_mul_overflow((uint64_t)seconds, UINT64_C(1000000000), &total) ||
        __builtin_add_overflow(total, (uint64_t)ns, &total))
        return NEVER;
    return total <= INT64_MAX ? total : NEVER;
}

static inline uint64_t time_add(uint64_t now_ns, uint64_t ns)
{
    return ns <= INT64_MAX && now_ns <= INT64_MAX - ns ? now_ns + ns : NEVER;
}

static inline bool timespec_valid(const struct timespec *ts)
{
    return ts->tv_sec >= 0 && ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000;
}

static inline uint64_t timespec_to_ns(const struct timespec *ts)
{
    return time_to_ns(ts->tv_sec, ts->tv_nsec);
}

static inline struct timespec ns_to_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static inline bool clock_is_wall(int clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
}

/* Returns the guest's monotonic time at which its wall clock shows `wall_ns`; 0 if that is before the monotonic clock's
 * start. */
static inline uint64_t wall_to_monotonic_ns(const struct process *p, uint64_t wall_ns)
{
    uint64_t ahead = process_wall_clock_ns(p) - process_time_ns(p);
    if (wall_ns == NEVER)
        return NEVER;
    return wall_ns > ahead ? wall_ns - ahead : 0;
}

#endif
