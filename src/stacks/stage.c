/* Views of one stage. A stage has a number of slots per cycle. A slot with an instruction of the right path is base, a
 * slot with one of the wrong path is charged to branch prediction, and an empty slot to what the stage lacked.
 *
 * All stages count as many slots as the narrowest stage has, so that their bases are equal. Instructions beyond this
 * width in a cycle take slots of the cycles that follow (Eyerman, Heirman, Du Bois, Hur: Multi-Stage CPI Stacks,
 * 2018). */
#include "stacks/stacks_priv.h"

struct stage {
    struct ledger ledger;
    uint64_t width;      /* slots per cycle */
    uint64_t carried;    /* instructions beyond the width, not yet counted */
    enum component miss; /* last instruction miss, until its instruction is dispatched; else COMPONENT_base */
    bool unresolved;     /* a mispredicted branch of the right path is in the ROB and not resolved */
    bool refilling;      /* a misprediction has been resolved, and no instruction has entered the ROB since */
};

/* What a stage did in each of the cycles of a record. */
struct slots {
    unsigned right, wrong; /* instructions */
    enum component lacks;  /* what empty slots are charged to */
};

uint64_t stage_narrowest(const struct core_config *k)
{
    uint64_t dispatch = k->dispatch_bundle ? k->dispatch_bundle : k->dispatch_width;
    uint64_t commit = k->dispatch_bundle ? k->dispatch_bundle : k->commit_width;
    uint64_t width = dispatch < commit ? dispatch : commit;
    return width < k->issue_width ? width : k->issue_width;
}

/* What to charge when the front end delivers nothing. */
static enum component front_end(const struct stage *s)
{
    return s->unresolved               ? COMPONENT_branch
           : s->miss != COMPONENT_base ? s->miss
           : s->refilling              ? COMPONENT_branch
                                       : COMPONENT_base;
}

/* Charges the slots of n cycles. */
static void charge_slots(struct stage *s, const struct slots *slots, uint64_t n)
{
    uint64_t room = s->width * n, used = slots->right * n + s->carried;
    s->carried = used > room ? used - room : 0;
    used -= s->carried;
    uint64_t empty = room - used, wrong = slots->wrong * n;
    wrong = wrong < empty ? wrong : empty;
    charge_now(&s->ledger, COMPONENT_branch, wrong);
    if (slots->lacks != COMPONENT_base)
        charge_now(&s->ledger, slots->lacks, empty - wrong);
}

/* Remembers an instruction miss or misfetch on the right path. */
static void note_front_end(struct stage *s, const struct cycle_record *r)
{
    if (r->fetch_stop >= FETCH_L1I && r->fetch_stop <= FETCH_MISFETCH && !(r->flags & CYCLE_WRONG_PATH))
        s->miss = component_of_miss(r->fetch_stop - FETCH_L1I);
}

static void dispatch_cycles(void *state, const struct cycle_record *r, uint64_t n)
{
    struct stage *s = state;
    struct slots slots = {r->dispatched - r->dispatched_wrong, r->dispatched_wrong, COMPONENT_base};
    note_front_end(s, r);
    if (r->dispatch_stop >= DISPATCH_ROB && r->dispatch_stop <= DISPATCH_REGS)
        slots.lacks = component_of_wait(r->head_wait);
    else if (r->dispatch_stop == DISPATCH_EMPTY)
        slots.lacks = front_end(s);
    charge_slots(s, &slots, n);
}

static void issue_cycles(void *state, const struct cycle_record *r, uint64_t n)
{
    struct stage *s = state;
    struct slots slots = {r->issued - r->issued_wrong, r->issued_wrong, component_of_wait(r->head_wait)};
    note_front_end(s, r);
    if (slots.lacks == COMPONENT_base && (s->unresolved || r->issue_stop == ISSUE_EMPTY))
        slots.lacks = front_end(s);
    charge_slots(s, &slots, n);
}

static void commit_cycles(void *state, const struct cycle_record *r, uint64_t n)
{
    struct stage *s = state;
    struct slots slots = {r->committed, 0, component_of_wait(r->head_wait)};
    note_front_end(s, r);
    if (r->commit_stop == COMMIT_EMPTY)
        slots.lacks = front_end(s);
    charge_slots(s, &slots, n);
}

static void begin(void *state)
{
    struct stage *s = state;
    s->width = stage_narrowest(s->ledger.core);
}

static void dispatched(void *state, const struct insn_view *v)
{
    struct stage *s = state;
    if (v->wrong_path)
        return;
    if (v->events & EVENTS_OF_FETCH)
        s->miss = COMPONENT_base;
    s->unresolved |= v->mispredicted;
}

static void mispredicted(void *state, const struct insn_view *v)
{
    struct stage *s = state;
    if (v->wrong_path)
        return;
    s->unresolved = false;
    s->refilling = true;
}

static void entered(void *state)
{
    struct stage *s = state;
    s->refilling = false;
}

#define STAGE_VIEW(name)                                                                                               \
    const struct stack_method stack_view_##name = {.state_bytes = sizeof(struct stage),                                \
                                                   .begin = begin,                                                     \
                                                   .dispatched = dispatched,                                           \
                                                   .mispredicted = mispredicted,                                       \
                                                   .entered = entered,                                                 \
                                                   .cycles = name##_cycles,                                            \
                                                   .parts = stage_narrowest}

extern const struct stack_method stack_view_dispatch, stack_view_issue, stack_view_commit;
STAGE_VIEW(dispatch);
STAGE_VIEW(issue);
STAGE_VIEW(commit);
