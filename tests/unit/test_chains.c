/* Call chains from calls and returns, as they come back from a profile. */
#include <inttypes.h>

#include "branch/branch.h"
#include "profile/chains.h"
#include "profile_fixture.h"

enum { CALL_BYTES = 4, TOP = 0x8000, CHAINS = 100000 };

/* A guest whose functions lie at 0x1000, 0x2000, …; a call is reported with its address and its target. */
struct world {
    struct chains *chains;
    struct profile_writer *writer;
    FILE *file;
    struct hart hart[2];
    struct hart *runs;
};

static struct world begin_with(bool tagged)
{
    struct world w = {0};
    struct error err;
    w.chains = chains_new(tagged, &err);
    assert_non_null(w.chains);
    w.writer = open_writer(&w.file);
    profile_write(w.writer, &(struct profile_record){.kind = PROFILE_EVENT, .event = {.name = "cycles"}});
    w.hart[0].x[REG_SP] = w.hart[1].x[REG_SP] = TOP;
    return w;
}

static struct world begin(void)
{
    return begin_with(true);
}

static void run(struct world *w, unsigned i)
{
    w->runs = &w->hart[i];
    chains_runs(w->chains, w->runs);
}

static void transfer(struct world *w, enum branch_kind kind, uint64_t pc, uint64_t target, uint64_t sp)
{
    w->runs->x[REG_SP] = sp;
    struct core_transfer t = {.pc = pc, .target = target, .fallthrough = pc + CALL_BYTES, .kind = (uint8_t)kind};
    chains_transferred(w->chains, w->runs, &t);
}

static void call(struct world *w, uint64_t pc, uint64_t entry, uint64_t sp)
{
    transfer(w, BRANCH_CALL, pc, entry, sp);
}

/* Behind the call at `site`. */
static void back(struct world *w, uint64_t site, uint64_t sp)
{
    transfer(w, BRANCH_RETURN, 0xf000, site + CALL_BYTES, sp);
}

/* Writes a sample in this chain; its pc identifies it. */
static void sample(struct world *w, uint64_t pc)
{
    uint32_t chain = chains_write(w->chains, chains_now(w->chains), w->writer);
    profile_write(w->writer, &(struct profile_record){.kind = PROFILE_SAMPLE, .sample = {.pc = pc, .chain = chain}});
}

/* What the profile says, as text: of each sample its pc, and the calls that led there, the last one first. */
static char *text_of(struct world *w)
{
    static struct profile_chain chain[CHAINS];
    struct error err = {""};
    struct profile_record r;
    size_t length;
    char *text;
    FILE *to = open_memstream(&text, &length);
    assert_non_null(to);
    assert_int_equal(profile_writer_close(w->writer, &err), 0);
    rewind(w->file);
    struct profile_reader *reader = profile_reader_new(w->file, "FILE", &err);
    assert_non_null(reader);
    while (profile_read(reader, &r, &err) > 0) {
        if (r.kind == PROFILE_CHAIN) {
            assert_true(r.chain.chain < CHAINS);
            chain[r.chain.chain] = r.chain;
        }
        if (r.kind != PROFILE_SAMPLE)
            continue;
        fprintf(to, "%s%" PRIx64 ":", ftell(to) ? " " : "", r.sample.pc);
        for (uint32_t c = r.sample.chain; c; c = chain[c].parent)
            fprintf(to, "<%" PRIx64 "@%" PRIx64, chain[c].entry, chain[c].site);
    }
    assert_false(chains_lost(w->chains));
    profile_reader_free(reader);
    fclose(w->file);
    fclose(to);
    chains_free(w->chains);
    return text;
}

static void expect(struct world *w, const char *want)
{
    char *text = text_of(w);
    assert_string_equal(text, want);
    free(text);
}

static void calls_nest_and_return(void **state)
{
    (void)state;
    struct world w = begin();
    run(&w, 0);
    sample(&w, 1);
    call(&w, 0x1010, 0x2000, TOP);
    sample(&w, 2);
    transfer(&w, BRANCH_INDIRECT_CALL, 0x2020, 0x3000, TOP - 32);
    sample(&w, 3);
    back(&w, 0x2020, TOP - 32);
    sample(&w, 4);
    back(&w, 0x1010, TOP);
    sample(&w, 5);
    expect(&w, "1: 2:<2000@1010 3:<3000@2020<2000@1010 4:<2000@1010 5:");
}

static void one_call_is_one_chain_and_others_are_others(void **state)
{
    (void)state;
    struct world w = begin();
    uint32_t before;
    run(&w, 0);
    call(&w, 0x1010, 0x2000, TOP);
    before = *chains_tag(w.chains);
    back(&w, 0x1010, TOP);
    call(&w, 0x1010, 0x2000, TOP);
    assert_int_equal(*chains_tag(w.chains), before);
    back(&w, 0x1010, TOP);
    call(&w, 0x1020, 0x2000, TOP);
    assert_int_not_equal(*chains_tag(w.chains), before);
    sample(&w, 1);
    expect(&w, "1:<2000@1020");
}

static void recursion_is_a_chain_of_its_own_each_time(void **state)
{
    (void)state;
    struct world w = begin();
    run(&w, 0);
    for (unsigned i = 0; i < 3; i++)
        call(&w, i ? 0x2010 : 0x1010, 0x2000, TOP - 16 * i);
    sample(&w, 1);
    back(&w, 0x2010, TOP - 32);
    sample(&w, 2);
    back(&w, 0x2010, TOP - 16);
    back(&w, 0x1010, TOP);
    sample(&w, 3);
    expect(&w, "1:<2000@2010<2000@2010<2000@1010 2:<2000@2010<2000@1010 3:");
}

/* A function that jumps to another leaves the return to it. */
static void tail_calls_stay_in_the_chain_of_who_jumped(void **state)
{
    (void)state;
    struct world w = begin();
    run(&w, 0);
    call(&w, 0x1010, 0x2000, TOP);
    transfer(&w, BRANCH_JUMP, 0x2010, 0x3000, TOP);
    sample(&w, 1);
    back(&w, 0x1010, TOP);
    sample(&w, 2);
    expect(&w, "1:<2000@1010 2:");
}

/* It returns to where setjmp returned, with the stack of then. */
static void longjmp_leaves_all_between(void **state)
{
    (void)state;
    struct world w = begin();
    run(&w, 0);
    call(&w, 0x1010, 0x2000, TOP);
    call(&w, 0x2010, 0x9000, TOP - 32); /* setjmp */
    back(&w, 0x2010, TOP - 32);
    call(&w, 0x2020, 0x3000, TOP - 32);
    call(&w, 0x3010, 0x4000, TOP - 64);
    call(&w, 0x4010, 0x9100, TOP - 96); /* longjmp */
    sample(&w, 1);
    back(&w, 0x2010, TOP - 32);
    sample(&w, 2);
    back(&w, 0x1010, TOP);
    sample(&w, 3);
    expect(&w, "1:<9100@4010<4000@3010<3000@2020<2000@1010 2:<2000@1010 3:");
}

/* The same without a return in between: the next call shows what has been left. */
static void a_call_from_above_leaves_what_is_below(void **state)
{
    (void)state;
    struct world w = begin();
    run(&w, 0);
    call(&w, 0x1010, 0x2000, TOP);
    call(&w, 0x2010, 0x3000, TOP - 32);
    transfer(&w, BRANCH_INDIRECT, 0x3010, 0x1020, TOP);
    call(&w, 0x1030, 0x4000, TOP + 16);
    sample(&w, 1);
    expect(&w, "1:<4000@1030");
}

/* Prologues shared by functions make room on the stack for their callers, and return with less than they began with. */
static void a_callee_may_leave_room_on_the_stack(void **state)
{
    (void)state;
    struct world w = begin();
    run(&w, 0);
    call(&w, 0x1010, 0x2000, TOP);
    call(&w, 0x2000, 0x9200, TOP);
    back(&w, 0x2000, TOP - 64);
    sample(&w, 1);
    call(&w, 0x2010, 0x3000, TOP - 64);
    sample(&w, 2);
    back(&w, 0x2010, TOP - 64);
    back(&w, 0x1010, TOP);
    sample(&w, 3);
    expect(&w, "1:<2000@1010 2:<3000@2010<2000@1010 3:");
}

/* The core reports a call or return through `transferred` before it calls `fetched` for the same instruction. */
static void calls_and_returns_are_in_the_chain_that_they_leave(void **state)
{
    (void)state;
    struct world w = begin();
    struct insn_view call_seen = {.control = true, .kind = BRANCH_CALL}, plain = {.control = true}, wrong = call_seen;
    wrong.wrong_path = true;
    run(&w, 0);
    call(&w, 0x1010, 0x2000, TOP);
    assert_int_equal(chains_at_fetch(w.chains, &call_seen), 0);
    uint32_t inside = *chains_tag(w.chains);
    assert_int_not_equal(inside, 0);
    assert_int_equal(chains_at_fetch(w.chains, &plain), inside);
    assert_int_equal(chains_at_fetch(w.chains, &wrong), inside);
    back(&w, 0x1010, TOP);
    struct insn_view return_seen = {.control = true, .kind = BRANCH_RETURN};
    assert_int_equal(chains_at_fetch(w.chains, &return_seen), inside);
    assert_int_equal(*chains_tag(w.chains), 0);
    call(&w, 0x1020, 0x2000, TOP);
    call(&w, 0x2010, 0x3000, TOP - 32);
    inside = *chains_tag(w.chains);
    call(&w, 0x1030, 0x4000, TOP + 16); /* both have been left */
    assert_int_equal(chains_at_fetch(w.chains, &call_seen), inside);
    expect(&w, "");
}

static void callers_from_before_are_unknown(void **state)
{
    (void)state;
    struct world w = begin();
    run(&w, 0);
    back(&w, 0x5010, TOP);
    sample(&w, 1);
    call(&w, 0x5020, 0x6000, TOP);
    sample(&w, 2);
    expect(&w, "1: 2:<6000@5020");
}

static void threads_have_chains_of_their_own(void **state)
{
    (void)state;
    struct world w = begin();
    run(&w, 0);
    call(&w, 0x1010, 0x2000, TOP);
    w.hart[0].retired = 100;
    run(&w, 1);
    sample(&w, 1);
    call(&w, 0x5010, 0x6000, TOP);
    sample(&w, 2);
    w.hart[1].retired = 100;
    run(&w, 0);
    sample(&w, 3);
    run(&w, 1);
    sample(&w, 4);
    w.hart[1] = (struct hart){0}; /* it ended, and the hart of another lies there */
    run(&w, 0);
    run(&w, 1);
    sample(&w, 5);
    expect(&w, "1: 2:<6000@5010 3:<2000@1010 4:<6000@5010 5:");
}

/* Calls and returns as they may come, with jumps out of many at once; chains are asked for now and then. */
static char *random_walk(bool tagged)
{
    struct world w = begin_with(tagged);
    struct random random;
    uint64_t site[64], sp = TOP;
    unsigned depth = 0;
    random_seed(&random, 5);
    run(&w, 0);
    for (unsigned i = 0; i < 20000; i++) {
        unsigned what = below(&random, 16);
        if (depth && (what < 7 || depth == 64)) {
            depth -= what == 0 ? 1 + below(&random, depth) : 1;
            sp = TOP - 16 * depth;
            back(&w, site[depth], sp);
        } else {
            site[depth] = 0x1000 + 0x10 * below(&random, 40);
            call(&w, site[depth], 0x8000 + 0x100 * below(&random, 4), sp);
            sp = TOP - 16 * ++depth;
        }
        if (tagged)
            assert_int_equal(*chains_tag(w.chains), chains_now(w.chains));
        if (below(&random, 8) == 0)
            sample(&w, i);
    }
    return text_of(&w);
}

static void chains_that_are_looked_up_late_are_the_same(void **state)
{
    (void)state;
    char *tagged = random_walk(true), *late = random_walk(false);
    assert_string_equal(tagged, late);
    assert_true(strlen(late) > 20000);
    free(tagged);
    free(late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_nest_and_return),
        cmocka_unit_test(one_call_is_one_chain_and_others_are_others),
        cmocka_unit_test(recursion_is_a_chain_of_its_own_each_time),
        cmocka_unit_test(tail_calls_stay_in_the_chain_of_who_jumped),
        cmocka_unit_test(longjmp_leaves_all_between),
        cmocka_unit_test(a_call_from_above_leaves_what_is_below),
        cmocka_unit_test(a_callee_may_leave_room_on_the_stack),
        cmocka_unit_test(calls_and_returns_are_in_the_chain_that_they_leave),
        cmocka_unit_test(callers_from_before_are_unknown),
        cmocka_unit_test(threads_have_chains_of_their_own),
        cmocka_unit_test(chains_that_are_looked_up_late_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
