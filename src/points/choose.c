#include "points/choose.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "guest/host_process.h"
#include "guest/shadow.h"
#include "phases/cluster.h"

enum { POINTS_PER_PHASE = 3, PHASES_MOST = 30 };

/* ---- how many of each phase */

struct allotment {
    size_t *members; /* whole intervals of a phase */
    size_t *points;  /* of them to be simulated */
};

/* Two of each, or its only one; then one by one to the phase that has the fewest for its weight. */
static void allot(const struct points *p, struct allotment *a, size_t points)
{
    size_t given = 0;
    for (unsigned h = 0; h < p->phases; h++)
        given += a->points[h] = a->members[h] < 2 ? a->members[h] : 2;
    while (given < points) {
        unsigned best = p->phases;
        double most = 0;
        for (unsigned h = 0; h < p->phases; h++) {
            double want = p->phase[h].weight / (double)(a->points[h] + 1);
            if (a->points[h] < a->members[h] && want > most) {
                most = want;
                best = h;
            }
        }
        if (best == p->phases)
            break;
        a->points[best]++;
        given++;
    }
}

/* ---- which */

/* A phase's intervals in the order of the run are cut into as many equal runs as it gets points, and one is drawn from
 * each. */
static void draw(const struct bbv_set *s, const struct clusters *c, unsigned phase, const struct allotment *a,
                 struct random *random, struct points *p)
{
    size_t seen = 0, taken = 0, members = a->members[phase], points = a->points[phase];
    size_t from = 0, to = points ? members / points : 0, chosen = to ? random_u64(random) % to : 0;
    for (size_t i = 0; i < s->count && taken < points; i++) {
        if (c->of[i] != phase || s->vector[i].insns < s->interval)
            continue;
        if (seen++ != chosen)
            continue;
        p->point[p->count++] = (struct point){{i * s->interval, s->interval}, phase};
        taken++;
        from = to;
        to = (taken + 1) * members / points;
        chosen = taken < points ? from + random_u64(random) % (to - from) : 0;
    }
}

static int fill(const struct bbv_set *s, const struct clusters *c, const struct choose_options *o, size_t points,
                struct points *p)
{
    struct allotment a = {calloc(c->count, sizeof *a.members), calloc(c->count, sizeof *a.points)};
    struct random random;
    size_t all = 0;
    p->phase = calloc(c->count, sizeof *p->phase);
    p->phases = c->count;
    p->insns = s->interval;
    for (size_t i = 0; a.members && i < s->count; i++)
        a.members[c->of[i]] += s->vector[i].insns >= s->interval;
    for (unsigned h = 0; a.members && p->phase && h < c->count; h++)
        p->phase[h] = (struct point_phase){h, c->point[h].weight, a.members[h]};
    bool whole = a.members && a.points && p->phase;
    if (whole)
        allot(p, &a, points);
    for (unsigned h = 0; whole && h < c->count; h++)
        all += a.points[h];
    p->point = whole ? calloc(all + 1, sizeof *p->point) : NULL;
    random_seed(&random, o->seed);
    for (unsigned h = 0; p->point && h < c->count; h++)
        draw(s, c, h, &a, &random, p);
    free(a.members);
    free(a.points);
    return p->point ? 0 : -ENOMEM;
}

int points_choose(const struct bbv_set *s, const struct choose_options *o, struct points *p, struct error *err)
{
    struct clusters c = {0};
    size_t points = o->points;
    if (points == 0) {
        points = (size_t)(CHOOSE_SHARE * (double)s->count);
        points = points < CHOOSE_LEAST ? CHOOSE_LEAST : points > CHOOSE_MOST ? CHOOSE_MOST : points;
    }
    if (points > s->count)
        points = s->count;
    unsigned phases = (unsigned)(points / POINTS_PER_PHASE);
    phases = phases < 1 ? 1 : phases > PHASES_MOST ? PHASES_MOST : phases;
    if (s->insns < s->interval)
        return error_set(err, -ENODATA, "the run is shorter than a point of %llu instructions",
                         (unsigned long long)s->interval);
    projected *vector = bbv_project(s);
    if (vector == NULL)
        return error_set(err, -ENOMEM, "out of memory for basic block vectors");
    struct cluster_options clustered = {.max_clusters = phases, .seed = o->seed};
    int code = clusters_find(s, (const projected *)vector, &clustered, &c, err);
    free(vector);
    if (code == 0 && fill(s, &c, o, points, p) != 0)
        code = error_set(err, -ENOMEM, "out of memory for points");
    clusters_free(&c);
    return code == 0 ? points_finish(p, err) : code;
}

/* ---- by a copy of the process */

/* What the copy tells. */
struct choice {
    struct error err;
    int code;
    uint64_t insns;
    size_t count;
    unsigned phases;
    uint64_t interval;
    struct point point[CHOOSE_LIMIT];
    struct point_phase phase[PHASES_MOST];
};

static void choose_as_copy(struct process *process, const struct choose_options *o, struct choice *to)
{
    struct bbv_set set = {0};
    struct points p = {0};
    to->code = bbv_profile(process, o->interval, &set, &to->err);
    if (process_is_child(process))
        end_as_child(process);
    const char *spoiled = process_spoiled(process);
    if (to->code == 0 && spoiled)
        to->code = error_set(&to->err, -ENOTSUP, "points cannot be chosen: %s", spoiled);
    if (to->code == 0)
        to->code = points_choose(&set, o, &p, &to->err);
    if (to->code != 0)
        return;
    to->insns = set.insns;
    to->interval = p.insns;
    to->count = p.count;
    to->phases = p.phases;
    memcpy(to->point, p.point, p.count * sizeof *p.point);
    memcpy(to->phase, p.phase, p.phases * sizeof *p.phase);
}

static int take_choice(const struct choice *from, struct points *p, struct error *err)
{
    p->point = malloc(from->count * sizeof *p->point);
    p->phase = malloc(from->phases * sizeof *p->phase);
    if (p->point == NULL || p->phase == NULL)
        return error_set(err, -ENOMEM, "out of memory for points");
    p->count = from->count;
    p->phases = from->phases;
    p->insns = from->interval;
    memcpy(p->point, from->point, from->count * sizeof *p->point);
    memcpy(p->phase, from->phase, from->phases * sizeof *p->phase);
    return 0;
}

int points_choose_for(struct process *process, const struct choose_options *o, struct points *p, uint64_t *insns,
                      struct error *err)
{
    struct choice *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c == MAP_FAILED)
        return error_set(err, -ENOMEM, "out of memory for points");
    c->code = -EINTR;
    int parent = getpid(), status, pid = fork_silently();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        c->code = process_become_shadow(process, &c->err);
        if (c->code == 0)
            choose_as_copy(process, o, c);
        _exit(0);
    }
    int code = pid < 0 ? error_set(err, -errno, "cannot start a process: %s", strerror(errno)) : 0;
    while (code == 0 && waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    if (code == 0 && c->code != 0) {
        code = c->code;
        if (c->err.text[0])
            *err = c->err;
        else
            error_set(err, code, "the process that looks for points was killed");
    }
    if (code == 0)
        code = take_choice(c, p, err);
    *insns = c->insns;
    munmap(c, sizeof *c);
    return code;
}
