/* libcyclescope: where the cycles of a program go, reported while the program runs.
 *
 * A breakdown divides the cycles of one interval: cycles in which at least one instruction retired (completion), and
 * cycles in which none did (stalls), by source. Completion and stalls sum exactly to the cycles of the interval.
 *
 * For tools: cyclescope_start runs a 64-bit RISC-V Linux program on a simulated core, in a child process. The tool gets
 * breakdowns while the program runs: one after another, only the latest, or through a callback.
 *
 *     struct cyclescope_options o = cyclescope_defaults();
 *     struct cyclescope *run = cyclescope_start(argv, &o, &error);
 *     while (cyclescope_next(run, &breakdown, &error) > 0)
 *         ...
 *     cyclescope_finish(run, &result, &error);
 *
 * For programs that tune themselves: cyclescope_self_read gives a program its own latest breakdown, if a tool that uses
 * this library or `cyclescope stalls` runs the program. It needs only this header, not the library.
 *
 * A call that fails returns a negative errno code, or NULL, and stores a message in `error`, which may be NULL. The
 * library prints nothing and has no global state: different threads may use different runs at the same time. */
#ifndef CYCLESCOPE_CYCLESCOPE_H
#define CYCLESCOPE_CYCLESCOPE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CYCLESCOPE_API_VERSION 0
#define CYCLESCOPE_API         __attribute__((visibility("default")))

/* ---- breakdowns */

enum cyclescope_source {
    CYCLESCOPE_ICACHE,      /* instruction cache miss or instruction TLB miss */
    CYCLESCOPE_BRANCH,      /* branch misprediction */
    CYCLESCOPE_DCACHE,      /* data cache miss */
    CYCLESCOPE_TRANSLATION, /* data TLB miss */
    CYCLESCOPE_REJECT,      /* a unit rejected the instruction, which had to issue again */
    CYCLESCOPE_FPU,         /* latency of floating-point units */
    CYCLESCOPE_INTEGER,     /* latency of integer units */
    CYCLESCOPE_OTHER,       /* cache hits, full store buffers, serialization */
    CYCLESCOPE_SOURCES
};

/* The layout is the same in memory, in /dev/cyclescope and on all machines: little-endian, 64-bit counts. */
struct cyclescope_breakdown {
    uint32_t size;                       /* size of this struct in bytes */
    uint32_t version;                    /* CYCLESCOPE_API_VERSION */
    uint64_t number;                     /* number of the interval, from 1 */
    uint64_t first_insn, first_cycle;    /* instruction and cycle at which the interval begins */
    uint64_t insns, cycles;              /* instructions and cycles in the interval */
    uint64_t completion;                 /* cycles in which an instruction retired */
    uint64_t stalls[CYCLESCOPE_SOURCES]; /* cycles in which no instruction retired, by source */
    uint64_t error[CYCLESCOPE_SOURCES];  /* half width of the 95 % interval of `stalls`; 0: exact counts */
};

/* Returns the share of an interval's cycles that were lost to a source, 0 to 1. */
static inline double cyclescope_share(const struct cyclescope_breakdown *b, enum cyclescope_source source)
{
    return b->cycles ? (double)b->stalls[source] / (double)b->cycles : 0;
}

/* ---- for the program itself */

/* Reads the latest breakdown of the calling program. Returns
 *   1        `latest` is filled in
 *   0        the program is monitored, but no interval has ended yet, or a monitored program forked this process
 *   -ENOENT  the program is not monitored
 *   another negative code: the monitor has a version that this header does not support, or no descriptor is free
 *
 * `latest` is undefined unless the result is 1. Costs three system calls. Any thread may call it. */
static inline int cyclescope_self_read(struct cyclescope_breakdown *latest)
{
#ifdef O_CLOEXEC
    int fd = open("/dev/cyclescope", O_RDONLY | O_CLOEXEC);
#else
    int fd = open("/dev/cyclescope", O_RDONLY);
#endif
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, latest, sizeof *latest);
    int code = n < 0 ? -errno : 0;
    close(fd);
    if (n <= 0)
        return code;
    bool known = (size_t)n == sizeof *latest && latest->size == sizeof *latest;
    return known && latest->version == CYCLESCOPE_API_VERSION ? 1 : -EPROTO;
}

/* ---- for tools */

struct cyclescope_error {
    char text[512]; /* one sentence without a final newline */
};

/* Initialize with cyclescope_defaults, then set members. A member that is 0 or NULL has its default value. */
struct cyclescope_options {
    size_t size;                    /* size of this struct in the header that the caller was compiled with */
    const char *core;               /* name of a core, or a core file; NULL: eyerman2006 */
    const char *const *settings;    /* parameters of the core, each section.key=value; ends with NULL */
    const char *sysroot;            /* root folder of the program; NULL: the caller's */
    const char *folder;             /* folder in which the program starts; NULL: the caller's */
    const char *const *environment; /* the whole environment, each NAME=VALUE, ends with NULL; NULL: a fixed one */
    uint64_t seed;                  /* seed of the program's random bytes */
    uint64_t memory_bytes;          /* limit of the program's writable memory; 0: 8 GiB */
    uint64_t stack_bytes;           /* size of the program's stack; 0: 8 MiB */
    uint64_t skip_insns;            /* instructions to run at full speed first, without the core */
    uint64_t warmup_insns;          /* instructions to simulate after that without breakdowns */
    uint64_t max_insns;             /* instructions to simulate after that with breakdowns; 0: to the end */
    uint64_t interval_cycles;       /* length of an interval in cycles; 0: 2,000,000 */
    uint64_t interval_insns;        /* length of an interval in instructions, instead of interval_cycles */
    int input, output, errors; /* the caller's descriptors that become the program's 0, 1 and 2; 0: the same number */
    int warm;                  /* 1: skipped instructions warm caches, TLBs and predictors */
    int multiplexed; /* 1: estimate with the core's own counters, multiplexed, which costs cycles; 0: count exactly */
    uint64_t slice;  /* multiplexed: length of a slice, in the unit of intervals; 0: a tenth of an interval */
};

static inline struct cyclescope_options cyclescope_defaults(void)
{
    struct cyclescope_options o;
    memset(&o, 0, sizeof o);
    o.size = sizeof o;
    return o;
}

/* How a run ended. */
struct cyclescope_result {
    int exit_status;                   /* exit status of the program; 128 + n if signal n killed it; 0 if cut */
    int cut;                           /* 1: the run ended early, at max_insns or because a callback ended it */
    struct cyclescope_breakdown total; /* sum of all intervals; `number` is the number of intervals */
};

struct cyclescope; /* a run */

/* Starts a program. `argv` is the program and its arguments, and ends with NULL. The program inherits only descriptors
 * 0, 1 and 2. `options` may be NULL; it and the data that it points to may be freed after the call. Returns when the
 * program is loaded. The caller frees the run. */
CYCLESCOPE_API struct cyclescope *cyclescope_start(char *const argv[], const struct cyclescope_options *options,
                                                   struct cyclescope_error *error);

/* Returns a descriptor for poll, select or epoll. It is readable while a breakdown or the end is available, and after
 * the end. It belongs to the run: do not read or close it. */
CYCLESCOPE_API int cyclescope_fd(const struct cyclescope *run);

/* Waits for the next breakdown. Returns 1, or 0 if the program has ended and there are no more. No breakdown is lost:
 * the simulation waits while some hundred breakdowns have not been taken. */
CYCLESCOPE_API int cyclescope_next(struct cyclescope *run, struct cyclescope_breakdown *next,
                                   struct cyclescope_error *error);

/* Takes all available breakdowns without waiting and returns the latest one. Returns 1, or 0 if there is no new one
 * since the last call. */
CYCLESCOPE_API int cyclescope_latest(struct cyclescope *run, struct cyclescope_breakdown *latest,
                                     struct cyclescope_error *error);

/* Returns 1 if the end has been taken: no more breakdowns will come. */
CYCLESCOPE_API int cyclescope_ended(const struct cyclescope *run);

/* Receives a breakdown. A result other than 0 ends the program. */
typedef int cyclescope_callback(void *context, const struct cyclescope_breakdown *b);

/* Calls `callback` for each breakdown, in the calling thread. Returns 0 when the program has ended, or 1 when the
 * callback ended it. */
CYCLESCOPE_API int cyclescope_each(struct cyclescope *run, cyclescope_callback *callback, void *context,
                                   struct cyclescope_error *error);

/* Waits for the end of the program, discards remaining breakdowns and fills in `result`. Fails if the simulation failed
 * or was killed. */
CYCLESCOPE_API int cyclescope_finish(struct cyclescope *run, struct cyclescope_result *result,
                                     struct cyclescope_error *error);

/* Frees the run. Kills the program if it still runs. `run` may be NULL. */
CYCLESCOPE_API void cyclescope_free(struct cyclescope *run);

/* Returns the name of a source, such as "D-cache"; NULL if `source` is not valid. */
CYCLESCOPE_API const char *cyclescope_source_name(enum cyclescope_source source);

/* Returns the version of the library, such as "0.1.0". */
CYCLESCOPE_API const char *cyclescope_version(void);

#ifdef __cplusplus
}
#endif

#endif
