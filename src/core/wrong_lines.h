/* The instruction lines that wrong paths have requested, for observers: when the right path uses such a line first,
 * they learn which misprediction brought it, and how long after it the wrong path got there. A core whose branches
 * resolve earlier would not have requested the line.
 *
 * Times count from the fetch of the mispredicted branch on the right path, and are split by what the wrong path waited
 * for, since an idealized core would not wait for that.
 *
 * Of several wrong paths that use a line, two count: the one that requested it, and of the others the one that got
 * there soonest after its branch.
 *
 * Each wrong path also keeps its first requests, which occupy MSHRs after it has ended.
 *
 * Limits: a newer line may take the place of an older one in the table. Later requests of a wrong path are not kept,
 * nor are prefetches that found no MSHR. */
#ifndef CYCLESCOPE_CORE_WRONG_LINES_H
#define CYCLESCOPE_CORE_WRONG_LINES_H

#include <stdbool.h>
#include <stdint.h>

enum { WRONG_LINES = 512, WRONG_REQUESTS = 2, WRONG_USES = 1024, WRONG_PATHS = 128, WRONG_PATH_REQUESTS = 4 };

/* How a wrong path came to use a line. */
struct wrong_request {
    uint32_t distance; /* instructions of the right path from the mispredicted branch to the one that uses the line; 0:
                          no wrong path used it */
    uint16_t cycles;   /* from the fetch of the branch to the request, without the following parts; saturates */
    uint16_t lines, second_lines; /* for lines of the L2, and what lines took beyond the L2 */
    uint16_t walks;               /* for translations */
    uint16_t room;                /* until there was room in the front end */
    uint16_t latency;             /* from the request until the line arrived */
    uint16_t mshr_cycles;         /* of those, until the request had an MSHR */
    bool prefetch;                /* by a prefetcher: not made if no MSHR is free */
    uint8_t number;               /* among the requests of its wrong path, from 1; 0: those are not kept so far */
};

/* A request that a wrong path made. */
struct wrong_made {
    uint64_t line;                /* address */
    struct wrong_request request; /* `distance` is 1 or, if there is no such request, 0 */
};

struct wrong_line {
    uint64_t line;                                /* address */
    uint64_t branch[WRONG_REQUESTS];              /* position of the mispredicted branch in the window */
    struct wrong_request request[WRONG_REQUESTS]; /* `distance` is 1 or, if there is no such wrong path, 0 */
};

struct wrong_lines {
    uint64_t branch, since;    /* the mispredicted branch that opened the wrong path; when it was fetched */
    uint64_t full_since;       /* fetch has found no room since then; 0: it has room */
    struct wrong_request now;  /* what the wrong path has waited for so far, and what it waits for now */
    uint64_t waits_until;      /* end of the last wait, if no misprediction on the wrong path ends it before */
    uint16_t *waits_for[2];    /* fields of `now` that count it: its end is in the first one, then in the second */
    uint16_t tag[WRONG_LINES]; /* of the line of each entry, so that few entries are looked at; 0: none */
    struct wrong_line line[WRONG_LINES];
    uint32_t uses;                                            /* by the right path */
    struct wrong_request used[WRONG_USES][WRONG_REQUESTS];    /* ring of the last ones */
    uint32_t paths;                                           /* that have begun */
    struct wrong_made made[WRONG_PATHS][WRONG_PATH_REQUESTS]; /* ring of the last ones: their first requests */
};

void wrong_lines_reset(struct wrong_lines *w);
/* The right path is left at this mispredicted branch. Returns the number of the wrong path for wrong_lines_made. */
uint16_t wrong_lines_begin(struct wrong_lines *w, uint64_t branch, uint64_t now);
/* The wrong path finds room in the front end, or none. */
void wrong_lines_find_room(struct wrong_lines *w, bool room, uint64_t now);
/* The wrong path waits for its translation. */
void wrong_lines_walk(struct wrong_lines *w, uint64_t now, uint64_t cycles);
/* The wrong path waits for a line. `second`: latency of the L2. */
void wrong_lines_wait(struct wrong_lines *w, uint64_t now, uint64_t cycles, uint64_t second);
/* The wrong path requests a line, by itself or through a prefetcher. The request has an MSHR in cycle `begins`, and the
 * line arrives in cycle `ready`. */
void wrong_lines_request(struct wrong_lines *w, uint64_t line, bool prefetch, uint64_t now, uint64_t begins,
                         uint64_t ready);
/* The wrong path uses a line that is there or on its way. */
void wrong_lines_touch(struct wrong_lines *w, uint64_t line, uint64_t now);
/* The right path uses the line, for the instruction at this position. Returns 0 or, if a wrong path has requested the
 * line and this is the first use, the number of the use for wrong_lines_used. */
uint16_t wrong_lines_use(struct wrong_lines *w, uint64_t line, uint64_t position);
/* How wrong paths used the line before. Valid for the next WRONG_USES uses. */
static inline const struct wrong_request *wrong_lines_used(const struct wrong_lines *w, uint16_t use)
{
    return w->used[use % WRONG_USES];
}
/* The first requests of a wrong path (WRONG_PATH_REQUESTS), in order. Valid until WRONG_PATHS more have begun. */
static inline const struct wrong_made *wrong_lines_made(const struct wrong_lines *w, uint16_t path)
{
    return w->made[path % WRONG_PATHS];
}

#endif
