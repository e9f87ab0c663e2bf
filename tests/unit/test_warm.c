/* Functional warming beside a literal one, which looks at every instruction: on random code, on several cores, both
 * leave the same caches, TLBs and predictors. So does warming that goes on from a saved state. */
#include <stdlib.h>
#include <sys/mman.h>

#include "core_fixture.h"

#include "base/random.h"
#include "core/code.h"
#include "core/core_priv.h"
#include "phases/saved.h"
#include "sim/warm.h"

#define CODE UINT64_C(0x10000)
#define DATA UINT64_C(0x400000)

enum {
    CODE_BYTES = 3 * 4096,
    DATA_BYTES = 1 << 20,
    BASES = 6, /* registers 10 ... that point to code, and as many from 20 on that point to data */
    RUN_INSNS = 30000,
    PROGRAMS = 6,
};

/* ---- random code, of instructions of two and of four bytes */

struct program {
    uint16_t code[CODE_BYTES / 2];
    uint16_t start[CODE_BYTES / 2]; /* where instructions begin, in halfwords */
    unsigned starts;
    bool near; /* accesses come back to a few lines, which share sets of caches and TLBs */
};

static unsigned draw(struct random *r, unsigned below)
{
    return (unsigned)(random_u64(r) % below);
}

static uint32_t i_type(unsigned opcode, unsigned f3, unsigned rd, unsigned rs1, unsigned imm)
{
    return opcode | rd << 7 | f3 << 12 | rs1 << 15 | (uint32_t)imm << 20;
}

/* From halfword `at` to the start of any instruction, near or far. */
static uint32_t distance_to(struct random *r, const struct program *p, unsigned at, unsigned index, bool far)
{
    unsigned to = far ? draw(r, p->starts) : index + draw(r, 30) - 15;
    to = to < p->starts ? to : 0;
    return far || abs((int)p->start[to] - (int)at) < 1000 ? 2 * ((uint32_t)p->start[to] - at) : 4;
}

static uint32_t branch(struct random *r, const struct program *p, unsigned at, unsigned index)
{
    uint32_t o = distance_to(r, p, at, index, false);
    static const unsigned kind[] = {0, 1, 4, 5, 6, 7};
    return 0x63 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | kind[draw(r, 6)] << 12 | (1 + draw(r, 4)) << 15 |
           draw(r, 5) << 20 | (o >> 5 & 63) << 25 | (o >> 12 & 1) << 31;
}

static uint32_t jump(struct random *r, const struct program *p, unsigned at, unsigned index)
{
    uint32_t o = distance_to(r, p, at, index, true);
    return 0x6f | draw(r, 2) << 7 | (o & 0xff000) | (o >> 11 & 1) << 20 | (o >> 1 & 0x3ff) << 21 | (o >> 20 & 1) << 31;
}

static uint32_t any_insn(struct random *r, const struct program *p, unsigned at, unsigned index)
{
    unsigned value = 1 + draw(r, 4), data = 20 + draw(r, BASES), offset = p->near ? draw(r, 64) : draw(r, 4096);
    offset &= draw(r, 4) ? ~7u : ~0u;                                /* most accesses are aligned */
    switch (p->near && draw(r, 16) ? 5 + draw(r, 5) : draw(r, 24)) { /* most of near code are accesses */
    case 0: return 0x00000073;                                       /* ecall */
    case 1: return jump(r, p, at, index);
    case 2: return i_type(0x67, 0, draw(r, 2) * 5, draw(r, 3) ? 10 + draw(r, BASES) : 1, 0); /* jalr */
    case 3: return i_type(0x17, 0, 6, 0, 0) | draw(r, 3) << 12;                              /* auipc, ... */
    case 4: return i_type(0x67, 0, draw(r, 2), 6, draw(r, 64) * 2);                          /* ... and a call there */
    case 5:
    case 6:
    case 7: return i_type(0x03, draw(r, 7), value, data, offset); /* a load */
    case 8: return i_type(0x07, 3, value, data, offset);          /* fld */
    case 9: return 0x23 | draw(r, 4) << 12 | data << 15 | value << 20 | (offset & 31) << 7 | offset >> 5 << 25;
    case 10: return 0x2f | 3 << 12 | data << 15 | value << 20 | value << 7; /* amoadd.d */
    case 11: return i_type(0x13, 0, data, data, offset & 0xfff8);           /* moves on in the data */
    case 12: return i_type(0x03, 3, value, 0, 0);                           /* a load that faults */
    case 13: return 0x0000100f;                                             /* fence.i */
    case 14:
    case 15:
    case 16:
    case 17: return branch(r, p, at, index);
    default: return i_type(0x13, 0, value, value, draw(r, 8) - 4);
    }
}

static void make_program(struct random *r, struct program *p)
{
    p->near = draw(r, 2);
    unsigned end = CODE_BYTES / 2 - 2, at = 0;
    for (p->starts = 0; at < end; p->starts++) {
        p->start[p->starts] = (uint16_t)at;
        at += 1 + draw(r, 2);
    }
    for (unsigned k = 0; k < p->starts; k++) {
        at = p->start[k];
        unsigned next = k + 1 < p->starts ? p->start[k + 1] : at + 2;
        uint32_t bits = next == at + 1 ? 0x0001 /* c.nop */ : any_insn(r, p, at, k);
        p->code[at] = (uint16_t)bits;
        if (next > at + 1)
            p->code[at + 1] = (uint16_t)(bits >> 16);
    }
}

/* A short loop whose branch is foreseen most of the time, so that several of it are in flight: it is taken three times
 * in four, which one half of a hybrid predictor learns and the other does not, but for one random time in sixteen. */
static void make_loop(struct program *p)
{
    static const uint32_t loop[] = {
        0x41c65437, 0xe6d40413,             /* x8 = an odd number */
        0x028282b3, 0x03928293, 0x03c2d313, /* again: x5 = x5 * x8 + 57; x6 = its highest four bits */
        0x00133313, 0x00138393,             /* x6 = x6 == 0; x7++ */
        0x0033f513, 0x00153513, 0x00654533, /* x10 = ((x7 & 3) == 0) ^ x6 */
        0xfe0500e3, 0xfddff06f,             /* again if x10 == 0, and else by a jump */
    };
    memcpy(p->code, loop, sizeof loop);
    p->start[0] = 0;
    p->starts = 1;
}

/* ---- the literal warming */

struct literal {
    struct core *core;
    uint64_t line;     /* last line fetched from */
    bool branch_waits; /* the last instruction was a control transfer: where it led is known now */
    bool conditional;
    uint64_t mispredictions;
    struct branch_record branch;
    unsigned in_flight;
    struct {
        struct branch_record branch;
        uint64_t next;
        bool taken;
    } flight[WARM_BRANCHES]; /* oldest first */
};

/* Retires the oldest branches until `left` are in flight. */
static void retire_down_to(struct literal *l, unsigned left)
{
    for (; l->in_flight > left; l->in_flight--) {
        branch_retire(l->core->predictor, &l->flight[0].branch, l->flight[0].taken, l->flight[0].next);
        memmove(&l->flight[0], &l->flight[1], (l->in_flight - 1) * sizeof l->flight[0]);
    }
}

static void finish_branch(struct literal *l, uint64_t next)
{
    struct branch_unit *b = l->core->predictor;
    if (!l->branch_waits)
        return;
    bool taken = !l->conditional || next != l->branch.fallthrough;
    branch_predict(b, &l->branch);
    l->flight[l->in_flight].branch = l->branch;
    l->flight[l->in_flight].next = next;
    l->flight[l->in_flight++].taken = taken;
    bool mispredicted = l->branch.next != next;
    if (mispredicted) {
        l->mispredictions++;
        branch_recover(b, &l->branch, taken, next);
    }
    unsigned most = l->core->rob_size / 16;
    retire_down_to(l, mispredicted ? 0 : most < WARM_BRANCHES ? most : WARM_BRANCHES - 1);
    l->branch_waits = false;
}

static void literal_insn(void *context, const struct hart *h, uint64_t pc, const struct insn *insn)
{
    struct literal *l = context;
    struct core *c = l->core;
    struct code code;
    code_describe(insn, &code);
    finish_branch(l, pc);
    uint64_t line = pc & ~(uint64_t)(c->line_bytes - 1),
             last = (pc + insn->length - 1) & ~(uint64_t)(c->line_bytes - 1);
    if (line != l->line)
        memsys_warm_fetch(c->memsys, core_place(c->space, pc));
    if (last != line)
        memsys_warm_fetch(c->memsys, core_place(c->space, last));
    l->line = last;
    if (code.flags & IS_MEM && code.mem_size)
        memsys_warm_data(c->memsys, core_place(c->space, h->x[code.o.rs1] + (uint64_t)(int64_t)code.o.imm),
                         code.mem_size, pc, code.flags & IS_STORE);
    if (code.flags & IS_CONTROL && c->predictor) {
        l->branch.pc = pc;
        l->branch.fallthrough = pc + insn->length;
        l->branch.kind = code.control;
        l->branch.direct = code.op == INSN_jalr ? 0 : pc + (uint64_t)(int64_t)insn->imm;
        l->conditional = code.flags & IS_CONDITIONAL;
        l->branch_waits = true;
    }
}

/* ---- both on the same core and memory, one after the other */

struct world {
    struct guest_memory *memory;
    struct core *core;
    struct program program;
    size_t state_bytes;
    void *cold;
};

/* An address of data. Pages that are a power of two apart are in the same sets. */
static uint64_t data_address(const struct world *w, struct random *r)
{
    if (!w->program.near)
        return DATA + 8 * (uint64_t)draw(r, DATA_BYTES / 8);
    return DATA + 4096 * (uint64_t)(draw(r, 2) * 64 + draw(r, 2) * 32 + draw(r, 3)) + 32 * draw(r, 6);
}

static struct hart initial_hart(const struct world *w, struct random *r)
{
    struct hart h = {.pc = CODE};
    for (unsigned k = 0; k < BASES; k++) {
        h.x[10 + k] = CODE + 2 * (uint64_t)w->program.start[draw(r, w->program.starts)];
        h.x[20 + k] = data_address(w, r);
    }
    h.x[1] = CODE;
    return h;
}

/* Saves the state, makes the core cold, and lets a new warmer go on from the saved state, which is not the first one.
 */
static void save_and_go_on(struct world *w, struct engine_state *e, struct warmer *warmer)
{
    struct saved_states *states = saved_new();
    struct saved_reader reader = {.state = NULL};
    struct warm_flight flight;
    size_t core_bytes = core_warm_bytes(w->core), bytes = core_bytes + sizeof flight;
    char *state = calloc(1, bytes);
    uint64_t insn = 5, mispredictions = warmer->mispredictions;
    unsigned stretch;
    assert_true(states && state && saved_add(states, 1, SAVED_BYTES) == 0);
    assert_int_equal(saved_write(states, 0, 1, 0, state, bytes), 0);
    warm_put_flight(warmer, &flight);
    core_put_warm(w->core, state);
    memcpy(state + core_bytes, &flight, sizeof flight);
    assert_int_equal(saved_write(states, 0, 3, 0.5, state, bytes), 0);
    core_get_state(w->core, w->cold);
    assert_int_equal(saved_before(states, &insn, &stretch), 1);
    assert_int_equal(saved_read(states, &reader, stretch, 1), 0);
    assert_true(core_get_warm(w->core, reader.state, core_bytes));
    memcpy(&flight, (char *)reader.state + core_bytes, sizeof flight);
    *warmer = (struct warmer){.core = w->core, .mispredictions = mispredictions};
    warm_begin(warmer, &interpreter, e);
    warm_get_flight(warmer, &flight);
    saved_reader_free(&reader);
    saved_free(states);
    free(state);
}

/* Runs the program from the start with random quanta; `literal` gets the end of each quantum. In the middle of the run
 * `saved` goes on from a saved state. */
static void run(struct world *w, uint64_t seed, struct engine_state *e, struct literal *literal, struct warmer *saved)
{
    struct random r;
    uint64_t done = 0;
    random_seed(&r, seed);
    struct hart h = initial_hart(w, &r);
    memcpy(guest_memory_base(w->memory) + CODE, w->program.code, CODE_BYTES);
    memset(guest_memory_base(w->memory) + DATA, 0, DATA_BYTES);
    while (done < RUN_INSNS) {
        h.quantum = h.budget = 1 + draw(&r, draw(&r, 2) ? 30 : 3000);
        interpreter.run(e, &h);
        done += (uint64_t)(h.quantum - h.budget) + 1;
        if (saved && done > RUN_INSNS / 2) {
            save_and_go_on(w, e, saved);
            saved = NULL;
        }
        if (literal)
            finish_branch(literal, h.pc);
        if (h.trap != TRAP_NONE)
            h.pc = CODE + 2 * (uint64_t)w->program.start[draw(&r, w->program.starts)];
        for (unsigned k = 0; k < BASES; k++) /* addresses that moved too far come back, and others if they are near */
            if (h.x[20 + k] - DATA >= DATA_BYTES || (w->program.near && draw(&r, 2)))
                h.x[20 + k] = data_address(w, &r) + (draw(&r, 4) ? 0 : draw(&r, 8));
        if (h.x[1] - CODE >= CODE_BYTES || h.x[1] % 2)
            h.x[1] = CODE;
    }
}

/* Warming leaves accesses out that repeat the last one of a set, so that fewer touches are counted. Replaces the dates
 * of the last use by the order of uses within each set. */
static void number_uses(struct tags *t)
{
    uint64_t rank[CACHE_WAYS_MOST];
    t->clock = 0;
    for (size_t first = 0; t->stamp && first <= t->set_mask * t->ways; first += t->ways) {
        for (unsigned i = 0; i < t->ways; i++) {
            rank[i] = t->tag[first + i] != 0;
            for (unsigned k = 0; k < t->ways; k++)
                rank[i] += t->tag[first + i] && t->stamp[first + k] < t->stamp[first + i];
        }
        memcpy(t->stamp + first, rank, t->ways * sizeof *rank);
    }
}

static void remove_dates(struct memsys *m)
{
    struct cache *caches[] = {&m->l1i, &m->l1d, &m->l2, &m->l3};
    struct tlb *tlbs[] = {&m->itlb, &m->dtlb, &m->l2tlb};
    for (unsigned i = 0; i < 4; i++)
        number_uses(&caches[i]->tags);
    for (unsigned i = 0; i < 3; i++) {
        if (tlbs[i]->present)
            number_uses(&tlbs[i]->tags);
        tlbs[i]->last_page = 0;
    }
}

enum way { LITERAL, WARMED, SAVED };

static void *state_after(struct world *w, uint64_t seed, enum way way, uint64_t *mispredictions)
{
    bool literally = way == LITERAL;
    struct error err;
    struct literal literal = {.core = w->core, .line = UINT64_MAX};
    struct warmer warmer = {.core = w->core};
    struct engine_state *e = interpreter.create(w->memory, &err);
    assert_non_null(e);
    core_get_state(w->core, w->cold);
    if (literally)
        interpreter.set_hooks(e, &(struct engine_hooks){.insn = literal_insn, .context = &literal});
    else
        warm_begin(&warmer, &interpreter, e);
    run(w, seed, e, literally ? &literal : NULL, way == SAVED ? &warmer : NULL);
    interpreter.destroy(e);
    if (literally)
        retire_down_to(&literal, 0);
    else
        warm_end(&warmer);
    void *state = calloc(1, w->state_bytes);
    assert_non_null(state);
    remove_dates(w->core->memsys);
    core_put_state(w->core, state);
    *mispredictions = literally ? literal.mispredictions : warmer.mispredictions;
    return state;
}

/* On the program of that seed; 0: the loop. */
static void compare(const char *settings, uint64_t seed, enum way way)
{
    struct error err;
    struct random r;
    struct core_config config;
    struct world w = {.memory = guest_memory_new(UINT64_C(1) << 30, &err)};
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, all = PROT_READ | PROT_WRITE | PROT_EXEC;
    random_seed(&r, seed);
    if (seed == 0)
        make_loop(&w.program);
    else
        make_program(&r, &w.program);
    make_core(&config, settings);
    assert_non_null(w.memory);
    assert_int_equal(guest_mmap(w.memory, CODE, CODE_BYTES, all, flags, -1, 0, NULL), CODE);
    assert_int_equal(guest_mmap(w.memory, DATA, DATA_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0, NULL), DATA);
    w.core = core_new(&config, w.memory, &err);
    assert_non_null(w.core);
    w.state_bytes = core_state_bytes(w.core);
    w.cold = calloc(1, w.state_bytes);
    assert_non_null(w.cold);
    core_put_state(w.core, w.cold);
    uint64_t literal_mispredictions, mispredictions;
    void *literal = state_after(&w, seed, LITERAL, &literal_mispredictions);
    void *fast = state_after(&w, seed, way, &mispredictions);
    assert_memory_not_equal(literal, w.cold, w.state_bytes);
    if (memcmp(literal, fast, w.state_bytes) != 0)
        fail_msg("program %llu on \"%s\": another state", (unsigned long long)seed, settings);
    assert_int_equal(mispredictions, literal_mispredictions);
    free(literal);
    free(fast);
    free(w.cold);
    core_free(w.core);
    guest_memory_free(w.memory);
}

static void warming_leaves_what_each_instruction_would(void **state)
{
    (void)state;
    static const char *const cores[] = {
        "",
        "rob.size=32",
        "rob.size=1024 l1d.prefetch=stride l1i.prefetch=next_line l2.prefetch=next_line branch.predictor=tage",
        "rob.size=15 l1i.size=1K l1i.line=16 l1i.ways=2 l1d.size=2K l1d.ways=2 branch.predictor=gshare",
        "l1i.line=8 l1d.write=through l1d.allocate=no l1d.replacement=plru branch.predictor=bimodal",
        "l1i.size=1K l1d.size=4K l2.size=16K l2.replacement=random l1d.replacement=random branch.predictor=static",
        "l1i.size=1K l1d.size=1K l1d.ways=2 l1i.prefetch=next_line l1d.prefetch=next_line",
        "l1i.size=0 l1d.size=0",
    };
    for (unsigned k = 0; k < sizeof cores / sizeof *cores; k++)
        for (uint64_t seed = 0; seed <= PROGRAMS; seed++)
            compare(cores[k], seed, WARMED);
}

static void warming_goes_on_from_a_saved_state(void **state)
{
    (void)state;
    static const char *const cores[] = {
        "",
        "rob.size=1024 l1d.prefetch=stride l2.prefetch=next_line branch.predictor=tage",
        "rob.size=15 l1i.size=1K l1i.line=16 l1i.ways=2 l1d.size=2K l1d.ways=2 branch.predictor=gshare",
        "l1i.line=8 l1d.write=through l1d.allocate=no l1d.replacement=plru branch.predictor=bimodal",
    };
    for (unsigned k = 0; k < sizeof cores / sizeof *cores; k++)
        for (uint64_t seed = 0; seed <= PROGRAMS; seed++)
            compare(cores[k], seed, SAVED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warming_leaves_what_each_instruction_would),
        cmocka_unit_test(warming_goes_on_from_a_saved_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
