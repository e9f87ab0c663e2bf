/* What tests of the branch unit share: a config that passes, and a program's branches one after the other. */
#ifndef CYCLESCOPE_TESTS_BRANCH_FIXTURE_H
#define CYCLESCOPE_TESTS_BRANCH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "branch/branch.h"

static inline unsigned direction_row(const char *name)
{
    unsigned i = 0;
    while (branch_direction_name(i) && strcmp(branch_direction_name(i), name) != 0)
        i++;
    assert_non_null(branch_direction_name(i));
    return i;
}

static inline struct branch_config config_of(const char *direction)
{
    return (struct branch_config){
        .direction = direction_row(direction),
        .bimodal_bits = 11,
        .gshare_bits = 12,
        .history_bits = 12,
        .chooser_bits = 12,
        .tage_tables = 7,
        .tage_bits = 10,
        .tage_tag_bits = 8,
        .tage_min_history = 5,
        .tage_max_history = 130,
        .btb_entries = 2048,
        .btb_ways = 4,
        .ras_entries = 16,
        .indirect_bits = 9,
    };
}

static inline struct branch_unit *unit_of(const struct branch_config *c)
{
    struct error err;
    struct branch_unit *b = branch_new(c, &err);
    assert_non_null(b);
    return b;
}

static inline struct branch_record at(enum branch_kind kind, uint64_t pc, uint64_t direct)
{
    return (struct branch_record){.pc = pc, .fallthrough = pc + 4, .direct = direct, .kind = kind};
}

static inline struct branch_record predict(struct branch_unit *b, enum branch_kind kind, uint64_t pc, uint64_t direct)
{
    struct branch_record r = at(kind, pc, direct);
    branch_predict(b, &r);
    return r;
}

/* A branch from fetch to retirement, with nothing else in flight. Returns its prediction. */
static inline struct branch_record run(struct branch_unit *b, enum branch_kind kind, uint64_t pc, bool taken,
                                       uint64_t target)
{
    struct branch_record r = predict(b, kind, pc, target);
    if (r.taken != taken || r.next != (taken ? target : r.fallthrough))
        branch_recover(b, &r, taken, target);
    branch_retire(b, &r, taken, target);
    return r;
}

/* A forward conditional branch; whether the direction was right. */
static inline bool right(struct branch_unit *b, uint64_t pc, bool taken)
{
    return run(b, BRANCH_CONDITIONAL, pc, taken, pc + 64).taken == taken;
}

#endif
