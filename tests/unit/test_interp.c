/* The interpreter's contract (hart.h, engine.h): exact quanta, exact traps, code that changes, hooks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "emulate/engine.h"

#define CODE UINT64_C(0x10000)
#define DATA UINT64_C(0x20000)

enum { T0 = 5, T1 = 6, T2 = 7, A0 = 10 };

/* Encodings by format, so that tests read as assembly. */
static uint32_t i_type(unsigned opcode, unsigned f3, unsigned rd, unsigned rs1, int imm)
{
    return opcode | rd << 7 | f3 << 12 | rs1 << 15 | (uint32_t)imm << 20;
}
static uint32_t addi(unsigned rd, unsigned rs1, int imm)
{
    return i_type(0x13, 0, rd, rs1, imm);
}
static uint32_t ld(unsigned rd, int imm, unsigned rs1)
{
    return i_type(0x03, 3, rd, rs1, imm);
}
static uint32_t jalr(unsigned rd, int imm, unsigned rs1)
{
    return i_type(0x67, 0, rd, rs1, imm);
}
static uint32_t sd(unsigned rs2, int imm, unsigned rs1)
{
    return 0x23 | ((uint32_t)imm & 31) << 7 | 3 << 12 | rs1 << 15 | rs2 << 20 | (uint32_t)imm >> 5 << 25;
}
static uint32_t bne(unsigned rs1, unsigned rs2, int offset)
{
    uint32_t o = (uint32_t)offset;
    return 0x63 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | 1 << 12 | rs1 << 15 | rs2 << 20 | (o >> 5 & 63) << 25 |
           (o >> 12 & 1) << 31;
}
static uint32_t amoadd_d(unsigned rd, unsigned rs2, unsigned rs1)
{
    return 0x2f | rd << 7 | 3 << 12 | rs1 << 15 | rs2 << 20;
}
#define ECALL         0x00000073u
#define EBREAK        0x00100073u
#define FENCE_I       0x0000100fu
#define RDINSTRET(rd) (0xc0202073u | (rd) << 7)

struct machine {
    struct guest_memory *memory;
    struct engine_state *engine;
    struct hart hart;
};

static void poke(struct machine *m, uint64_t at, const uint32_t *code, size_t words)
{
    assert_int_equal(guest_copy_out(m->memory, at, code, 4 * words), 0);
}

static struct machine machine_with(const uint32_t *code, size_t words)
{
    struct error err;
    struct machine m = {.memory = guest_memory_new(UINT64_C(1) << 30, &err)};
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    assert_non_null(m.memory);
    assert_int_equal(guest_mmap(m.memory, CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0, NULL), CODE);
    assert_int_equal(guest_mmap(m.memory, DATA, 4096, PROT_READ | PROT_WRITE, flags, -1, 0, NULL), DATA);
    poke(&m, CODE, code, words);
    m.engine = interpreter.create(m.memory, &err);
    assert_non_null(m.engine);
    m.hart.pc = CODE;
    return m;
}
#define MACHINE(...)                                                                                                   \
    machine_with((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void machine_free(struct machine *m)
{
    interpreter.destroy(m->engine);
    guest_memory_free(m->memory);
}

/* Runs for at most `quantum` instructions and returns how many retired. */
static int64_t run(struct machine *m, int64_t quantum)
{
    m->hart.quantum = m->hart.budget = quantum;
    interpreter.run(m->engine, &m->hart);
    int64_t retired = m->hart.quantum - m->hart.budget;
    m->hart.retired += (uint64_t)retired;
    return retired;
}

static void a_quantum_ends_exactly(void **state)
{
    (void)state;
    /* t0 counts down from 1000 in a loop of three instructions: 1 + 3000 instructions, then ecall */
    for (int64_t quantum = 1; quantum < 3100; quantum += quantum < 20 ? 1 : 97) {
        struct machine m = MACHINE(addi(T0, 0, 1000), addi(T1, T1, 2), addi(T0, T0, -1), bne(T0, 0, -8), ECALL);
        int64_t total = 0;
        while (m.hart.trap == TRAP_NONE) {
            int64_t retired = run(&m, quantum);
            assert_true(retired == quantum || m.hart.trap == TRAP_ECALL);
            total += retired;
        }
        assert_int_equal(total, 3002);
        assert_int_equal(m.hart.x[T1], 2000);
        assert_int_equal(m.hart.pc, CODE + 16);
        machine_free(&m);
    }
}

/* Such an instruction has no op of its own, so the block's first op is not the block's first instruction. */
static void a_quantum_ends_exactly_before_an_instruction_that_does_nothing(void **state)
{
    (void)state;
    for (int64_t quantum = 1; quantum < 1000; quantum++) {
        struct machine m = MACHINE(addi(T0, 0, 1000), addi(0, 0, 5), addi(T0, T0, -1), bne(T0, 0, -8), ECALL);
        int64_t total = 0;
        while (m.hart.trap == TRAP_NONE)
            total += run(&m, quantum);
        assert_int_equal(total, 3002);
        machine_free(&m);
    }
}

static void a_load_fault_names_its_instruction_in_every_position(void **state)
{
    (void)state;
    for (unsigned before = 0; before < 6; before++) {
        uint32_t code[16];
        unsigned n = 0;
        for (; n < before; n++)
            code[n] = addi(T1, T1, 1);
        code[n++] = ld(T2, 8, A0);
        code[n++] = addi(T1, T1, 100);
        code[n++] = ECALL;
        struct machine m = machine_with(code, n);
        m.hart.x[A0] = 0x5000;
        m.hart.x[T2] = 77;
        assert_int_equal(run(&m, 1000), before);
        assert_int_equal(m.hart.trap, TRAP_LOAD_FAULT);
        assert_int_equal(m.hart.trap_value, 0x5008);
        assert_int_equal(m.hart.pc, CODE + 4 * before);
        assert_int_equal(m.hart.x[T1], before);
        assert_int_equal(m.hart.x[T2], 77);
        machine_free(&m);
    }
}

static void addresses_beyond_the_space_fault(void **state)
{
    (void)state;
    static const uint64_t wild[] = {GUEST_SPACE, GUEST_SPACE - 4, UINT64_MAX - 7, UINT64_C(1) << 63, UINT64_C(1) << 46};
    for (unsigned k = 0; k < sizeof wild / sizeof wild[0]; k++) {
        struct machine m = MACHINE(addi(T1, 0, 1), sd(T1, 0, A0), ECALL);
        m.hart.x[A0] = wild[k];
        assert_int_equal(run(&m, 1000), 1);
        assert_int_equal(m.hart.trap, TRAP_STORE_FAULT);
        assert_int_equal(m.hart.pc, CODE + 4);
        machine_free(&m);
    }
}

static void a_store_to_read_only_memory_faults(void **state)
{
    (void)state;
    struct machine m = MACHINE(addi(T1, 0, 1), ld(T2, 0, A0), sd(T1, 0, A0), ECALL);
    assert_int_equal(guest_mprotect(m.memory, DATA, 4096, PROT_READ), 0);
    m.hart.x[A0] = DATA;
    assert_int_equal(run(&m, 1000), 2);
    assert_int_equal(m.hart.trap, TRAP_STORE_FAULT);
    assert_int_equal(m.hart.trap_value, DATA);
    machine_free(&m);
}

static void an_atomic_at_an_odd_address_is_misaligned(void **state)
{
    (void)state;
    struct machine m = MACHINE(addi(T1, 0, 1), amoadd_d(T2, T1, A0), ECALL);
    m.hart.x[A0] = DATA + 4;
    assert_int_equal(run(&m, 1000), 1);
    assert_int_equal(m.hart.trap, TRAP_MISALIGNED);
    assert_int_equal(m.hart.pc, CODE + 4);
    machine_free(&m);
}

static void an_atomic_fault_names_its_instruction(void **state)
{
    (void)state;
    struct machine m = MACHINE(addi(T1, 0, 1), amoadd_d(T2, T1, A0), ECALL);
    m.hart.x[A0] = 0x6000;
    assert_int_equal(run(&m, 1000), 1);
    assert_int_equal(m.hart.trap, TRAP_STORE_FAULT);
    assert_int_equal(m.hart.trap_value, 0x6000);
    machine_free(&m);
}

static void a_jump_into_nothing_is_a_fetch_fault_at_the_target(void **state)
{
    (void)state;
    struct machine m = MACHINE(addi(T1, 0, 1), jalr(0, 0, A0));
    m.hart.x[A0] = 0x7000;
    assert_int_equal(run(&m, 1000), 2);
    assert_int_equal(m.hart.trap, TRAP_FETCH_FAULT);
    assert_int_equal(m.hart.pc, 0x7000);
    assert_int_equal(m.hart.trap_value, 0x7000);
    machine_free(&m);
}

static void data_is_not_executable(void **state)
{
    (void)state;
    struct machine m = MACHINE(jalr(0, 0, A0));
    m.hart.x[A0] = DATA;
    assert_int_equal(run(&m, 1000), 1);
    assert_int_equal(m.hart.trap, TRAP_FETCH_FAULT);
    machine_free(&m);
}

static void an_instruction_across_the_end_of_code_faults_at_its_second_half(void **state)
{
    (void)state;
    struct machine m = MACHINE(jalr(0, 0, A0));
    uint32_t half = addi(T1, T1, 1);
    memcpy(guest_memory_base(m.memory) + CODE + 4094, &half, 2);
    m.hart.x[A0] = CODE + 4094;
    assert_int_equal(run(&m, 1000), 1);
    assert_int_equal(m.hart.trap, TRAP_FETCH_FAULT);
    assert_int_equal(m.hart.pc, CODE + 4094);
    assert_int_equal(m.hart.trap_value, CODE + 4096);
    machine_free(&m);
}

static void illegal_instructions_give_their_bits(void **state)
{
    (void)state;
    struct machine m = MACHINE(addi(T1, 0, 1), 0xffffffff);
    assert_int_equal(run(&m, 1000), 1);
    assert_int_equal(m.hart.trap, TRAP_ILLEGAL);
    assert_int_equal(m.hart.trap_value, 0xffffffff);
    machine_free(&m);
}

static void ebreak_does_not_retire(void **state)
{
    (void)state;
    struct machine m = MACHINE(addi(T1, 0, 1), EBREAK);
    assert_int_equal(run(&m, 1000), 1);
    assert_int_equal(m.hart.trap, TRAP_EBREAK);
    assert_int_equal(m.hart.pc, CODE + 4);
    machine_free(&m);
}

static void x0_stays_zero(void **state)
{
    (void)state;
    struct machine m = MACHINE(addi(0, 0, 5), ld(0, 0, A0), jalr(0, 12, T0), addi(T1, 0, 9), ECALL);
    m.hart.x[A0] = DATA;
    m.hart.x[T0] = CODE;
    run(&m, 1000);
    assert_int_equal(m.hart.trap, TRAP_ECALL);
    assert_int_equal(m.hart.x[0], 0);
    assert_int_equal(m.hart.x[T1], 9);
    machine_free(&m);
}

static void code_written_before_fence_i_is_what_runs(void **state)
{
    (void)state;
    /* The store replaces the addi at CODE + 16, which has run before, by another. */
    struct machine m =
        MACHINE(jalr(T0, 16, A0), sd(T1, 16, A0), FENCE_I, jalr(T0, 16, A0), addi(T2, T2, 1), jalr(0, 0, T0));
    uint32_t changed[2] = {addi(T2, T2, 100), ECALL};
    m.hart.x[A0] = CODE;
    memcpy(&m.hart.x[T1], changed, 8);
    run(&m, 1000);
    assert_int_equal(m.hart.trap, TRAP_ECALL);
    assert_int_equal(m.hart.x[T2], 101);
    machine_free(&m);
}

static void code_mapped_over_code_is_what_runs(void **state)
{
    (void)state;
    struct machine m = MACHINE(addi(T1, T1, 1), ECALL);
    run(&m, 1000);
    assert_int_equal(m.hart.x[T1], 1);
    guest_mmap(m.memory, CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0,
               NULL);
    poke(&m, CODE, (uint32_t[]){addi(T1, T1, 10), ECALL}, 2);
    m.hart.pc = CODE;
    run(&m, 1000);
    assert_int_equal(m.hart.x[T1], 11);
    machine_free(&m);
}

static void code_that_comes_into_being_after_a_fault_runs(void **state)
{
    (void)state;
    struct machine m = MACHINE(addi(T1, T1, 1), jalr(0, 0, A0));
    m.hart.x[A0] = DATA;
    poke(&m, DATA, (uint32_t[]){addi(T1, T1, 10), ECALL}, 2);
    run(&m, 1000);
    assert_int_equal(m.hart.trap, TRAP_FETCH_FAULT);
    assert_int_equal(guest_mprotect(m.memory, DATA, 4096, PROT_READ | PROT_EXEC), 0);
    assert_int_equal(run(&m, 1000), 2);
    assert_int_equal(m.hart.trap, TRAP_ECALL);
    assert_int_equal(m.hart.x[T1], 11);
    machine_free(&m);
}

static void a_range_of_changed_code_is_decoded_again_and_the_rest_is_not_lost(void **state)
{
    (void)state;
    struct machine m = MACHINE(jalr(T0, 0, A0), addi(T2, T2, -1), bne(T2, 0, -8), ECALL);
    poke(&m, DATA, (uint32_t[]){addi(T1, T1, 1), jalr(0, 0, T0)}, 2);
    guest_mprotect(m.memory, DATA, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    m.hart.x[A0] = DATA;
    for (unsigned round = 0; round < 50; round++) {
        m.hart.x[T1] = 0;
        m.hart.x[T2] = 300;
        m.hart.pc = CODE;
        poke(&m, DATA, (uint32_t[]){addi(T1, T1, (int)round)}, 1);
        guest_code_changed(m.memory, DATA, DATA + 4);
        run(&m, 100000);
        assert_int_equal(m.hart.trap, TRAP_ECALL);
        assert_int_equal(m.hart.x[T1], 300 * round);
    }
    machine_free(&m);
}

static void instret_counts_the_instructions_before_it(void **state)
{
    (void)state;
    for (int64_t quantum = 1; quantum < 300; quantum += 250) { /* stepping and whole blocks */
        struct machine m = MACHINE(addi(T0, 0, 3), RDINSTRET(T1), addi(T0, T0, 1), RDINSTRET(T2), ECALL);
        while (m.hart.trap == TRAP_NONE)
            run(&m, quantum);
        assert_int_equal(m.hart.x[T1], 1);
        assert_int_equal(m.hart.x[T2], 3);
        machine_free(&m);
    }
}

/* An op that called the next one instead of jumping to it would use up the host's stack. */
static void no_instruction_uses_up_the_hosts_stack(void **state)
{
    (void)state;
    enum {
        FLW = 0x00052007,
        FSW = 0x00052027,
        FADD_S = 0x0000f053,
        FADD_S_RMM = 0x00004053,
        FCVT_W_D = 0xc2001053,
        LR_D = 0x1005332f,
        SC_D = 0x186533af,
        FRFLAGS = 0x00102373,
        FENCE = 0x0ff0000f,
        MUL = 0x02630333
    };
    static const uint32_t each[] = {FLW, FSW, FADD_S, FADD_S_RMM, FCVT_W_D, LR_D, SC_D, FRFLAGS, FENCE, MUL};
    for (unsigned k = 0; k < sizeof each / sizeof each[0]; k++) {
        struct machine m = MACHINE(each[k], addi(T0, T0, -1), bne(T0, 0, -8), ECALL);
        m.hart.x[A0] = DATA;
        m.hart.x[T0] = 1000000;
        assert_int_equal(run(&m, INT64_C(1) << 40), 3000001);
        assert_int_equal(m.hart.trap, TRAP_ECALL);
        machine_free(&m);
    }
}

struct counts {
    uint64_t blocks, block_insns, insns, last_pc;
};

static void count_block(void *context, uint64_t pc, unsigned insns)
{
    struct counts *c = context;
    c->blocks++;
    c->block_insns += insns;
    c->last_pc = pc;
}

static void count_insn(void *context, const struct hart *h, uint64_t pc, const struct insn *insn)
{
    struct counts *c = context;
    c->insns++;
    c->last_pc = pc;
    assert_int_equal(insn->length, 4);
    if (pc == CODE + 4)
        assert_int_equal(h->x[T1] % 2, 0);
}

static void hooks_see_every_block_and_every_instruction(void **state)
{
    (void)state;
    for (unsigned which = 1; which <= 3; which++) {
        struct machine m = MACHINE(addi(T0, 0, 100), addi(T1, T1, 2), addi(T0, T0, -1), bne(T0, 0, -8), ECALL);
        struct counts c = {0};
        interpreter.set_hooks(m.engine, &(struct engine_hooks){.block = which & 1 ? count_block : NULL,
                                                               .insn = which & 2 ? count_insn : NULL,
                                                               .context = &c});
        assert_int_equal(run(&m, 100000), 302);
        if (which & 1) {
            assert_int_equal(c.blocks, 101); /* 4 instructions, 99 times 3, and the ecall */
            assert_int_equal(c.block_insns, 302);
        }
        if (which & 2)
            assert_int_equal(c.insns, 302);
        assert_int_equal(c.last_pc, CODE + 16);
        machine_free(&m);
    }
}

static void two_machines_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct machine a = MACHINE(addi(T0, T0, 1), jalr(0, 0, A0));
    struct machine b = MACHINE(ld(T0, 0, A0), ECALL);
    a.hart.x[A0] = CODE;
    b.hart.x[A0] = 0x5000;
    assert_int_equal(run(&a, 1001), 1001);
    assert_int_equal(run(&b, 10), 0);
    assert_int_equal(b.hart.trap, TRAP_LOAD_FAULT);
    assert_int_equal(run(&a, 1001), 1001);
    assert_int_equal(a.hart.x[T0], 1001);
    machine_free(&a);
    machine_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantum_ends_exactly),
        cmocka_unit_test(a_quantum_ends_exactly_before_an_instruction_that_does_nothing),
        cmocka_unit_test(a_load_fault_names_its_instruction_in_every_position),
        cmocka_unit_test(addresses_beyond_the_space_fault),
        cmocka_unit_test(a_store_to_read_only_memory_faults),
        cmocka_unit_test(an_atomic_at_an_odd_address_is_misaligned),
        cmocka_unit_test(an_atomic_fault_names_its_instruction),
        cmocka_unit_test(a_jump_into_nothing_is_a_fetch_fault_at_the_target),
        cmocka_unit_test(data_is_not_executable),
        cmocka_unit_test(an_instruction_across_the_end_of_code_faults_at_its_second_half),
        cmocka_unit_test(illegal_instructions_give_their_bits),
        cmocka_unit_test(ebreak_does_not_retire),
        cmocka_unit_test(x0_stays_zero),
        cmocka_unit_test(code_written_before_fence_i_is_what_runs),
        cmocka_unit_test(code_mapped_over_code_is_what_runs),
        cmocka_unit_test(code_that_comes_into_being_after_a_fault_runs),
        cmocka_unit_test(a_range_of_changed_code_is_decoded_again_and_the_rest_is_not_lost),
        cmocka_unit_test(instret_counts_the_instructions_before_it),
        cmocka_unit_test(no_instruction_uses_up_the_hosts_stack),
        cmocka_unit_test(hooks_see_every_block_and_every_instruction),
        cmocka_unit_test(two_machines_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
