/* What instructions and cycles say of events, on hand-made views and records; sub-events do not overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "branch/branch.h"
#include "core/code.h"
#include "pmu/event_source.h"
#include "pmu/event_spec.h"
#include "report/counts.h"
#include "event_checks.h"

/* ---- cycles */

static uint64_t in_cycle(const char *text, const struct cycle_record *r)
{
    struct event_spec s = spec_of(text);
    cycle_value *of_cycle = event_sources[s.event - events].of_cycle;
    if (of_cycle == NULL)
        fail_msg("'%s' has no value of a cycle record", text);
    return of_cycle(r, event_selection(s.event, s.mask));
}

static void records_tell_what_stages_did(void **state)
{
    (void)state;
    struct cycle_record r = {.fetched = 4,
                             .dispatched = 3,
                             .issued = 5,
                             .committed = 2,
                             .dispatched_wrong = 1,
                             .issued_wrong = 2,
                             .rob = 300,
                             .flags = CYCLE_WRONG_PATH | CYCLE_ROB_FULL};
    assert_int_equal(in_cycle("cycles", &r), 1);
    assert_int_equal(in_cycle("fetched", &r), 4);
    assert_int_equal(in_cycle("dispatched", &r), 3);
    assert_int_equal(in_cycle("issued", &r), 5);
    assert_int_equal(in_cycle("instructions", &r), 2);
    assert_int_equal(in_cycle("wrong_path_dispatched", &r), 1);
    assert_int_equal(in_cycle("wrong_path_issued", &r), 2);
    assert_int_equal(in_cycle("rob_occupancy", &r), 300);
    assert_int_equal(in_cycle("rob_full_cycles", &r), 1);
    assert_int_equal(in_cycle("rob_empty_cycles", &r), 0);
    assert_int_equal(in_cycle("wrong_path_cycles", &r), 1);
    assert_int_equal(in_cycle("completion_cycles", &r), 1);
    assert_int_equal(in_cycle("fetch_stalls", &r), 0);
    r = (struct cycle_record){.fetch_stop = FETCH_LOST};
    assert_int_equal(in_cycle("rob_full_cycles", &r), 0);
    assert_int_equal(in_cycle("rob_empty_cycles", &r), 1);
    assert_int_equal(in_cycle("wrong_path_cycles", &r), 0);
    assert_int_equal(in_cycle("completion_cycles", &r), 0);
    assert_int_equal(in_cycle("fetch_cycles", &r), 0);
}

static void a_stall_is_a_stop_in_which_nothing_moves(void **state)
{
    (void)state;
    struct cycle_record r = {.fetch_stop = FETCH_L2I, .fetched = 1, .dispatch_stop = DISPATCH_IQ, .dispatched = 2};
    assert_int_equal(in_cycle("fetch_stops:l2i", &r), 1);
    assert_int_equal(in_cycle("fetch_stalls:l2i", &r), 0);
    assert_int_equal(in_cycle("dispatch_stops:iq", &r), 1);
    assert_int_equal(in_cycle("iq_full_cycles", &r), 1);
    assert_int_equal(in_cycle("back_end_stalls", &r), 0);
    r.fetched = r.dispatched = 0;
    assert_int_equal(in_cycle("fetch_stalls:l2i", &r), 1);
    assert_int_equal(in_cycle("fetch_stalls:l1i", &r), 0);
    assert_int_equal(in_cycle("fetch_stalls:l1i|l2i", &r), 1);
    assert_int_equal(in_cycle("fetch_stalls", &r), 1);
    assert_int_equal(in_cycle("dispatch_stalls:iq", &r), 1);
    assert_int_equal(in_cycle("back_end_stalls", &r), 1);
    assert_int_equal(in_cycle("front_end_stalls", &r), 0);
    r.dispatch_stop = DISPATCH_EMPTY;
    assert_int_equal(in_cycle("back_end_stalls", &r), 0);
    assert_int_equal(in_cycle("stalled-cycles-frontend", &r), 1);
}

/* Each reason has the mask bit of its name in JSON. */
static void reasons_have_their_names(void **state)
{
    (void)state;
    static const char *const stops[] = {"fetch_stops", "dispatch_stops", "issue_stops", "commit_stops", "window_open"};
    static const char *const stalls[] = {"fetch_stalls", "dispatch_stalls", "issue_stalls", "commit_stalls",
                                         "head_stalls"};
    for (unsigned s = 0; s < STAGES; s++) {
        for (unsigned i = 0; i < stage_rows[s].reasons; i++) {
            struct cycle_record r = {0};
            const char *name = stage_rows[s].reason[i].name;
            char text[80];
            uint8_t *stop[] = {&r.fetch_stop, &r.dispatch_stop, &r.issue_stop, &r.commit_stop, &r.head_wait};
            *stop[s] = (uint8_t)i;
            snprintf(text, sizeof text, "%s:%s", stops[s], name);
            assert_int_equal(in_cycle(text, &r), 1);
            if (i == 0 || (s == STAGE_ROW_DISPATCH && i == DISPATCH_BUNDLE)) /* with these, something moves */
                continue;
            snprintf(text, sizeof text, "%s:%s", stalls[s], name);
            assert_int_equal(in_cycle(text, &r), 1);
        }
    }
}

/* Every cycle is one of these: the stall breakdown. */
static void the_breakdown_has_every_cycle_once(void **state)
{
    (void)state;
    static const char *const parts[] = {"completion_cycles",  "empty_window",  "data_stalls",
                                        "translation_stalls", "reject_stalls", "integer_stalls",
                                        "fpu_stalls",         "turn_stalls",   "store_stalls"};
    for (unsigned wait = 0; wait < HEAD_WAITS; wait++) {
        struct cycle_record moving = {.committed = 1, .commit_stop = COMMIT_WIDTH}, empty = {0}, waiting = {0};
        empty.commit_stop = COMMIT_EMPTY;
        waiting.commit_stop = COMMIT_HEAD;
        waiting.head_wait = (uint8_t)wait;
        struct cycle_record *r[] = {&moving, &empty, &waiting};
        for (unsigned k = 0; k < 3; k++) {
            uint64_t sum = 0;
            for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
                sum += in_cycle(parts[i], r[k]);
            assert_int_equal(sum, k == 2 && wait == HEAD_NOTHING ? 0 : 1);
        }
    }
    struct cycle_record entered = {.commit_stop = COMMIT_EMPTY, .dispatched = 2, .cause = CAUSE_BRANCH};
    assert_int_equal(in_cycle("empty_window", &entered), 1);
    assert_int_equal(in_cycle("empty_window:branch", &entered), 1);
    assert_int_equal(in_cycle("empty_window:l1i|l2i", &entered), 0);
    assert_int_equal(in_cycle("window_entries", &entered), 1);
    assert_int_equal(in_cycle("moving_cycles", &entered), 1);
}

/* As stacks/account.c sorts them. */
static void gauges_tell_blocked_from_starved_and_open(void **state)
{
    (void)state;
    struct cycle_record r = {
        .dispatch_stop = DISPATCH_IQ, .head_wait = HEAD_L2D, .fetch_stop = FETCH_ITLB, .flags = CYCLE_STARVED};
    assert_int_equal(in_cycle("rob_blocked", &r), 0); /* the issue queue is not the ROB ... */
    assert_int_equal(in_cycle("rob_starved:itlb", &r), 1);
    assert_int_equal(in_cycle("rob_starved:l1i|l2i|misfetch", &r), 0);
    assert_int_equal(in_cycle("window_blocked:l2d", &r), 1); /* ... but of the window */
    assert_int_equal(in_cycle("window_starved", &r), 0);
    assert_int_equal(in_cycle("window_open", &r), 0);
    r.dispatch_stop = DISPATCH_LSQ;
    assert_int_equal(in_cycle("rob_blocked:l2d", &r), 1);
    assert_int_equal(in_cycle("rob_blocked:l1d", &r), 0);
    assert_int_equal(in_cycle("rob_starved", &r), 0);
    r.dispatch_stop = DISPATCH_WIDTH;
    assert_int_equal(in_cycle("window_open:l2d", &r), 1);
    assert_int_equal(in_cycle("window_starved:itlb", &r), 1);
    r.flags |= CYCLE_ROB_FULL;
    assert_int_equal(in_cycle("rob_blocked:l2d", &r), 1);
    assert_int_equal(in_cycle("window_blocked:l2d", &r), 1);
    r.flags = 0;
    assert_int_equal(in_cycle("window_starved", &r), 0);
}

static void random_record(struct random *r, struct cycle_record *c)
{
    *c = (struct cycle_record){.fetched = random_u64(r) % 3,
                               .dispatched = random_u64(r) % 3,
                               .issued = random_u64(r) % 3,
                               .committed = random_u64(r) % 3,
                               .fetch_stop = random_u64(r) % FETCH_STOPS,
                               .dispatch_stop = random_u64(r) % DISPATCH_STOPS,
                               .issue_stop = random_u64(r) % ISSUE_STOPS,
                               .commit_stop = random_u64(r) % COMMIT_STOPS,
                               .head_wait = random_u64(r) % HEAD_WAITS,
                               .cause = random_u64(r) % CAUSES,
                               .flags = random_u64(r) % 4};
    if (c->fetched == 0 && c->fetch_stop >= FETCH_L1I && c->fetch_stop <= FETCH_MISFETCH)
        c->flags |= random_u64(r) & CYCLE_STARVED;
    if (c->dispatch_stop == DISPATCH_BUNDLE) /* it has something in it */
        c->dispatched = 1;
}

static void bits_of_cycles_sum_to_the_whole(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 3);
    for (unsigned round = 0; round < 20000; round++) {
        struct cycle_record r;
        random_record(&random, &r);
        for (const struct event *e = events; e < events + event_count; e++) {
            cycle_value *of_cycle = event_sources[e - events].of_cycle;
            uint64_t sum = 0, all = of_cycle ? of_cycle(&r, EVENT_ALL) : 0;
            if (of_cycle == NULL || e->paths != PATH_NONE)
                continue;
            for (unsigned b = 0; b < mask_bits(e); b++)
                sum += of_cycle(&r, 1u << b);
            CHECK(e, e->mask == NULL || sum == all);
            CHECK(e, e->unit != UNIT_CYCLES || all <= 1);
        }
    }
}

/* ---- instructions */

static bool by_insn(const char *text, const struct insn_view *v)
{
    struct event_spec s = spec_of(text);
    const struct path_source *source = event_source_of(s.event, s.path);
    if (source->of_insn == NULL)
        fail_msg("'%s' has no predicate of instructions", text);
    return source->of_insn(v, event_selection(s.event, s.mask));
}

static void kinds_of_instructions(void **state)
{
    (void)state;
    const struct insn_view load = {.bits = 0x0007b783, .class = CLASS_LOAD, .size = 8, .addr = 0x1004};
    const struct insn_view store = {.bits = 0x00f70023, .class = CLASS_STORE, .size = 1, .store = true, .addr = 0x1001};
    const struct insn_view add = {.bits = 0x97ba, .class = CLASS_ALU};
    const struct insn_view lr = {.bits = 0x1007a7af, .class = CLASS_STORE, .size = 4, .store = true};
    const struct insn_view sc = {.bits = 0x18e7a7af, .class = CLASS_STORE, .size = 4, .store = true};
    const struct insn_view amo = {.bits = 0x00e7b7af, .class = CLASS_STORE, .size = 8, .store = true};
    const struct insn_view fence = {.bits = 0x0ff0000f, .class = CLASS_STORE};
    const struct insn_view pause = {.bits = 0x0100000f, .class = CLASS_ALU};
    const struct insn_view ecall = {.bits = 0x73, .class = CLASS_ALU}, ebreak = {.bits = 0x100073, .class = CLASS_ALU};
    const struct insn_view csr = {.bits = 0xc00027f3, .class = CLASS_ALU};
    const struct insn_view prefetch = {.bits = 0x0017e013, .class = CLASS_LOAD, .addr = 8};
    const struct insn_view fsqrt = {.bits = 0x5a07f7d3, .class = CLASS_FPSQRT};
    assert_true(by_insn("loads", &load) && by_insn("loads:double", &load) && !by_insn("loads:word", &load));
    assert_true(!by_insn("stores", &load) && by_insn("misaligned_accesses:load", &load));
    assert_true(by_insn("stores:byte", &store) && !by_insn("loads", &store) && !by_insn("misaligned_accesses", &store));
    assert_true(by_insn("atomics:lr", &lr) && by_insn("atomics:sc", &sc) && by_insn("atomics:amo", &amo));
    assert_true(by_insn("loads:word", &lr) && by_insn("stores:double", &amo) && !by_insn("atomics", &store));
    assert_true(by_insn("fences", &fence) && !by_insn("fences", &pause) && !by_insn("fences", &store));
    assert_true(by_insn("system_calls", &ecall) && !by_insn("system_calls", &ebreak) && !by_insn("system_calls", &csr));
    assert_true(by_insn("csr_accesses", &csr) && !by_insn("csr_accesses", &ecall));
    assert_true(by_insn("prefetch_instructions", &prefetch) && !by_insn("loads", &prefetch));
    assert_true(by_insn("compressed_instructions", &add) && !by_insn("compressed_instructions", &load));
    assert_true(by_insn("integer_instructions:alu", &add) && !by_insn("integer_instructions:mul|div", &add));
    assert_true(by_insn("fp_instructions:fpsqrt", &fsqrt) && !by_insn("fp_instructions:fpdiv", &fsqrt));
    assert_true(by_insn("issued:fpsqrt", &fsqrt) && !by_insn("issued:alu", &fsqrt) &&
                !by_insn("fp_instructions", &add));
}

static void events_of_accesses(void **state)
{
    (void)state;
    struct insn_view v = {.bits = 0x0007b783, .class = CLASS_LOAD, .size = 8};
    assert_true(by_insn("load_sources:l1", &v) && !by_insn("l1d_misses", &v));
    v.events = EVENT_L1D;
    assert_true(by_insn("l1d_misses", &v) && by_insn("l1d_misses:spec", &v) && !by_insn("l2d_misses", &v));
    assert_true(by_insn("load_sources:lower", &v) && !by_insn("load_sources:l1|memory|store", &v));
    v.events = EVENT_L1D | EVENT_L2D | EVENT_DTLB | EVENT_REJECT;
    assert_true(by_insn("LLC-load-misses", &v) && by_insn("load_sources:memory", &v) && by_insn("rejected", &v));
    assert_true(by_insn("dtlb_misses", &v) && by_insn("dtlb_load_misses", &v) && !by_insn("dtlb_store_misses", &v));
    v.store = true;
    assert_true(!by_insn("dtlb_load_misses", &v) && by_insn("dtlb_store_misses:spec", &v));
    v.events = EVENT_FORWARD | EVENT_L1I | EVENT_ITLB;
    assert_true(by_insn("forwards", &v) && by_insn("load_sources:store", &v) && by_insn("l1i_misses", &v));
    assert_true(!by_insn("l2i_misses", &v) && by_insn("itlb_misses", &v) && !by_insn("misfetched", &v));
}

static void kinds_of_branches(void **state)
{
    (void)state;
    static const struct {
        enum branch_kind kind;
        const char *name;
    } kinds[] = {{BRANCH_CONDITIONAL, "conditional"},
                 {BRANCH_JUMP, "jump"},
                 {BRANCH_CALL, "call"},
                 {BRANCH_INDIRECT, "indirect"},
                 {BRANCH_INDIRECT_CALL, "indirect"},
                 {BRANCH_RETURN, "return"},
                 {BRANCH_CORETURN, "indirect"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct insn_view v = {.control = true,
                              .kind = (uint8_t)kinds[i].kind,
                              .conditional = kinds[i].kind == BRANCH_CONDITIONAL,
                              .taken = true,
                              .class = CLASS_BRANCH};
        char text[40];
        snprintf(text, sizeof text, "branches:%s", kinds[i].name);
        assert_true(by_insn(text, &v) && by_insn("taken_branches", &v) && !by_insn("not_taken_branches", &v));
        assert_int_equal(by_insn("conditional_branches:taken", &v), v.conditional);
        assert_false(by_insn("mispredictions", &v));
        v.mispredicted = true;
        assert_int_equal(by_insn("mispredictions:conditional", &v), v.conditional);
        assert_int_equal(by_insn("return_mispredictions", &v), v.kind == BRANCH_RETURN);
        assert_int_equal(by_insn("indirect_mispredictions:spec", &v), !v.conditional && v.kind != BRANCH_RETURN);
        v.control = false;
        assert_false(by_insn("branches", &v));
    }
    struct insn_view call = {.control = true, .kind = BRANCH_INDIRECT_CALL};
    assert_true(by_insn("calls:indirect", &call) && !by_insn("calls:direct", &call) && !by_insn("returns", &call));
    struct insn_view straight = {.control = true, .conditional = true};
    assert_true(by_insn("not_taken_branches", &straight) && by_insn("conditional_branches:not_taken", &straight));
}

static void random_view(struct random *r, struct insn_view *v)
{
    static const uint8_t sizes[] = {0, 1, 2, 4, 8};
    uint64_t bits = random_u64(r);
    *v = (struct insn_view){.bits = bits & 1 ? (uint32_t)random_u64(r) : ((uint32_t)random_u64(r) & ~0x7fu) | 0x2f,
                            .addr = random_u64(r),
                            .events = random_u64(r) % 512,
                            .class = random_u64(r) % CLASS_COUNT,
                            .kind = random_u64(r) % (BRANCH_CORETURN + 1),
                            .size = sizes[random_u64(r) % 5],
                            .store = bits >> 1 & 1,
                            .wrong_path = bits >> 2 & 1,
                            .control = bits >> 3 & 1,
                            .taken = bits >> 4 & 1,
                            .mispredicted = bits >> 5 & 1};
    v->conditional = v->control && v->kind == BRANCH_CONDITIONAL;
}

static void an_instruction_is_of_one_bit(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 4);
    for (unsigned round = 0; round < 20000; round++) {
        struct insn_view v;
        random_view(&r, &v);
        for (const struct event *e = events; e < events + event_count; e++) {
            for (unsigned i = 0; i < 2; i++) {
                insn_predicate *of_insn = event_source_of(e, i ? PATH_SPEC : PATH_RETIRED)->of_insn;
                unsigned bits = 0;
                for (unsigned b = 0; of_insn && b < mask_bits(e); b++)
                    bits += of_insn(&v, 1u << b);
                CHECK(e, of_insn == NULL || e->mask == NULL || bits == of_insn(&v, EVENT_ALL));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_tell_what_stages_did),
        cmocka_unit_test(a_stall_is_a_stop_in_which_nothing_moves),
        cmocka_unit_test(reasons_have_their_names),
        cmocka_unit_test(the_breakdown_has_every_cycle_once),
        cmocka_unit_test(gauges_tell_blocked_from_starved_and_open),
        cmocka_unit_test(bits_of_cycles_sum_to_the_whole),
        cmocka_unit_test(kinds_of_instructions),
        cmocka_unit_test(events_of_accesses),
        cmocka_unit_test(kinds_of_branches),
        cmocka_unit_test(an_instruction_is_of_one_bit),
    };
    return cmocka_run_group_tests_name("event values", tests, NULL, NULL);
}
