#include "trace/pipeview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "riscv/insn.h"

enum { SLOTS = UINT16_MAX + 1, ECALL = 0x73 };

struct pipeview {
    FILE *to;
    uint64_t from, end; /* numbers of the first logged instruction and of the one behind the last; end 0: log is over */
    uint64_t number;    /* of the right path's next instruction */
    uint64_t next_id;   /* in the log */
    uint64_t retired;   /* logged instructions that have retired */
    uint64_t cycle;     /* of the last line of the log */
    uint64_t live;      /* logged instructions in flight */
    uint64_t *id_at;    /* by slot: id in the log + 1, or 0 */
    pid_t owner;        /* the process that writes; forked processes must not */
    bool may_have_forked; /* check `owner` at the next fetch */
    struct core_observer observer;
};

/* ---- the log */

/* Writes the step to `cycle`, as an absolute cycle at first. */
static void advance(struct pipeview *p, uint64_t cycle)
{
    if (p->cycle == cycle)
        return;
    if (p->next_id == 0)
        fprintf(p->to, "C=\t%" PRIu64 "\n", cycle);
    else
        fprintf(p->to, "C\t%" PRIu64 "\n", cycle - p->cycle);
    p->cycle = cycle;
}

static void begin(struct pipeview *p, const struct insn_view *v, uint64_t cycle)
{
    char text[96] = "";
    struct insn insn;
    insn_decode(v->bits, &insn);
    insn_disassemble(&insn, text, sizeof text);
    advance(p, cycle);
    uint64_t id = p->next_id++;
    p->id_at[v->slot] = id + 1;
    p->live++;
    fprintf(p->to, "I\t%" PRIu64 "\t%" PRIu64 "\t0\nL\t%" PRIu64 "\t0\t%" PRIx64 ": %s\nS\t%" PRIu64 "\t0\tF\n", id,
            v->id, id, v->pc, text, id);
}

/* The id of an instruction in the log + 1, or 0 if it is not logged. */
static uint64_t logged(const struct pipeview *p, const struct insn_view *v)
{
    return p->live ? p->id_at[v->slot] : 0;
}

static void begin_stage(struct pipeview *p, const struct insn_view *v, uint64_t cycle, const char *stage)
{
    uint64_t id = logged(p, v);
    if (id == 0)
        return;
    advance(p, cycle);
    fprintf(p->to, "S\t%" PRIu64 "\t0\t%s\n", id - 1, stage);
}

/* In the Kanata format a backslash and an n separate the lines of the details. */
static void write_details(struct pipeview *p, const struct insn_view *v, uint64_t id)
{
    static const char *const events[] = {"L1I miss",  "L2I miss",  "ITLB miss", "L1D miss",        "L2D miss",
                                         "DTLB miss", "forwarded", "rejected",  "after a misfetch"};
    fprintf(p->to, "L\t%" PRIu64 "\t1\tslot %u", id, v->slot);
    if (v->control)
        fprintf(p->to, "\\n%s to %" PRIx64, v->taken ? "taken" : "not taken", v->addr);
    else if (v->addr)
        fprintf(p->to, "\\naddress %" PRIx64, v->addr);
    if (v->mispredicted)
        fputs("\\nmispredicted", p->to);
    if (v->wrong_path)
        fputs("\\non the wrong path", p->to);
    for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++)
        if (v->events >> i & 1)
            fprintf(p->to, "\\n%s", events[i]);
    fputc('\n', p->to);
}

static void end(struct pipeview *p, const struct insn_view *v, uint64_t cycle, bool flushed)
{
    uint64_t id = logged(p, v);
    if (id == 0)
        return;
    advance(p, cycle);
    write_details(p, v, id - 1);
    fprintf(p->to, "R\t%" PRIu64 "\t%" PRIu64 "\t%d\n", id - 1, p->retired, flushed);
    p->retired += !flushed;
    p->id_at[v->slot] = 0;
    p->live--;
}

/* ---- the observer */

/* A fork is a system call, before which the pipeline drains: the next callback after it is a fetch. */
static void check_owner(struct pipeview *p)
{
    p->may_have_forked = false;
    if (getpid() != p->owner)
        p->end = 0;
}

static void on_fetched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct pipeview *p = context;
    if (p->number >= p->end && !v->wrong_path)
        p->end = 0; /* the first instruction behind the logged range: later wrong paths are not logged, either */
    if (p->end == 0)
        return;
    if (p->may_have_forked) {
        check_owner(p);
        if (p->end == 0)
            return;
    }
    bool inside = v->wrong_path ? p->number > p->from : p->number >= p->from;
    p->number += !v->wrong_path;
    if (inside)
        begin(p, v, cycle);
}

static void on_dispatched(void *context, const struct insn_view *v, uint64_t cycle)
{
    begin_stage(context, v, cycle, "Dp");
}

static void on_issued(void *context, const struct insn_view *v, uint64_t cycle)
{
    begin_stage(context, v, cycle, "Is");
}

static void on_completed(void *context, const struct insn_view *v, uint64_t cycle)
{
    begin_stage(context, v, cycle, "Cp");
}

static void on_committed(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct pipeview *p = context;
    p->may_have_forked |= v->bits == ECALL;
    end(p, v, cycle, false);
}

static void on_squashed(void *context, const struct insn_view *v, uint64_t cycle)
{
    end(context, v, cycle, true);
}

/* ---- creation and end */

struct pipeview *pipeview_new(FILE *to, uint64_t from, uint64_t insns)
{
    struct pipeview *p = calloc(1, sizeof *p);
    uint64_t *id_at = calloc(SLOTS, sizeof *id_at);
    if (p == NULL || id_at == NULL) {
        free(p);
        free(id_at);
        return NULL;
    }
    *p = (struct pipeview){.to = to, .from = from, .id_at = id_at, .owner = getpid(), .may_have_forked = true};
    p->end = insns > UINT64_MAX - from ? UINT64_MAX : from + insns;
    p->observer = (struct core_observer){.fetched = on_fetched,
                                         .dispatched = on_dispatched,
                                         .issued = on_issued,
                                         .completed = on_completed,
                                         .committed = on_committed,
                                         .squashed = on_squashed,
                                         .context = p};
    fputs("Kanata\t0004\n", to);
    return p;
}

const struct core_observer *pipeview_observer(const struct pipeview *p)
{
    return &p->observer;
}

void pipeview_finish(struct pipeview *p)
{
    for (unsigned slot = 0; p->live && slot < SLOTS; slot++) {
        if (p->id_at[slot] == 0)
            continue;
        fprintf(p->to, "R\t%" PRIu64 "\t%" PRIu64 "\t1\n", p->id_at[slot] - 1, p->retired);
        p->id_at[slot] = 0;
        p->live--;
    }
}

void pipeview_free(struct pipeview *p)
{
    if (p)
        free(p->id_at);
    free(p);
}
