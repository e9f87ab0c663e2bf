#include "report/pipeview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "riscv/insn.h"

enum { SLOTS = UINT16_MAX + 1, ECALL = 0x73 };

struct pipeview {
    FILE *to;
    uint64_t from, end; /* numbers of the window's first instruction and of the one behind it */
    uint64_t number;    /* of the right path's next instruction */
    uint64_t lines;     /* next id in the log */
    uint64_t retired;   /* of those logged */
    uint64_t cycle;     /* that the log has come to */
    uint64_t live;      /* begun and not ended */
    uint64_t *id_at;    /* by slot: id in the log + 1, or 0 */
    pid_t owner;        /* forked processes have copies of all this, and must not write */
    bool may_have_forked;
    struct core_observer observer;
};

/* ---- the log */

static void advance(struct pipeview *p, uint64_t cycle)
{
    if (p->cycle == cycle)
        return;
    if (p->lines == 0)
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
    uint64_t id = p->lines++;
    p->id_at[v->slot] = id + 1;
    p->live++;
    fprintf(p->to, "I\t%" PRIu64 "\t%" PRIu64 "\t0\nL\t%" PRIu64 "\t0\t%" PRIx64 ": %s\nS\t%" PRIu64 "\t0\tF\n", id,
            v->id, id, v->pc, text, id);
}

/* The log's id of an instruction plus 1, or 0 if it is not of the window. */
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

/* Lines of the details are separated by a backslash and an n. */
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

/* A fork is a system call, which the window drains for: the next thing that happens is a fetch. */
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
        p->end = 0; /* the first one behind the window: wrong paths are of no interest any more, either */
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

/* ---- life */

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
