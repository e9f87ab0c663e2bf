/* libcyclescope: where the cycles of a program go, while it runs.
 *
 * A breakdown says of an interval how many of its cycles something retired in (completion) and how many were lost, by
 * source. They sum to the interval's cycles, exactly.
 *
 * For tools: cyclescope_start runs a 64-bit RISC-V Linux program on a simulated core, in a process of its own, and
 * breakdowns come while it runs: one after another, the latest, or by a callback.
 *
 *     struct cyclescope_options o = cyclescope_defaults();
 *     struct cyclescope *run = cyclescope_start(argv, &o, &error);
 *     while (cyclescope_next(run, &breakdown, &error) > 0)
 *         ...
 *     cyclescope_finish(run, &result, &error);
 *
 * For programs that tune themselves: cyclescope_self_read gives a program its own latest breakdown, when somebody
 * monitors it (such a tool, or `cyclescope stalls`). It needs nothing but this header.
 *
 * Calls that fail return a negative errno code, or NULL, and leave a sentence in `error`, which may be NULL. Nothing is
 * printed, and there is no state besides the objects: different threads may use different runs at the same time. */
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
    CYCLESCOPE_ICACHE,      /* an instruction miss, that of a translation included */
    CYCLESCOPE_BRANCH,      /* a misprediction */
    CYCLESCOPE_DCACHE,      /* a data miss */
    CYCLESCOPE_TRANSLATION, /* a TLB miss of data */
    CYCLESCOPE_REJECT,      /* sent back by a unit */
    CYCLESCOPE_FPU,         /* latency of floating point */
    CYCLESCOPE_INTEGER,     /* latency of integer units */
    CYCLESCOPE_OTHER,       /* hits, full store buffers, serialization */
    CYCLESCOPE_SOURCES
};

/* The same in memory, in /dev/cyclescope and for all machines: 64-bit numbers, lowest byte first. */
struct cyclescope_breakdown {
    uint32_t size;                       /* bytes of all this */
    uint32_t version;                    /* CYCLESCOPE_API_VERSION */
    uint64_t number;                     /* of the interval, from 1 on */
    uint64_t first_insn, first_cycle;    /* of the program, where it begins */
    uint64_t insns, cycles;              /* in it */
    uint64_t completion;                 /* cycles in which something retired */
    uint64_t stalls[CYCLESCOPE_SOURCES]; /* cycles in which nothing did, by source */
    uint64_t error[CYCLESCOPE_SOURCES];  /* half of the 95 % interval of `stalls`; 0 if they were counted fully */
};

/* A source's part of an interval's cycles, 0 to 1. */
static inline double cyclescope_share(const struct cyclescope_breakdown *b, enum cyclescope_source source)
{
    return b->cycles ? (double)b->stalls[source] / (double)b->cycles : 0;
}

/* ---- for the program itself */

/* The latest breakdown of the calling program: 1; 0: it is monitored, but no interval is over, or it was forked by the
 * one that is; -ENOENT: not monitored; another code: monitored by a version that this header does not understand, or
 * out of descriptors. Unless it is 1, `latest` means nothing. Costs three system calls. Any thread may call it. */
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

/* Begin with cyclescope_defaults. What is 0 or NULL has its default. */
struct cyclescope_options {
    size_t size;                    /* bytes of all this, as the caller was compiled */
    const char *core;               /* a name or a file; NULL: eyerman2006 */
    const char *const *settings;    /* section.key=value each, behind the last one NULL */
    const char *sysroot;            /* the program's root folder; NULL: the caller's */
    const char *folder;             /* of the program to start in; NULL: the caller's */
    const char *const *environment; /* all of it, NAME=VALUE each, behind the last one NULL; NULL: the caller's */
    uint64_t seed;                  /* of the program's random bytes, and of the order in which counters take turns */
    uint64_t memory_bytes;          /* most writable memory of the program; 0: 8 GiB */
    uint64_t stack_bytes;           /* its stack; 0: 8 MiB */
    uint64_t skip_insns;            /* run at full speed first ... */
    uint64_t warmup_insns;          /* ... then on the core, without breakdowns ... */
    uint64_t max_insns;             /* ... then as many with breakdowns; 0: to the end */
    uint64_t interval_cycles;       /* of a breakdown; 0: 2,000,000 */
    uint64_t interval_insns;        /* of a breakdown, instead of cycles */
    int input, output, errors;      /* descriptors that become its 0, 1 and 2; 0: the caller's */
    int warm;                       /* caches, TLBs and predictors see what is skipped */
    int multiplexed; /* by the core's counters, which take turns, at their cost; 0: exactly, for nothing */
    uint64_t slice;  /* multiplexed: cycles or instructions of one turn, as intervals are; 0: a tenth of an interval */
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
    int exit_status;                   /* the program's, 128 + n if signal n ended it; 0 if cut */
    int cut;                           /* max_insns were reached, or a callback ended it */
    struct cyclescope_breakdown total; /* of all intervals; its number is how many there were */
};

struct cyclescope; /* a run */

/* Starts `argv`, which ends with NULL: a program and its arguments. The program has no other descriptors than 0, 1 and
 * 2. `options` may be NULL; it and what it points to need not outlive the call. */
CYCLESCOPE_API struct cyclescope *cyclescope_start(char *const argv[], const struct cyclescope_options *options,
                                                   struct cyclescope_error *error);

/* A descriptor that is readable (poll, select, epoll) while there is something to take, be it a breakdown or the end,
 * and after the end. It stays the run's. */
CYCLESCOPE_API int cyclescope_fd(const struct cyclescope *run);

/* Waits for the next breakdown: 1; 0: there are no more, the program has ended. None is lost: the program's simulation
 * waits when some hundred are not taken. */
CYCLESCOPE_API int cyclescope_next(struct cyclescope *run, struct cyclescope_breakdown *next,
                                   struct cyclescope_error *error);

/* Without waiting, the latest that has come, those before it are passed over: 1; 0: no new one since the last call. */
CYCLESCOPE_API int cyclescope_latest(struct cyclescope *run, struct cyclescope_breakdown *latest,
                                     struct cyclescope_error *error);

/* Whether the end has been taken: no more breakdowns will come. */
CYCLESCOPE_API int cyclescope_ended(const struct cyclescope *run);

/* Ends the program if anything but 0 is returned. */
typedef int cyclescope_callback(void *context, const struct cyclescope_breakdown *b);

/* Calls back with each breakdown until the program has ended, which is 0, or is ended, which is 1. */
CYCLESCOPE_API int cyclescope_each(struct cyclescope *run, cyclescope_callback *callback, void *context,
                                   struct cyclescope_error *error);

/* Waits for the end, passing over breakdowns, and says how it was. A simulation that failed or was killed is an error.
 */
CYCLESCOPE_API int cyclescope_finish(struct cyclescope *run, struct cyclescope_result *result,
                                     struct cyclescope_error *error);

/* Frees the run; the program is killed if it still runs. NULL is none. */
CYCLESCOPE_API void cyclescope_free(struct cyclescope *run);

/* A source in words, as in "D-cache"; NULL for a number that is none. */
CYCLESCOPE_API const char *cyclescope_source_name(enum cyclescope_source source);

/* The version of the library, as in "0.1.0". */
CYCLESCOPE_API const char *cyclescope_version(void);

#ifdef __cplusplus
}
#endif

#endif
