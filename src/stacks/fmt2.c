/* The front-end miss event table for cores whose window fills up before their ROB does: the back end blocks when
 * dispatch stops for want of any room, be it in the ROB, an issue queue, the load/store queue or the register file. */
#include "stacks/fmt.h"

static void begin(void *state)
{
    fmt_begin(state, TALLY_WINDOW);
}

static void close(const void *state, const uint64_t tally[TALLIES], const struct core_counts *counts, struct stack *s)
{
    (void)state;
    (void)counts;
    charge_blocked(tally, TALLY_WINDOW, s);
}

const struct stack_method stack_method_fmt2 = {.state_bytes = sizeof(struct fmt),
                                               .begin = begin,
                                               .fetched = fmt_fetched,
                                               .dispatched = fmt_dispatched,
                                               .mispredicted = fmt_mispredicted,
                                               .squashed = fmt_squashed,
                                               .committed = fmt_committed,
                                               .entered = fmt_entered,
                                               .close = close};
