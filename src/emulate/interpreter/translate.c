/* Translates guest code into blocks of ops. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emulate/interpreter/translate_priv.h"

_Static_assert(BLOCK_OPS <= UINT16_MAX, "a stub's distance to its exit fits");

struct op *interp_emit(struct builder *b, enum op_kind kind)
{
    b->sites[b->count] = (struct op_site){(int32_t)(b->pc - b->made->pc), (uint8_t)b->made->insns};
    b->kinds[b->count] = (uint16_t)kind;
    struct op *op = &b->ops[b->count++];
    *op = (struct op){.run = kind == OP_DATA ? NULL : interp_single[kind]};
    if (b->e->hooks.count_blocks && kind != OP_DATA && interp_counted_single[kind])
        op->run = interp_counted_single[kind];
    return op;
}

static void emit_constant(struct builder *b, enum op_kind kind, uint8_t rd, uint64_t constant)
{
    interp_emit(b, kind)->constant = (int64_t)(constant << 8 | rd);
}

/* Emits the tally of the last op, which leaves the block. in_progress: part of the basic block in progress has run when
 * it leaves. */
static void emit_tally(struct builder *b, bool in_progress)
{
    if (!b->e->hooks.count_blocks)
        return;
    unsigned segments = b->e->counts.segment_count - b->first_segment + in_progress;
    *interp_emit(b, OP_DATA) = (struct op){.taken = UINT64_MAX, .constant = tally_constant(b->first_segment, segments)};
}

/* Emits an op that leaves the block for `target`, with `retired` instructions of the block retired. */
static struct op *emit_exit(struct builder *b, enum op_kind kind, uint64_t target, unsigned retired)
{
    b->exits[b->exit_count].op = b->count;
    b->exits[b->exit_count++].target = target;
    struct op *op = interp_emit(b, kind);
    op->o.rd = (uint8_t)retired;
    emit_tally(b, retired > b->segment_before); /* false right after a branch: the next basic block has not begun */
    return op;
}

/* The register slot to write for integer register `rd`. */
static uint8_t slot(uint8_t rd)
{
    return rd ? rd : X_SINK;
}

/* The last op, if it loads a constant into `reg`; else NULL. */
static struct op *constant_before(const struct builder *b, uint8_t reg)
{
    if (b->count == 0 || b->kinds[b->count - 1] != OP_li)
        return NULL;
    struct op *before = &b->ops[b->count - 1];
    return before->o.rd == reg ? before : NULL;
}

static uint64_t constant_of(const struct op *li)
{
    return (uint64_t)(li->constant >> 8);
}

/* Emits the cheapest op for the instruction; none if it only writes x0. */
static void translate_alu(struct builder *b, const struct insn *i, enum op_kind kind)
{
    struct operands o = {.rd = i->rd, .rs1 = i->rs1, .rs2 = i->rs2, .imm = i->imm};
    struct op *li;
    if (i->rd == 0)
        return;
    switch (i->op) {
    case INSN_lui: emit_constant(b, OP_li, i->rd, (uint64_t)(int64_t)i->imm); return;
    case INSN_auipc: emit_constant(b, OP_li, i->rd, b->pc + (uint64_t)(int64_t)i->imm); return;
    case INSN_addi:
        if (i->rs1 == 0) {
            emit_constant(b, OP_li, i->rd, (uint64_t)(int64_t)i->imm);
            return;
        }
        if (i->rd == i->rs1 && (li = constant_before(b, i->rs1)) != NULL) { /* lui or auipc, then addi: one constant */
            li->constant = (int64_t)((constant_of(li) + (uint64_t)(int64_t)i->imm) << 8 | i->rd);
            return;
        }
        kind = i->imm == 0 ? OP_mv : kind;
        break;
    case INSN_add:
        if (i->rs1 == 0 || i->rs2 == 0) {
            kind = OP_mv;
            o.rs1 = i->rs1 | i->rs2;
        }
        break;
    case INSN_addiw: kind = i->imm == 0 ? OP_sext_w : kind; break;
    default: break;
    }
    interp_emit(b, kind)->o = o;
}

static void translate_branch(struct builder *b, const struct insn *i, enum op_kind kind)
{
    if (i->rs2 == 0 && kind == OP_beq)
        kind = OP_beqz;
    else if (i->rs2 == 0 && kind == OP_bne)
        kind = OP_bnez;
    uint64_t target = b->pc + (uint64_t)(int64_t)i->imm;
    struct op *op = emit_exit(b, interp_watched_branch(b, kind), target, b->made->insns + 1);
    op->o.rs1 = i->rs1;
    op->o.rs2 = i->rs2;
    interp_watch_site(b, i, target);
}

static bool seen(const struct builder *b, uint64_t pc)
{
    for (unsigned k = 0; k < b->made->insns; k++)
        if (b->seen[k] == pc)
            return true;
    return b->pc == pc;
}

/* Continues the block at the target of a jump, unless that would unroll a loop or duplicate a block that exists. */
static void translate_direct_jump(struct builder *b, const struct insn *i, uint64_t target, uint64_t *next)
{
    interp_watch_jump(b, i, OP_known_hook, target);
    /* Not for a jalr at the start of its basic block: its target depends on the code before the basic block. */
    if (i->op == INSN_jal || b->made->insns > b->segment_before)
        b->segment.target = target;
    if (i->rd != 0)
        emit_constant(b, OP_li, i->rd, b->pc + i->length);
    if (b->e->hooks.block == NULL && !b->verified && !seen(b, target) && !interp_has_block(b->e, target) &&
        !interp_page_is_verified(b->e, target / GUEST_PAGE)) {
        *next = target;
        return;
    }
    emit_exit(b, OP_j, target, b->made->insns + 1);
    b->done = true;
}

/* The target of a far call (auipc, jalr) is known, too: it becomes a direct jump. */
static void translate_jalr(struct builder *b, const struct insn *i, uint64_t *next)
{
    struct operands o = {.rd = i->rd, .rs1 = i->rs1, .imm = i->imm};
    const struct op *li = constant_before(b, i->rs1);
    if (li) {
        uint64_t target = (constant_of(li) + (uint64_t)(int64_t)i->imm) & ~UINT64_C(1);
        if (i->rd == i->rs1)
            b->count--; /* drop the li: the link overwrites its register at once */
        translate_direct_jump(b, i, target, next);
        return;
    }
    interp_watch_jump(b, i, OP_register_hook, 0);
    if (i->rd == 0) {
        o.rd = (uint8_t)(b->made->insns + 1);
        interp_emit(b, OP_jr)->o = o;
        emit_tally(b, true);
    } else {
        o.rs2 = (uint8_t)(b->made->insns + 1);
        interp_emit(b, OP_jalr)->o = o;
        emit_tally(b, true);
        emit_constant(b, OP_DATA, 0, b->pc + i->length);
    }
    b->done = true;
}

static void translate_csr(struct builder *b, const struct insn *i)
{
    static const uint8_t access[] = {0, 1, 2}; /* csr_access: write, set, clear */
    bool immediate = i->op >= INSN_csrrwi;
    unsigned which = access[i->op - (immediate ? INSN_csrrwi : INSN_csrrw)];
    bool writes = which == 0 || i->rs1 != 0;
    interp_emit(b, OP_csr)->o = (struct operands){
        .rd = slot(i->rd), .rs1 = i->rs1, .rs2 = (uint8_t)(which | immediate << 2 | writes << 3), .imm = i->imm};
}

/* Kinds of the instructions of exec.def, by instruction. */
static const uint16_t plain_kind[INSN_COUNT] = {
#define EXEC(id, ...)    [INSN_##id] = OP_##id,
#define BRANCH(id, ...)  [INSN_##id] = OP_##id,
#define ROUNDED(id, ...) [INSN_##id] = OP_##id,
#include "riscv/exec.def"
#undef EXEC
#undef BRANCH
#undef ROUNDED
};

/* The host rounds in the dynamic mode, so instructions with a static rounding mode take the soft form. */
static enum op_kind rounded_kind(const struct insn *i)
{
    if (i->rm == RM_DYN)
        return plain_kind[i->op];
    switch (i->op) {
#define EXEC(id, ...)
#define BRANCH(id, ...)
#define ROUNDED(id, ...)                                                                                               \
    case INSN_##id:                                                                                                    \
        return OP_soft_##id;
#include "riscv/exec.def"
#undef EXEC
#undef BRANCH
#undef ROUNDED
    default: return plain_kind[i->op];
    }
}

static void translate_fp(struct builder *b, const struct insn *i)
{
    bool to_integer = strchr("d", insn_describe(i->op)->operands[0]) != NULL;
    interp_emit(b, rounded_kind(i))->o = (struct operands){
        .rd = to_integer ? slot(i->rd) : i->rd, .rs1 = i->rs1, .rs2 = i->rs2, .rs3 = i->rs3, .imm = i->rm};
}

/* Loads, stores, atomics and other instructions without a cheaper form. */
static void translate_plain(struct builder *b, const struct insn *i)
{
    bool to_fp = insn_describe(i->op)->operands[0] == 'D';
    enum op_kind kind = interp_watched_access(b, plain_kind[i->op]);
    interp_emit(b, kind)->o =
        (struct operands){.rd = to_fp ? i->rd : slot(i->rd), .rs1 = i->rs1, .rs2 = i->rs2, .imm = i->imm};
    if (kind != plain_kind[i->op])
        interp_emit(b, OP_DATA)->constant = (int64_t)b->pc;
}

static void translate_system(struct builder *b, const struct insn *i)
{
    switch (i->op) {
    case INSN_ecall:
        interp_emit(b, OP_ecall)->o.rd = (uint8_t)(b->made->insns + 1);
        b->done = true;
        break;
    case INSN_ebreak:
        interp_emit(b, OP_ebreak);
        b->done = true;
        break;
    case INSN_mret:
    case INSN_wfi:
        interp_emit(b, OP_illegal);
        b->done = true;
        break;
    default: translate_csr(b, i); break;
    }
}

/* Emits the ops of one instruction. `next` is the pc behind it; a jump that the block follows sets it to its target. */
static void translate_insn(struct builder *b, const struct insn *i, uint64_t *next)
{
    switch (insn_describe(i->op)->unit) {
    case UNIT_ALU:
    case UNIT_MUL:
    case UNIT_DIV: translate_alu(b, i, plain_kind[i->op]); break;
    case UNIT_BRANCH:
        translate_branch(b, i, plain_kind[i->op]);
        if (b->e->hooks.block) {
            emit_exit(b, OP_j, *next, b->made->insns + 1);
            b->done = true;
        }
        break;
    case UNIT_JUMP: translate_direct_jump(b, i, b->pc + (uint64_t)(int64_t)i->imm, next); break;
    case UNIT_JUMP_REG: translate_jalr(b, i, next); break;
    case UNIT_FP_ADD:
    case UNIT_FP_MUL:
    case UNIT_FP_FMA:
    case UNIT_FP_DIV:
    case UNIT_FP_SQRT:
    case UNIT_FP_CONVERT:
    case UNIT_FP_COMPARE:
    case UNIT_FP_MOVE: translate_fp(b, i); break;
    case UNIT_SYSTEM: translate_system(b, i); break;
    case UNIT_PREFETCH:
    case UNIT_HINT: break;
    case UNIT_FENCE:
        if (i->op == INSN_fence_i) {
            emit_constant(b, OP_fence_i, (uint8_t)(b->made->insns + 1), *next);
            b->done = true;
        } else {
            translate_plain(b, i);
        }
        break;
    default: translate_plain(b, i); break;
    }
}

/* Adds the page of `addr` to the block's pages; false if there is no room for another page. */
static bool note_page(struct builder *b, uint64_t addr)
{
    uint64_t number = addr / GUEST_PAGE;
    for (unsigned k = b->made->page_count; k-- > 0;)
        if (b->made->pages[k] == number)
            return true;
    if (b->made->page_count == BLOCK_PAGES)
        return false;
    b->made->pages[b->made->page_count++] = number;
    b->meets_verified |= interp_page_is_verified(b->e, number);
    return true;
}

/* Whether the page of `addr` is executable. Called for every instruction, so it caches executable pages: to ask the
 * guest's memory takes a system call if the page is mapped from a file. */
static bool executable(struct builder *b, uint64_t addr)
{
    uint64_t number = addr / GUEST_PAGE, *cached = &b->e->executable[number % EXECUTABLE_PAGES];
    if (*cached != number + 1 && guest_ptr(b->e->memory, addr, 2, PROT_EXEC))
        *cached = number + 1;
    return *cached == number + 1;
}

/* Reads the instruction at `pc`. False if it cannot be fetched, with the address that faults in `missing`; or if it is
 * illegal, with UINT64_MAX in `missing`. */
static bool read_insn(struct builder *b, uint64_t pc, struct insn *i, uint64_t *missing)
{
    *missing = pc;
    if (!executable(b, pc))
        return false;
    const uint8_t *code = b->e->mem + pc;
    uint32_t bits = (uint32_t)(code[0] | code[1] << 8);
    if (insn_length((uint16_t)bits) == 4) {
        *missing = pc + 2;
        if (!executable(b, pc + 2))
            return false;
        bits |= (uint32_t)(code[2] | code[3] << 8) << 16;
    }
    *missing = UINT64_MAX;
    return insn_decode(bits, i);
}

/* Reads the instruction at b->pc; if it cannot be executed, emits an op that traps and returns false. */
static bool fetch(struct builder *b, struct insn *i)
{
    uint64_t missing;
    b->done = !read_insn(b, b->pc, i, &missing);
    b->code_end = missing == UINT64_MAX ? b->pc + i->length : missing;
    if (b->done && missing != UINT64_MAX)
        emit_constant(b, OP_fetch_fault, 0, missing - b->pc);
    else if (b->done)
        interp_emit(b, OP_illegal);
    return !b->done;
}

static void emit_insn_hook(struct builder *b, const struct insn *i)
{
    struct engine_state *e = b->e;
    if (e->hooked_count == e->hooked_capacity) {
        e->hooked_capacity = e->hooked_capacity ? 2 * e->hooked_capacity : 4096;
        e->hooked = realloc(e->hooked, e->hooked_capacity * sizeof *e->hooked);
        if (e->hooked == NULL)
            abort();
    }
    e->hooked[e->hooked_count] = (struct hooked_insn){b->pc, *i};
    interp_emit(b, OP_insn_hook)->constant = e->hooked_count++;
}

/* ---- basic blocks */

static bool transfers_control(const struct insn *i)
{
    enum insn_unit unit = insn_describe(i->op)->unit;
    return unit == UNIT_BRANCH || unit == UNIT_JUMP || unit == UNIT_JUMP_REG;
}

/* Sets target and kind of a basic block from its last instruction. A far call is an auipc and a jalr through the same
 * register; a jump that writes a link register is a call (return-address-stack hints of the RISC-V specification). */
static void describe_end(struct basic_block *b, const struct insn *last, uint64_t pc, const struct insn *before)
{
    enum { ZERO = 0, RA = 1, ALTERNATE_RA = 5 };
    uint64_t offset = (uint64_t)(int64_t)last->imm;
    if (last->op == INSN_jal)
        b->target = pc + offset;
    else if (last->op == INSN_jalr && before->op == INSN_auipc && before->rd == last->rs1 && last->rs1 != ZERO)
        b->target = (pc - before->length + (uint64_t)(int64_t)before->imm + offset) & ~UINT64_C(1);
    b->call = (last->op == INSN_jal || last->op == INSN_jalr) && (last->rd == RA || last->rd == ALTERNATE_RA);
}

/* Completes the description of the basic block in progress, which is cut before b->pc, by reading on in its code. */
static void describe_rest(struct builder *b, struct insn before)
{
    struct insn i;
    uint64_t pc = b->pc, missing;
    b->segment.insns = b->made->insns - b->segment_before;
    while (b->segment.insns < BLOCK_INSNS && read_insn(b, pc, &i, &missing)) {
        b->segment.insns++;
        describe_end(&b->segment, &i, pc, &before);
        if (transfers_control(&i) || i.op == INSN_ecall || i.op == INSN_ebreak || i.op == INSN_fence_i)
            return;
        before = i;
        pc += i.length;
    }
}

/* Ends the basic block in progress; the next one begins at `next`. */
static void end_segment(struct builder *b, uint64_t next)
{
    unsigned insns = b->made->insns - b->segment_before;
    if (b->segment.insns == 0)
        b->segment.insns = insns;
    if (b->e->hooks.count_blocks && insns > 0)
        interp_count_segment(b->e, &b->segment, insns);
    b->segment = (struct basic_block){.pc = next};
    b->segment_before = b->made->insns;
    b->before.count = b->count;
    b->before.page_count = b->made->page_count;
    if (b->count > 0) {
        b->before.op = b->ops[b->count - 1];
        b->before.site = b->sites[b->count - 1];
        b->before.kind = b->kinds[b->count - 1];
    }
}

/* Removes the basic block in progress, unless it is the only one of the block. It does not fit, and will begin a block
 * of its own, so that it can be counted as a whole. */
static void drop_segment(struct builder *b)
{
    if (b->segment_before == 0 || b->segment_before == b->made->insns)
        return;
    b->made->insns = b->segment_before;
    b->made->page_count = b->before.page_count;
    b->pc = b->segment.pc;
    b->count = b->before.count;
    if (b->count > 0) {
        b->ops[b->count - 1] = b->before.op;
        b->sites[b->count - 1] = b->before.site;
        b->kinds[b->count - 1] = b->before.kind;
    }
}

/* Ends the block before b->pc because it is full. */
static void cut(struct builder *b, unsigned max_insns, const struct insn *before)
{
    bool counts = b->e->hooks.count_blocks;
    if (counts && max_insns == BLOCK_INSNS)
        drop_segment(b);
    b->code_end = b->pc;
    emit_exit(b, OP_j, b->pc, b->made->insns);
    if (counts && b->made->insns > b->segment_before) {
        b->e->counts.cut_exit = b->e->used + b->exits[b->exit_count - 1].op;
        describe_rest(b, *before);
    }
}

static bool may_store(const struct insn *i)
{
    enum insn_unit unit = insn_describe(i->op)->unit;
    return unit == UNIT_STORE || unit == UNIT_ATOMIC;
}

static void translate_body(struct builder *b, unsigned max_insns)
{
    struct insn i, before = {.op = INSN_ILLEGAL};
    bool stored = false;
    while (!b->done) {
        if (b->made->insns == max_insns || b->exit_count == BLOCK_BRANCHES || !note_page(b, b->pc) ||
            !note_page(b, b->pc + 3)) {
            cut(b, max_insns, &before);
            return;
        }
        if (stored)
            interp_verify_from_here(b, OP_verify_rest);
        if (!fetch(b, &i))
            return;
        stored = b->verified && may_store(&i);
        if (b->e->hooks.insn)
            emit_insn_hook(b, &i);
        if (b->e->hooks.watch)
            interp_watch_insn(b, &i);
        uint64_t pc = b->pc, next = pc + i.length;
        b->seen[b->made->insns] = pc;
        translate_insn(b, &i, &next);
        if (b->e->hooks.watch)
            interp_watch_result(b);
        b->made->insns++;
        b->pc = next;
        if (transfers_control(&i)) {
            describe_end(&b->segment, &i, pc, &before);
            end_segment(b, next);
            before.op = INSN_ILLEGAL;
        } else {
            before = i;
        }
    }
}

static void add_stubs(struct builder *b)
{
    for (unsigned k = 0; k < b->exit_count; k++) {
        uint32_t exit = b->exits[k].op;
        uint32_t distance = b->count - exit;
        b->ops[exit].o.imm = (int32_t)distance;
        interp_emit(b, OP_stub)->constant = (int64_t)(b->exits[k].target << 16 | distance);
    }
}

/* Begins a block without instructions. */
static void begin(struct builder *b, uint64_t pc)
{
    struct engine_state *e = b->e;
    *b->made = (struct translation){.pc = pc};
    b->count = b->exit_count = 0;
    b->pc = b->code_end = pc;
    b->done = b->meets_verified = false;
    b->line = UINT64_MAX;
    b->segment = (struct basic_block){.pc = pc};
    b->segment_before = 0;
    e->counts.segment_count = b->first_segment;
    e->counts.cut_exit = UINT32_MAX;
    if (b->verified)
        interp_verify_from_here(b, OP_verify);
    b->block_hook = b->count;
    if (e->hooks.block)
        emit_constant(b, OP_block_hook, 0, pc);
}

void interp_translate(struct engine_state *e, uint64_t pc, unsigned max_insns, struct translation *made)
{
    struct builder b;
    b.e = e;
    b.ops = &e->arena[e->used];
    b.sites = &e->site[e->used];
    b.made = made;
    b.first_segment = e->counts.segment_count;
    b.verified = interp_page_is_verified(e, pc / GUEST_PAGE);
    begin(&b, pc);
    translate_body(&b, max_insns);
    if (b.meets_verified && !b.verified) {
        b.verified = true;
        begin(&b, pc);
        translate_body(&b, max_insns);
    }
    end_segment(&b, 0);
    if (e->hooks.block)
        b.ops[b.block_hook].o.rd = (uint8_t)made->insns;
    interp_fuse(&b);
    add_stubs(&b);
    if (b.verified)
        interp_verify_end(&b, b.code_end);
    made->ops = b.count;
}
