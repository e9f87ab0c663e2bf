#include "phases/choose.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emulate/engine.h"
#include "guest/host_process.h"
#include "guest/process_copy.h"

enum { POLL_MS = 2 };                /* pause between two checks whether the copy has ended */
#define UNITS_MOST ((size_t)1 << 24) /* most units whose phases are handed over */

/* What a copy hands over, in memory that it shares with its parent. */
struct choice {
    struct error err;
    int code;
    struct run_facts facts;
    size_t count;
    unsigned phases;
    uint64_t window_insns, head;
    size_t units;
    struct point point[CHOOSE_LIMIT + CHOOSE_PER_PHASE * PHASES_MOST + 1];
    struct point_phase phase[PHASES_MOST + 3];
    uint8_t unit[UNITS_MOST];
};

/* The copy: profiles itself to the end of the run and chooses points. */
static void choose_as_copy(struct process *process, const struct choose_options *o, struct choice *to)
{
    struct bbv_set set = {0};
    struct points p = {0};
    struct unit_phases units = {0};
    to->code = bbv_profile(process, choose_interval(o->unit), &set, &to->err);
    if (process_is_child(process))
        end_as_child(process);
    if (to->code == 0 && process_interruption(process))
        to->code = error_set(&to->err, -EINTR, "interrupted while looking for phases: there is no estimate");
    const char *spoiled = process_spoiled(process);
    if (to->code == 0 && spoiled)
        to->code = error_set(&to->err, -ENOTSUP, "points cannot be chosen: %s", spoiled);
    if (to->code == 0)
        to->code = points_choose(&set, o, &p, &units, &to->err);
    if (to->code != 0)
        return;
    to->facts = (struct run_facts){set.insns, process_copy_acted(process)};
    to->window_insns = p.insns;
    to->head = p.head;
    to->count = p.count;
    to->phases = p.phases;
    to->units = units.count < UNITS_MOST ? units.count : UNITS_MOST;
    memcpy(to->point, p.point, p.count * sizeof *p.point);
    memcpy(to->phase, p.phase, p.phases * sizeof *p.phase);
    memcpy(to->unit, units.phase, to->units);
}

/* The copy: runs to the end. */
static void count_as_copy(struct process *process, const struct choose_options *o, struct choice *to)
{
    (void)o;
    struct engine_state *engine = interpreter.create(process_memory(process), &to->err);
    to->code = engine ? 0 : -ENOMEM;
    for (struct thread *t; engine && (t = process_next(process)) != NULL;) {
        interpreter.run(engine, thread_hart(t));
        process_trap(process, t);
    }
    if (process_is_child(process))
        end_as_child(process);
    const char *spoiled = process_spoiled(process);
    if (to->code == 0 && spoiled)
        to->code = error_set(&to->err, -ENOTSUP, "%s", spoiled);
    to->facts = (struct run_facts){process_retired_insns(process), process_copy_acted(process)};
}

/* Lets a copy of the process do this, and waits for it. Returns the code of the copy. */
static int do_in_copy(struct process *process, const struct choose_options *o, struct choice *c, struct error *err,
                      void (*work)(struct process *process, const struct choose_options *o, struct choice *to))
{
    c->code = -EINTR;
    int status, copied = 0, pid = process_fork_copy(process, &copied, err), code = pid < 0 ? pid : 0;
    if (pid == 0) {
        c->code = copied;
        c->err = *err;
        if (copied == 0)
            work(process, o, c);
        _exit(0);
    }
    while (code == 0 && waitpid(pid, &status, WNOHANG | __WALL) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
        if (process_interruption(process)) /* the copy may not have got the signal */
            kill(pid, SIGKILL);
    }
    if (code == 0 && c->code != 0 && process_interruption(process))
        error_set(&c->err, c->code, "interrupted while looking for phases: there is no estimate");
    if (code == 0 && c->code != 0) {
        code = c->code;
        if (c->err.text[0])
            *err = c->err;
        else
            error_set(err, code, "the process that looks for points was killed");
    }
    return code;
}

static struct choice *new_choice(struct error *err)
{
    struct choice *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c != MAP_FAILED)
        return c;
    error_set(err, -ENOMEM, "out of memory for points");
    return NULL;
}

/* Copies the result out of shared memory. */
static int take_choice(const struct choice *from, struct points *p, struct unit_phases *units, struct error *err)
{
    p->point = malloc(from->count * sizeof *p->point);
    p->phase = malloc(from->phases * sizeof *p->phase);
    units->phase = malloc(from->units + 1);
    if (p->point == NULL || p->phase == NULL || units->phase == NULL)
        return error_set(err, -ENOMEM, "out of memory for points");
    p->count = from->count;
    p->phases = from->phases;
    p->insns = from->window_insns;
    p->head = from->head;
    p->covered = from->facts.insns;
    units->count = from->units;
    memcpy(p->point, from->point, from->count * sizeof *p->point);
    memcpy(p->phase, from->phase, from->phases * sizeof *p->phase);
    memcpy(units->phase, from->unit, from->units);
    return 0;
}

int points_choose_for(struct process *process, const struct choose_options *o, struct points *p,
                      struct unit_phases *units, struct run_facts *facts, struct error *err)
{
    struct choice *c = new_choice(err);
    if (c == NULL)
        return -ENOMEM;
    int code = do_in_copy(process, o, c, err, choose_as_copy);
    if (code == 0)
        code = take_choice(c, p, units, err);
    *facts = c->facts;
    munmap(c, sizeof *c);
    return code;
}

int run_facts_for(struct process *process, struct run_facts *facts, struct error *err)
{
    struct choice *c = new_choice(err);
    if (c == NULL)
        return -ENOMEM;
    int code = do_in_copy(process, NULL, c, err, count_as_copy);
    *facts = c->facts;
    munmap(c, sizeof *c);
    return code;
}
