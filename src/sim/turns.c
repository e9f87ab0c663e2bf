#include "sim/turns.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/core.h"

enum { NOBODY = UINT32_MAX };

/* Lies in memory that all processes share. */
struct turns {
    unsigned programs;
    size_t bytes;            /* of the mapping */
    _Atomic uint32_t holder; /* program that has the core; the others sleep on this word */
    uint32_t last;           /* program that took the core last; written by the holder */
    _Atomic bool ended[CORE_SPACES];
    _Atomic uint32_t bell;        /* calls of turns_ring; the coordinator sleeps on this word */
    _Atomic uint32_t visit;       /* 1: requested; the holder sleeps on this word */
    uint32_t heard;               /* value of `bell` that the coordinator saw last */
    _Alignas(64) uint8_t state[]; /* of the core */
};

/* Not FUTEX_PRIVATE: processes share the words. */
static void sleep_on(_Atomic uint32_t *word, uint32_t value, const struct timespec *longest)
{
    syscall(SYS_futex, word, FUTEX_WAIT, value, longest, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

struct turns *turns_new(unsigned programs, size_t state_bytes, struct error *err)
{
    size_t bytes = sizeof(struct turns) + state_bytes;
    struct turns *t = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED) {
        error_set(err, -errno, "cannot allocate a core to share: %s", strerror(errno));
        return NULL;
    }
    t->programs = programs;
    t->bytes = bytes;
    t->holder = NOBODY;
    return t;
}

void turns_free(struct turns *t)
{
    if (t)
        munmap(t, t->bytes);
}

void *turns_state(struct turns *t)
{
    return t->state;
}

static void give_to(struct turns *t, uint32_t program)
{
    t->holder = program;
    wake_all(&t->holder);
}

void turns_ring(struct turns *t)
{
    t->bell++;
    wake_all(&t->bell);
}

/* ---- the coordinator */

void turns_begin(struct turns *t)
{
    give_to(t, 0);
}

bool turns_wait(struct turns *t, unsigned milliseconds)
{
    struct timespec longest = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    if (t->bell == t->heard)
        sleep_on(&t->bell, t->heard, &longest);
    t->heard = t->bell;
    return t->visit != 0;
}

void turns_end_visit(struct turns *t)
{
    t->visit = 0;
    wake_all(&t->visit);
}

/* ---- programs */

/* The next program that has not ended, which may be `program` itself, or NOBODY. */
static uint32_t next_of(const struct turns *t, unsigned program)
{
    for (unsigned i = 1; i <= t->programs; i++)
        if (!t->ended[(program + i) % t->programs])
            return (program + i) % t->programs;
    return NOBODY;
}

bool turns_take(struct turns *t, unsigned program)
{
    uint32_t holder;
    while ((holder = t->holder) != program)
        sleep_on(&t->holder, holder, NULL);
    bool switched = t->last != program;
    t->last = program;
    return switched;
}

bool turns_alone(const struct turns *t, unsigned program)
{
    return next_of(t, program) == program;
}

void turns_pass(struct turns *t, unsigned program)
{
    give_to(t, next_of(t, program));
}

void turns_end(struct turns *t, unsigned program)
{
    t->ended[program] = true;
    turns_pass(t, program);
}

void turns_request_visit(struct turns *t)
{
    t->visit = 1;
    turns_ring(t);
    while (t->visit != 0)
        sleep_on(&t->visit, 1, NULL);
}
