#include "sequence.h"

#include <assert.h>
#include <string.h>

#include "values.h"

static bool is_protected(const struct sequence *s, unsigned reg)
{
    return (s->protected_regs >> reg & 1) != 0;
}

static void protect(struct sequence *s, unsigned reg)
{
    s->protected_regs |= UINT32_C(1) << reg;
}

static unsigned draw_free_reg(struct sequence *s, unsigned low, unsigned high)
{
    unsigned reg;
    do
        reg = low + random_below(&s->random, high - low + 1);
    while (is_protected(s, reg));
    return reg;
}

static void add_pointer(struct sequence *s, unsigned reg)
{
    int offset = (int)random_below(&s->random, SCRATCH_BYTES + 512) - 256;
    if (random_below(&s->random, 2) == 0)
        offset &= ~7;
    s->pointer[s->pointers++] = (struct pointer){reg, offset};
    protect(s, reg);
    s->input.x[reg] = s->fuzzer->scratch + (uint64_t)(int64_t)offset;
}

/* At least one pointer and the counter are registers that compressed forms reach; often sp is a pointer too. */
static void draw_parts(struct sequence *s)
{
    s->protected_regs = 0;
    protect(s, s->fuzzer->base_reg);
    protect(s, s->fuzzer->link_reg);
    add_pointer(s, draw_free_reg(s, 8, 15));
    if (random_below(&s->random, 2) == 0)
        add_pointer(s, 2);
    while (s->pointers < POINTERS)
        add_pointer(s, draw_free_reg(s, 1, 31));
    s->counter = draw_free_reg(s, 8, 15);
    protect(s, s->counter);
    s->input.x[s->counter] = random_below(&s->random, 8);
    for (unsigned i = 0; i < 8; i++) {
        s->hot_x[i] = (uint8_t)draw_free_reg(s, 1, 31);
        s->hot_f[i] = (uint8_t)random_below(&s->random, 32);
    }
}

static void draw_input(struct sequence *s)
{
    enum value_mix mix = random_below(&s->random, 2) == 0 ? MIX_ALL : random_below(&s->random, MIX_COUNT);
    for (unsigned i = 1; i < 32; i++)
        s->input.x[i] = value_integer(&s->random);
    for (unsigned i = 0; i < 32; i++)
        s->input.f[i] = value_float(&s->random, mix);
    s->input.fcsr = random_below(&s->random, 5) << 5;
    if (random_below(&s->random, 8) == 0)
        s->input.fcsr |= random_below(&s->random, 32);
    for (unsigned i = 0; i < SCRATCH_BYTES; i += 8) {
        uint64_t word = (i & 8) != 0 ? value_float(&s->random, mix) : value_integer(&s->random);
        memcpy(&s->input.scratch[i], &word, sizeof word);
    }
}

/* Seeds that differ in one bit give unrelated streams, since each goes through the mixing function first. */
static void seed_sequence(struct random *random, uint64_t seed, uint64_t number)
{
    random_seed(random, seed);
    random_seed(random, random_u64(random) ^ number);
    random_seed(random, random_u64(random));
}

void sequence_draw(struct sequence *s, struct fuzzer *fuzzer, uint64_t number)
{
    memset(s, 0, sizeof *s);
    s->fuzzer = fuzzer;
    seed_sequence(&s->random, fuzzer->seed, number);
    s->input.number = number;
    draw_input(s);
    draw_parts(s);

    unsigned goal = 10 + random_below(&s->random, 51), body = 0, body_units = 0;
    while (s->steps < goal || body != 0) {
        if (body != 0 && s->count - body >= body_units) {
            unit_draw_loop_end(s, body);
            body = 0;
        } else if (body == 0 && random_below(&s->random, 16) == 0) {
            unit_draw_loop_start(s);
            body = s->count;
            body_units = 1 + random_below(&s->random, 6);
        } else if (random_below(&s->random, 32) == 0) {
            unit_draw_call(s);
        } else {
            bool base = random_below(&s->random, 3) == 0; /* pairs of these are what engines treat specially */
            unit_draw(s, fuzzer->rows[random_below(&s->random, base ? fuzzer->base_count : fuzzer->row_count)]);
        }
        for (unsigned i = body; body != 0 && i < s->count; i++)
            s->unit[i].loop = s->loops;
    }
    assert(s->count < SEQUENCE_UNITS);
}

void sequence_drop(struct sequence *s, unsigned unit)
{
    unsigned loop = s->unit[unit].starts;
    s->unit[unit].dropped = true;
    for (unsigned i = unit; loop != 0 && i < s->count; i++)
        if (s->unit[i].loop == loop && (i + 1 == s->count || s->unit[i + 1].loop != loop))
            s->unit[i].dropped = true;
}

/* The nearest unit up to the wanted one that may be entered from here: a loop's body only through its start. */
static unsigned resolve_target(const struct sequence *s, unsigned from, unsigned wanted)
{
    if (wanted <= from)
        return wanted; /* the end of a loop */
    unsigned to = wanted < s->count ? wanted : s->count;
    while (to > from + 1 && to < s->count && s->unit[to].loop != 0 && s->unit[to].loop != s->unit[from].loop)
        to--;
    return to;
}

static uint32_t step_offset(const struct unit *u, unsigned step)
{
    uint32_t offset = u->offset;
    for (unsigned i = 0; i < step; i++)
        offset += u->step[i].insn.length;
    return offset;
}

uint32_t sequence_resolve(struct sequence *s)
{
    uint32_t length = 0;
    for (unsigned i = 0; i < s->count; i++) {
        s->unit[i].offset = length;
        if (!s->unit[i].dropped)
            length = step_offset(&s->unit[i], s->unit[i].count);
    }
    s->unit[s->count].offset = length;
    for (unsigned i = 0; i < s->count; i++) {
        struct unit *u = &s->unit[i];
        for (unsigned k = 0; k < u->count && !u->dropped; k++) {
            struct step *step = &u->step[k];
            if (step->target >= 0) {
                uint32_t to = s->unit[resolve_target(s, i, (unsigned)step->target)].offset;
                step->insn.imm = (int32_t)(to - step_offset(u, step->from)) + step->addend;
                bool encoded = encoder_encode(&s->fuzzer->encoder, &step->insn);
                assert(encoded);
                (void)encoded;
            }
            s->fuzzer->generated[step->insn.form]++;
        }
    }
    return length;
}
