#include <string.h>

#include "pmu/event_table_priv.h"

/* ---- masks: names of sub-events, in the order of their bits (event_table_priv.h) */

#define MASK(name) static const struct event_mask_bit name[EVENT_MASK_BITS]

MASK(mask_size) = {{"byte", "one byte"}, {"half", "two bytes"}, {"word", "four bytes"}, {"double", "eight bytes"}};

MASK(mask_atomic) = {{"lr", "load-reserved"}, {"sc", "store-conditional"}, {"amo", "atomic memory operations"}};

MASK(mask_fp) = {
    {"fpadd", "additions, comparisons, conversions and moves"},
    {"fpmul", "multiplications, also fused with an addition"},
    {"fpdiv", "divisions"},
    {"fpsqrt", "square roots"},
};

MASK(mask_integer) = {{"alu", "operations of an ALU"}, {"mul", "multiplications"}, {"div", "divisions and remainders"}};

/* In the order of enum op_class. */
MASK(mask_class) = {
    {"alu", "operations of an ALU"},
    {"mul", "integer multiplications"},
    {"div", "integer divisions and remainders"},
    {"branch", "control transfers"},
    {"load", "loads and prefetch instructions"},
    {"store", "stores, atomics and fences"},
    {"fpadd", "floating-point additions, comparisons, conversions and moves"},
    {"fpmul", "floating-point multiplications, also fused with an addition"},
    {"fpdiv", "floating-point divisions"},
    {"fpsqrt", "square roots"},
};

MASK(mask_branch) = {
    {"conditional", "conditional branches"},
    {"jump", "direct jumps"},
    {"call", "direct calls"},
    {"indirect", "jumps and calls through a register other than returns"},
    {"return", "returns"},
};

MASK(mask_direction) = {{"taken", "taken"}, {"not_taken", "not taken"}};

MASK(mask_misprediction) = {
    {"conditional", "conditional branches"},
    {"indirect", "jumps and calls through a register other than returns"},
    {"return", "returns"},
};

MASK(mask_call) = {{"direct", "direct calls"}, {"indirect", "calls through a register"}};

MASK(mask_data) = {{"load", "by loads"}, {"store", "by stores"}};

MASK(mask_requester) = {
    {"fetch", "for instructions"},
    {"load", "by loads"},
    {"store", "by stores"},
    {"prefetch", "by prefetchers of the level before"},
};

MASK(mask_side) = {{"fetch", "for instructions"}, {"data", "for data"}};

MASK(mask_state) = {{"clean", "unmodified"}, {"dirty", "modified, to be written back"}};

MASK(mask_level) = {
    {"l1i", "first instruction cache"},
    {"l1d", "first data cache"},
    {"l2", "second cache"},
    {"l3", "third cache"},
};

MASK(mask_written) = {{"l1d", "first data cache"}, {"l2", "second cache"}, {"l3", "third cache"}};

MASK(mask_cache) = {
    {"l1i", "first instruction cache"},        {"l1d", "first data cache"},
    {"l2i", "second cache, for instructions"}, {"l2d", "second cache, for data"},
    {"l3i", "third cache, for instructions"},  {"l3d", "third cache, for data"},
};

MASK(mask_source) = {
    {"l1", "the first cache"},
    {"lower", "the second or third cache"},
    {"memory", "memory"},
    {"store", "an older store"},
};

MASK(mask_reject) = {
    {"overlap", "an older store has only part of a load's data"},
    {"mshr", "a load found no MSHR free"},
    {"tlb", "the first-level TLB missed"},
};

MASK(mask_bus) = {{"read", "from memory"}, {"write", "to memory"}};

/* In the order of the reasons in core/core.h. Masks of stalls omit reason 0, which means no stall. */
#define FETCH_REASONS                                                                                                  \
    {"group", "the line, or the branches of a cycle, ended"}, {"buffer", "no room in the fetch buffer"},               \
        {"l1i", "a line comes from the second or third cache"}, {"l2i", "a line comes from memory"},                   \
        {"itlb", "a translation is outstanding"}, {"misfetch", "a taken branch was not in the BTB"},                   \
        {"serial", "the window drains"},                                                                               \
    {                                                                                                                  \
        "lost", "the wrong path has no next instruction"                                                               \
    }
#define DISPATCH_REASONS                                                                                               \
    {"empty", "the front end delivers nothing"}, {"rob", "the ROB is full"}, {"iq", "an issue queue is full"},         \
        {"lsq", "the load/store queue is full"},                                                                       \
    {                                                                                                                  \
        "regs", "no physical register is free"                                                                         \
    }
#define ISSUE_REASONS                                                                                                  \
    {"empty", "no instruction waits"}, {"operands", "no waiting instruction is ready"},                                \
    {                                                                                                                  \
        "units", "units or ports are busy"                                                                             \
    }
#define COMMIT_REASONS                                                                                                 \
    {"empty", "the ROB runs empty"}, {"head", "the oldest instruction is not complete"},                               \
    {                                                                                                                  \
        "stores", "the store buffer is full"                                                                           \
    }
#define HEAD_REASONS                                                                                                   \
    {"issue", "its turn, or a unit"}, {"alu", "an ALU, or a unit of one cycle"},                                       \
        {"unit", "an integer unit of long latency"}, {"fpu", "a floating-point unit of long latency"},                 \
        {"l1d_hit", "data from the first cache, or forwarded"}, {"l1d", "data from the second or third cache"},        \
        {"l2d", "data from memory"}, {"dtlb", "a translation"},                                                        \
        {"walked", "data from the second or third cache, after a page walk"},                                          \
        {"reject", "another try: a partial overlap, or no MSHR"},                                                      \
    {                                                                                                                  \
        "stores", "older stores to reach the cache, or room in the store buffer"                                       \
    }

MASK(mask_fetch_stop) = {{"width", "full width"}, FETCH_REASONS};
MASK(mask_fetch_stall) = {FETCH_REASONS};
MASK(mask_dispatch_stop) = {{"width", "full width"}, DISPATCH_REASONS, {"bundle", "the bundle ended early"}};
MASK(mask_dispatch_stall) = {DISPATCH_REASONS};
MASK(mask_issue_stop) = {{"width", "full width"}, ISSUE_REASONS};
MASK(mask_issue_stall) = {ISSUE_REASONS};
MASK(mask_commit_stop) = {{"width", "full width"}, COMMIT_REASONS};
MASK(mask_commit_stall) = {COMMIT_REASONS};
MASK(mask_head) = {{"nothing", "nothing: it is complete, or the ROB is empty"}, HEAD_REASONS};
MASK(mask_head_stall) = {HEAD_REASONS};

MASK(mask_starved) = {
    {"l1i", "a line comes from the second or third cache"},
    {"l2i", "a line comes from memory"},
    {"itlb", "a translation is outstanding"},
    {"misfetch", "a taken branch was not in the BTB"},
};

MASK(mask_data_stall) = {
    {"l1", "from the first cache, or forwarded"},
    {"lower", "from the second or third cache"},
    {"memory", "from memory"},
    {"walked", "from the second or third cache, after a page walk"},
};

MASK(mask_integer_stall) = {{"alu", "an ALU, or a unit of one cycle"}, {"long", "a unit of more cycles"}};

/* In the order of enum front_cause. */
MASK(mask_cause) = {
    {"start", "nothing has been fetched yet"},
    {"l1i", "a line came from the second or third cache"},
    {"l2i", "a line came from memory"},
    {"itlb", "a translation was outstanding"},
    {"misfetch", "a taken branch was not in the BTB"},
    {"branch", "a misprediction"},
    {"serial", "the window drained"},
};

/* In the order of enum stall_part. */
MASK(mask_stall_part) = {
    {"icache", "an instruction miss, caches and TLB"},
    {"branch", "a misprediction or a misfetch"},
    {"dcache", "data from beyond the first cache"},
    {"translation", "a translation of data"},
    {"reject", "a rejected access: an overlap with a store, or no MSHR"},
    {"fpu", "latency of a floating-point unit"},
    {"integer", "latency of an integer unit"},
    {"hit", "data from the first cache, or forwarded"},
    {"stores", "older stores, or room in the store buffer"},
    {"other", "the window drained, or nothing has been fetched yet"},
};

/* ---- rows */

/* Column `paths` of event.def: the paths that can be selected, and the default. */
enum {
    PATHS_NO_PATH = PATH_NONE,
    PATHS_RETIRED = PATH_RETIRED,
    PATHS_ALL = PATH_SPEC,
    PATHS_RETIRED_OR_ALL = PATH_RETIRED | PATH_SPEC,
    PATHS_ALL_OR_RETIRED = PATH_RETIRED | PATH_SPEC
};

enum {
    STANDARD_NO_PATH = PATH_NONE,
    STANDARD_RETIRED = PATH_RETIRED,
    STANDARD_ALL = PATH_SPEC,
    STANDARD_RETIRED_OR_ALL = PATH_RETIRED,
    STANDARD_ALL_OR_RETIRED = PATH_SPEC
};

/* Column `owner` of event.def. */
enum { OWNER_NOBODY, OWNER_INSN, OWNER_DATA };

const struct event events[] = {
#define EVENT(name_, alias_, category_, unit_, trust_, owner, paths_, mask_, help_, retired_, spec_, cycle)            \
    {                                                                                                                  \
        .name = name_,                                                                                                 \
        .alias = alias_,                                                                                               \
        .category = CATEGORY_##category_,                                                                              \
        .unit = UNIT_##unit_,                                                                                          \
        .trust = TRUST_##trust_,                                                                                       \
        .paths = PATHS_##paths_,                                                                                       \
        .standard = STANDARD_##paths_,                                                                                 \
        .attributed = OWNER_##owner != OWNER_NOBODY,                                                                   \
        .addressed = OWNER_##owner == OWNER_DATA,                                                                      \
        .mask = mask_,                                                                                                 \
        .help = help_,                                                                                                 \
    },
#include "pmu/event.def"
#undef EVENT
};
const size_t event_count = sizeof events / sizeof events[0];

/* Moments as bits. ON_ENDED counts each instruction once, since it either commits or is squashed. */
enum {
    ON_FETCHED = 1 << MOMENT_FETCHED,
    ON_DISPATCHED = 1 << MOMENT_DISPATCHED,
    ON_ISSUED = 1 << MOMENT_ISSUED,
    ON_EXECUTED = 1 << MOMENT_EXECUTED,
    ON_COMPLETED = 1 << MOMENT_COMPLETED,
    ON_MISPREDICTED = 1 << MOMENT_MISPREDICTED,
    ON_COMMITTED = 1 << MOMENT_COMMITTED,
    ON_SQUASHED = 1 << MOMENT_SQUASHED,
    ON_ENDED = ON_COMMITTED | ON_SQUASHED
};

/* Columns of event.def for sources. */
/* clang-format off */
#define TERM(bits, sign, field)       {(uint16_t)offsetof(struct simulation_counts, field), sign, bits}
#define PLUS(bits, field)             TERM(bits, 1, field)
#define MINUS(bits, field)            TERM(bits, -1, field)
#define EVERY(bits, field)            PLUS(bits, field[0])
#define RIGHT(bits, field)            PLUS(bits, field[0]), MINUS(bits, field[1])
#define REASONS(stage, reason)        PLUS(REASON_BIT(reason), core.stage[reason])
#define ENDED_BY(stage, reason)       PLUS(EVENT_ALL, core.stage[reason])
#define WAITED(bits, wait)            PLUS(bits, core.head_wait[wait])
#define WAITS(wait)                   WAITED(STALL_BIT(wait), wait)
#define TERMS(...)                    (const struct count_term[]){__VA_ARGS__, {0}}
#define NONE                          {0}
#define AT(moment, predicate)         {.of_insn = predicate, .moments = ON_##moment}
#define STRIDES(moment, predicate)    {.of_insn = predicate, .moments = ON_##moment, .strides = true}
#define COUNTS(...)                   {.terms = TERMS(__VA_ARGS__)}
#define PER_STALL(value)              value, .per_stall = true
#define BOTH(moment, predicate, ...)  {.of_insn = predicate, .moments = ON_##moment, .terms = TERMS(__VA_ARGS__)}
/* clang-format on */

_Static_assert(sizeof(struct simulation_counts) <= UINT16_MAX, "offsets of counts have 16 bits");

const struct event_source event_sources[] = {
#define EVENT(name_, alias_, category_, unit_, trust_, owner, paths_, mask_, help_, retired_, spec_, cycle)            \
    {.retired = retired_, .spec = spec_, .of_cycle = cycle},
#include "pmu/event.def"
#undef EVENT
};

/* ---- access to sources */

const struct path_source *event_source_of(const struct event *e, uint8_t path)
{
    const struct event_source *s = &event_sources[e - events];
    return path == PATH_SPEC ? &s->spec : &s->retired;
}

uint32_t event_selection(const struct event *e, uint32_t mask)
{
    unsigned bits = 0;
    while (e->mask && bits < EVENT_MASK_BITS && e->mask[bits].name)
        bits++;
    uint32_t all = (UINT32_C(1) << bits) - 1;
    return mask == 0 || (mask & all) == all ? EVENT_ALL : mask;
}

bool event_is_counted(const struct path_source *s, uint32_t selection)
{
    for (const struct count_term *t = s->terms; t && t->sign; t++)
        if (t->bits & selection && t->bits & ~selection)
            return false;
    return s->terms != NULL;
}
