/* Instructions per basic block as the interpreter counts them, beside a literal count: instruction by instruction, on
 * random code, with random quanta; and what it says of each block, beside the code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/random.h"
#include "emulate/engine.h"

#define CODE UINT64_C(0x10000)
#define DATA UINT64_C(0x20000)

/* Behind the random words a page is full of jumps to its beginning. */
enum { RANDOM_WORDS = 400, WORDS = 1024, A0 = 10, A1 = 11, RA = 1, RUN_INSNS = 20000, PROGRAMS = 8 };

struct machine {
    struct guest_memory *memory;
    struct engine_state *engine;
    struct hart hart;
};

static struct machine machine_with(const uint32_t *code)
{
    struct error err;
    struct machine m = {.memory = guest_memory_new(UINT64_C(1) << 30, &err)};
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    assert_non_null(m.memory);
    assert_int_equal(guest_mmap(m.memory, CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0, NULL), CODE);
    assert_int_equal(guest_mmap(m.memory, DATA, 4096, PROT_READ | PROT_WRITE, flags, -1, 0, NULL), DATA);
    memcpy(guest_memory_base(m.memory) + CODE, code, WORDS * sizeof *code);
    m.engine = interpreter.create(m.memory, &err);
    assert_non_null(m.engine);
    m.hart.pc = CODE;
    m.hart.x[A0] = m.hart.x[RA] = CODE;
    m.hart.x[A1] = DATA;
    return m;
}

static void machine_free(struct machine *m)
{
    interpreter.destroy(m->engine);
    guest_memory_free(m->memory);
}

/* ---- random code */

static uint32_t i_type(unsigned opcode, unsigned f3, unsigned rd, unsigned rs1, unsigned imm)
{
    return opcode | rd << 7 | f3 << 12 | rs1 << 15 | (uint32_t)imm << 20;
}

static unsigned draw(struct random *r, unsigned below)
{
    return (unsigned)(random_u64(r) % below);
}

static unsigned any_register(struct random *r)
{
    return 12 + draw(r, 4);
}

/* A branch to anywhere near, as long as that is within the code. */
static uint32_t branch(struct random *r, unsigned at)
{
    int to = (int)at + (int)draw(r, 40) - 20;
    to = to < 0 ? 0 : to >= RANDOM_WORDS ? RANDOM_WORDS - 1 : to;
    uint32_t o = (uint32_t)(4 * (to - (int)at));
    static const unsigned kind[] = {0, 1, 4, 5};
    return 0x63 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | kind[draw(r, 4)] << 12 | any_register(r) << 15 |
           any_register(r) << 20 | (o >> 5 & 63) << 25 | (o >> 12 & 1) << 31;
}

static uint32_t jump(unsigned rd, unsigned at, unsigned to)
{
    uint32_t o = (uint32_t)(4 * ((int)to - (int)at));
    return 0x6f | rd << 7 | (o & 0xff000) | (o >> 11 & 1) << 20 | (o >> 1 & 0x3ff) << 21 | (o >> 20 & 1) << 31;
}

static uint32_t any_insn(struct random *r, unsigned at)
{
    if (at % 20 == 19) /* so that no basic block is longer than a translated one can be */
        return branch(r, at);
    switch (draw(r, 40)) {
    case 0: return 0x00000073;                                                 /* ecall */
    case 1: return i_type(0x03, 3, any_register(r), 0, 0);                     /* a load that faults */
    case 2: return i_type(0x03, 3, any_register(r), A1, 8 * draw(r, 8));       /* one that does not */
    case 3: return i_type(0x67, 0, draw(r, 2), A0, 4 * draw(r, RANDOM_WORDS)); /* jalr */
    case 4: return draw(r, 4) ? i_type(0x13, 0, 0, 0, 0) : 0x0000100f;         /* nop, fence.i */
    case 5: return jump(draw(r, 2), at, draw(r, RANDOM_WORDS));
    case 6: return 0x37 | any_register(r) << 7 | draw(r, 16) << 12; /* lui */
    case 7:
    case 8:
    case 9:
    case 10:
    case 11: return branch(r, at);
    default: return i_type(0x13, 0, any_register(r), any_register(r), draw(r, 8) - 4);
    }
}

/* Puts far calls, auipc and jalr, at some places. A jump to the jalr alone goes less than twice as far. */
static void add_far_calls(struct random *r, uint32_t *code)
{
    for (unsigned k = 7; k < RANDOM_WORDS - 20; k += 20 * (1 + draw(r, 3))) {
        code[k] = 0x17 | RA << 7;
        code[k + 1] = i_type(0x67, 0, draw(r, 2) * RA, RA, 4 * draw(r, RANDOM_WORDS - k));
    }
}

/* ---- the literal count */

struct literal {
    uint64_t insns[WORDS], entries[WORDS]; /* by the entry of the block */
    uint64_t head;                         /* of the block in progress */
    bool begins;                           /* the next instruction begins one */
    bool began;                            /* the last one did */
};

static bool transfers(const struct insn *i)
{
    enum insn_unit unit = insn_describe(i->op)->unit;
    return unit == UNIT_BRANCH || unit == UNIT_JUMP || unit == UNIT_JUMP_REG || i->op == INSN_ecall ||
           i->op == INSN_fence_i;
}

static void see_insn(void *context, const struct hart *h, uint64_t pc, const struct insn *insn)
{
    (void)h;
    struct literal *l = context;
    if (l->begins) {
        l->head = pc;
        l->entries[(pc - CODE) / 4]++;
    }
    l->began = l->begins;
    l->insns[(l->head - CODE) / 4]++;
    l->begins = transfers(insn);
}

/* ---- reported counts */

struct reported {
    const uint32_t *code;
    uint64_t insns[WORDS], entries[WORDS];
};

static struct insn insn_at(const uint32_t *code, unsigned at)
{
    struct insn i;
    assert_true(insn_decode(code[at], &i));
    return i;
}

static struct basic_block block_at(const uint32_t *code, unsigned entry)
{
    struct basic_block b = {.pc = CODE + 4 * entry};
    unsigned end = entry;
    struct insn last = insn_at(code, end), before = {.op = INSN_ILLEGAL};
    while (!transfers(&last)) {
        before = last;
        last = insn_at(code, ++end);
    }
    b.insns = end - entry + 1;
    if (last.op == INSN_jal)
        b.target = CODE + 4 * end + (uint64_t)(int64_t)last.imm;
    if (last.op == INSN_jalr && before.op == INSN_auipc && before.rd == last.rs1)
        b.target = CODE + 4 * (end - 1) + (uint64_t)(int64_t)last.imm;
    b.call = (last.op == INSN_jal || last.op == INSN_jalr) && last.rd == RA;
    return b;
}

static void tell(void *context, uint32_t number, const struct basic_block *block, uint64_t insns, uint64_t entries)
{
    (void)number;
    struct reported *reported = context;
    assert_true(block->pc >= CODE && block->pc < CODE + 4 * WORDS && insns > 0);
    unsigned entry = (unsigned)(block->pc - CODE) / 4;
    struct basic_block wanted = block_at(reported->code, entry);
    assert_int_equal(block->insns, wanted.insns);
    assert_int_equal(block->target, wanted.target);
    assert_int_equal(block->call, wanted.call);
    reported->insns[entry] += insns;
    reported->entries[entry] += entries;
}

/* Runs for at most `quantum` and goes on behind whatever trapped, or at the beginning when the code ends. True if
 * control went elsewhere by that. */
static bool run(struct machine *m, int64_t quantum, uint64_t *retired)
{
    m->hart.quantum = m->hart.budget = quantum;
    interpreter.run(m->engine, &m->hart);
    *retired += (uint64_t)(m->hart.quantum - m->hart.budget);
    if (m->hart.trap != TRAP_NONE)
        m->hart.pc += 4;
    return m->hart.trap != TRAP_NONE;
}

static void compare_once(uint64_t seed)
{
    struct random r;
    uint32_t code[WORDS];
    random_seed(&r, seed);
    for (unsigned k = 0; k < WORDS; k++)
        code[k] = k + 1 < RANDOM_WORDS ? any_insn(&r, k) : jump(0, k, 0);
    add_far_calls(&r, code);
    struct machine a = machine_with(code), b = machine_with(code);
    struct literal literal = {.begins = true};
    struct reported reported = {.code = code};
    uint64_t done = 0, b_done = 0;
    interpreter.set_hooks(a.engine, &(struct engine_hooks){.insn = see_insn, .context = &literal});
    interpreter.set_hooks(b.engine, &(struct engine_hooks){.count_blocks = true});
    while (done < RUN_INSNS) {
        int64_t quantum = 1 + draw(&r, draw(&r, 2) ? 30 : 3000);
        literal.begins |= run(&a, quantum, &done);
        if (a.hart.trap == TRAP_LOAD_FAULT) { /* seen, but not retired */
            literal.insns[(literal.head - CODE) / 4]--;
            literal.entries[(literal.head - CODE) / 4] -= literal.began;
        }
        run(&b, quantum, &b_done);
        assert_int_equal(a.hart.pc, b.hart.pc);
        assert_int_equal(a.hart.trap, b.hart.trap);
        assert_int_equal(done, b_done);
        if (draw(&r, 10) == 0)
            interpreter.block_counts(b.engine, tell, &reported);
    }
    interpreter.block_counts(b.engine, tell, &reported);
    uint64_t sum = 0;
    for (unsigned k = 0; k < WORDS; k++) {
        sum += reported.insns[k];
        if (reported.insns[k] != literal.insns[k])
            fail_msg("program %llu: %llu instructions in the block at %u, which should be %llu",
                     (unsigned long long)seed, (unsigned long long)reported.insns[k], k,
                     (unsigned long long)literal.insns[k]);
        if (reported.entries[k] != literal.entries[k])
            fail_msg("program %llu: %llu entries of the block at %u, which should be %llu", (unsigned long long)seed,
                     (unsigned long long)reported.entries[k], k, (unsigned long long)literal.entries[k]);
    }
    assert_int_equal(sum, done);
    machine_free(&a);
    machine_free(&b);
}

static void every_basic_block_has_its_instructions_and_entries(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
        compare_once(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_basic_block_has_its_instructions_and_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
