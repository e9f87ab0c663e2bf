/* The kinds of units that a sequence is made of; see sequence.h for the rules that they keep. */
#include <assert.h>
#include <string.h>

#include "sequence.h"
#include "values.h"

enum { DRAWS = 64 }; /* before a row is given up for this sequence: its registers may all be protected */

static bool one_in(struct sequence *s, unsigned n)
{
    return random_below(&s->random, n) == 0;
}

static bool writes_integer(const struct insn *i)
{
    return strpbrk(insn_describe(i->form)->operands, insn_describe(i->form)->compressed ? "dUwx31" : "d") != NULL;
}

static bool writes_float(const struct insn *i)
{
    return strpbrk(insn_describe(i->form)->operands, "DW") != NULL;
}

static struct unit *begin_unit(struct sequence *s)
{
    assert(s->count < SEQUENCE_UNITS);
    struct unit *u = &s->unit[s->count];
    memset(u, 0, sizeof *u);
    return u;
}

static bool end_unit(struct sequence *s)
{
    const struct unit *u = &s->unit[s->count++];
    const struct insn *last = &u->step[u->count - 1].insn;
    s->steps += u->count;
    if (writes_integer(last))
        s->last_x = last->rd;
    else if (writes_float(last))
        s->last_f = last->rd;
    return true;
}

static struct step *add_step(struct unit *u, const struct insn *insn)
{
    assert(u->count < UNIT_STEPS);
    u->step[u->count] = (struct step){.insn = *insn, .target = -1, .from = u->count};
    return &u->step[u->count++];
}

/* An instruction with given fields, which must be expressible. */
static struct step *add_made(struct sequence *s, struct unit *u, enum insn_id form, unsigned rd, unsigned rs1, int imm)
{
    struct insn insn = {.form = form, .rd = (uint8_t)rd, .rs1 = (uint8_t)rs1, .imm = imm};
    bool encoded = encoder_encode(&s->fuzzer->encoder, &insn);
    assert(encoded);
    (void)encoded;
    return add_step(u, &insn);
}

static bool may_write(const struct sequence *s, uint32_t forbidden, unsigned reg)
{
    return ((s->protected_regs | forbidden) >> reg & 1) == 0;
}

/* Often what the last instruction wrote, mostly a hot register, sometimes x0. */
static uint8_t draw_source(struct sequence *s)
{
    if (one_in(s, 4))
        return s->last_x;
    return one_in(s, 12) ? 0 : s->hot_x[random_below(&s->random, 8)];
}

static uint8_t draw_float_source(struct sequence *s)
{
    return one_in(s, 4) ? s->last_f : s->hot_f[random_below(&s->random, 8)];
}

/* Operands of 32-bit forms that real code has more often than chance: registers that were just written, immediates
 * at the ends of their range, the dynamic rounding mode. Compressed forms have little choice as it is. */
static void make_likely(struct sequence *s, struct insn *i)
{
    static const int16_t immediates[] = {0, 1, -1, 2047, -2048};
    for (const char *o = insn_describe(i->form)->operands; *o; o++) {
        if (one_in(s, 4))
            continue;
        switch (*o) {
        case 'd': i->rd = one_in(s, 16) ? 0 : s->hot_x[random_below(&s->random, 8)]; break;
        case 's': i->rs1 = draw_source(s); break;
        case 't': i->rs2 = draw_source(s); break;
        case 'D': i->rd = s->hot_f[random_below(&s->random, 8)]; break;
        case 'S': i->rs1 = draw_float_source(s); break;
        case 'T': i->rs2 = draw_float_source(s); break;
        case 'R': i->rs3 = draw_float_source(s); break;
        case 'j': i->imm = one_in(s, 6) ? immediates[random_below(&s->random, 5)] : i->imm; break;
        case 'm': i->rm = one_in(s, 2) ? RM_DYN : i->rm; break;
        default: break;
        }
    }
}

/* An instruction of the row that writes neither a protected nor a forbidden register. */
static bool draw_insn(struct sequence *s, enum insn_id form, uint32_t forbidden, struct insn *out)
{
    for (unsigned n = 0; n < DRAWS; n++) {
        encoder_draw(form, &s->random, out);
        if (!insn_describe(form)->compressed) {
            struct insn likely = *out;
            make_likely(s, &likely);
            if (encoder_encode(&s->fuzzer->encoder, &likely))
                *out = likely;
        }
        if (!writes_integer(out) || may_write(s, forbidden, out->rd))
            return true;
    }
    return false;
}

static bool draw_plain(struct sequence *s, enum insn_id form)
{
    struct insn insn;
    if (!draw_insn(s, form, 0, &insn))
        return false;
    add_step(begin_unit(s), &insn);
    return end_unit(s);
}

/* Flags accrue, so later ones hide what this instruction raises, unless it is asked for at once. */
static bool draw_float(struct sequence *s, enum insn_id form)
{
    struct insn insn, clear, read;
    if (!one_in(s, 6))
        return draw_plain(s, form);
    if (!draw_insn(s, INSN_csrrwi, 0, &clear) || !draw_insn(s, form, 0, &insn) || !draw_insn(s, INSN_csrrs, 0, &read))
        return false;
    clear.imm = read.imm = 1;
    clear.rs1 = read.rs1 = 0;
    if (!encoder_encode(&s->fuzzer->encoder, &clear) || !encoder_encode(&s->fuzzer->encoder, &read))
        return false;
    struct unit *u = begin_unit(s);
    add_step(u, &clear);
    add_step(u, &insn);
    add_step(u, &read);
    return end_unit(s);
}

/* qemu 7.2 counts on into the upper word when the lower one is zero, where the manual has 32 (tests/guest/ctzw.c).
 * So one of the words is made to let it be right: a bit is set in the lower one, or the upper one is cleared. */
static bool draw_ctzw(struct sequence *s)
{
    struct insn insn;
    for (unsigned n = 0; n < DRAWS; n++) {
        if (!draw_insn(s, INSN_ctzw, 0, &insn))
            return false;
        if (insn.rs1 != 0 && !may_write(s, 0, insn.rs1))
            continue;
        struct unit *u = begin_unit(s);
        if (one_in(s, 2))
            add_made(s, u, INSN_bseti, insn.rs1, insn.rs1, (int)random_below(&s->random, 32));
        else
            add_made(s, u, INSN_add_uw, insn.rs1, insn.rs1, 0);
        add_step(u, &insn);
        return end_unit(s);
    }
    return false;
}

/* Something between two steps that belong together, which leaves the registers in `forbidden` alone. */
static void add_filler(struct sequence *s, struct unit *u, uint32_t forbidden)
{
    struct insn insn;
    enum insn_id row;
    do
        row = s->fuzzer->rows[random_below(&s->random, s->fuzzer->row_count)];
    while (row == INSN_ctzw || insn_describe(insn_describe(row)->op)->unit != UNIT_ALU ||
           !draw_insn(s, row, forbidden, &insn));
    add_step(u, &insn);
}

static unsigned access_bytes(enum insn_id op)
{
    switch (op) {
    case INSN_lb:
    case INSN_lbu:
    case INSN_sb: return 1;
    case INSN_lh:
    case INSN_lhu:
    case INSN_sh:
    case INSN_flh:
    case INSN_fsh: return 2;
    case INSN_lw:
    case INSN_lwu:
    case INSN_sw:
    case INSN_flw:
    case INSN_fsw: return 4;
    default: return strstr(insn_describe(op)->text, ".w") ? 4 : 8;
    }
}

/* A place in the scratch memory, as an offset; only atomics need it to be aligned. */
static int draw_place(struct sequence *s, unsigned bytes, bool aligned)
{
    unsigned place = random_below(&s->random, SCRATCH_BYTES - bytes + 1);
    if (aligned || one_in(s, 2))
        place -= place % bytes;
    return (int)place;
}

/* Lets the access use one of the sequence's pointers with the offset that leads to `place`. */
static bool point_directly(struct sequence *s, struct insn *access, int place)
{
    struct insn tried = *access;
    const struct pointer *p = &s->pointer[random_below(&s->random, s->pointers)];
    tried.rs1 = (uint8_t)p->reg;
    tried.imm = place - p->offset;
    if (!encoder_encode(&s->fuzzer->encoder, &tried))
        return false;
    *access = tried;
    return true;
}

/* Or sets the base register that it has so that its own offset leads there. */
static bool point_by_addi(struct sequence *s, struct unit *u, const struct insn *access, int place)
{
    const struct pointer *p = &s->pointer[random_below(&s->random, s->pointers)];
    int distance = place - access->imm - p->offset;
    if (access->rs1 == 0 || !may_write(s, 0, access->rs1) || distance < -2048 || distance > 2047)
        return false;
    add_made(s, u, INSN_addi, access->rs1, p->reg, distance);
    return true;
}

static bool draw_access(struct sequence *s, enum insn_id form)
{
    enum insn_id op = insn_describe(form)->op;
    bool atomic = insn_describe(op)->unit == UNIT_ATOMIC;
    for (unsigned n = 0; n < DRAWS; n++) {
        struct unit *u = begin_unit(s);
        struct insn access;
        int place = draw_place(s, access_bytes(op), atomic);
        if (!draw_insn(s, form, 0, &access))
            return false;
        if ((op == INSN_amocas_w || op == INSN_amocas_d) && access.rd == 0)
            continue; /* qemu 10.0 overwrites what it keeps for zero, which its divisions use */
        if ((!atomic && one_in(s, 2) && point_directly(s, &access, place)) || point_by_addi(s, u, &access, place)) {
            add_step(u, &access);
            return end_unit(s);
        }
    }
    return false;
}

/* sc to the neighbor, in the same double word or pair of them, and perhaps to the right place after it: neither may
 * succeed, the second since any sc ends the reservation. */
static void add_failing_sc(struct sequence *s, struct unit *u, const struct insn *sc, int bytes)
{
    add_made(s, u, INSN_xori, sc->rs1, sc->rs1, bytes);
    add_step(u, sc);
    if (sc->rd == sc->rs1 || one_in(s, 2))
        return;
    add_made(s, u, INSN_xori, sc->rs1, sc->rs1, bytes);
    add_step(u, sc);
}

/* lr and the sc of its size. An lr never stays open: whether an sc of another size would succeed is the
 * implementation's choice. */
static bool draw_reservation(struct sequence *s, enum insn_id load)
{
    enum insn_id store = load == INSN_lr_w ? INSN_sc_w : INSN_sc_d;
    unsigned bytes = access_bytes(load);
    for (unsigned n = 0; n < DRAWS; n++) {
        struct unit *u = begin_unit(s);
        struct insn lr, sc;
        if (!draw_insn(s, load, 0, &lr) || !draw_insn(s, store, 0, &sc))
            return false;
        if (lr.rd == lr.rs1 || !point_by_addi(s, u, &lr, draw_place(s, bytes, true) / 8 * 8))
            continue;
        sc.rs1 = lr.rs1;
        if (!encoder_encode(&s->fuzzer->encoder, &sc))
            continue;
        add_step(u, &lr);
        for (unsigned fillers = random_below(&s->random, 3); fillers > 0; fillers--)
            add_filler(s, u, UINT32_C(1) << lr.rs1);
        if (one_in(s, 4))
            add_failing_sc(s, u, &sc, (int)bytes);
        else
            add_step(u, &sc);
        return end_unit(s);
    }
    return false;
}

static bool draw_branch(struct sequence *s, enum insn_id form)
{
    struct insn insn;
    if (!draw_insn(s, form, 0, &insn))
        return false;
    add_step(begin_unit(s), &insn)->target = (int)(s->count + 1 + random_below(&s->random, 5));
    return end_unit(s);
}

/* The target's address comes from auipc and in part from the jump's own offset; jalr clears the lowest bit. */
static bool draw_indirect(struct sequence *s, enum insn_id form)
{
    struct insn jump;
    struct unit *u = begin_unit(s);
    int target = (int)(s->count + 1 + random_below(&s->random, 5)), odd = one_in(s, 4);
    for (unsigned n = 0; n < DRAWS; n++) {
        if (!draw_insn(s, form, 0, &jump))
            return false;
        if (jump.rs1 == 0 || !may_write(s, 0, jump.rs1) || jump.imm < -1500 || jump.imm > 1500)
            continue;
        add_made(s, u, INSN_auipc, jump.rs1, 0, 0);
        struct step *step;
        if (form == INSN_jalr && one_in(s, 2)) {
            step = add_step(u, &jump);
            step->addend = odd;
        } else {
            step = add_made(s, u, INSN_addi, jump.rs1, jump.rs1, 0);
            step->addend = odd - jump.imm;
            add_step(u, &jump);
        }
        step->target = target;
        step->from = 0;
        return end_unit(s);
    }
    return false;
}

/* Only the floating-point registers, which every implementation has the same content for. frm may hold a reserved
 * mode for no longer than it takes to read it back. */
static bool draw_csr(struct sequence *s, enum insn_id form)
{
    struct insn insn, restore;
    if (!draw_insn(s, form, 0, &insn) || !draw_insn(s, INSN_csrrwi, 0, &restore))
        return false;
    struct unit *u = begin_unit(s);
    insn.imm = 1 + (int)random_below(&s->random, 3);
    restore.imm = 2;
    restore.rs1 = (uint8_t)random_below(&s->random, 5);
    if (!encoder_encode(&s->fuzzer->encoder, &insn) || !encoder_encode(&s->fuzzer->encoder, &restore))
        return false;
    add_step(u, &insn);
    if (insn.imm != 1)
        add_step(u, &restore);
    return end_unit(s);
}

bool unit_draw(struct sequence *s, enum insn_id row)
{
    enum insn_id op = insn_describe(row)->op;
    switch (insn_describe(op)->unit) {
    case UNIT_ALU: return op == INSN_ctzw ? draw_ctzw(s) : draw_plain(s, row);
    case UNIT_LOAD:
    case UNIT_STORE: return draw_access(s, row);
    case UNIT_ATOMIC: return op == INSN_lr_w || op == INSN_lr_d ? draw_reservation(s, row) : draw_access(s, row);
    case UNIT_BRANCH:
    case UNIT_JUMP: return draw_branch(s, row);
    case UNIT_JUMP_REG: return draw_indirect(s, row);
    case UNIT_SYSTEM: return draw_csr(s, row);
    case UNIT_FP_ADD:
    case UNIT_FP_MUL:
    case UNIT_FP_FMA:
    case UNIT_FP_DIV:
    case UNIT_FP_SQRT:
    case UNIT_FP_CONVERT:
    case UNIT_FP_COMPARE: return draw_float(s, row);
    default: return draw_plain(s, row);
    }
}

static unsigned draw_link(struct sequence *s)
{
    return s->hot_x[random_below(&s->random, 8)];
}

/* jal over a jump into a routine of a few instructions, which returns to that jump. */
void unit_draw_call(struct sequence *s)
{
    struct unit *u = begin_unit(s);
    unsigned link = draw_link(s);
    bool narrow = one_in(s, 2);
    add_made(s, u, INSN_jal, link, 0, narrow ? 6 : 8);
    add_made(s, u, narrow ? INSN_c_j : INSN_jal, 0, 0, 0)->target = (int)s->count + 1;
    for (unsigned fillers = 1 + random_below(&s->random, 3); fillers > 0; fillers--)
        add_filler(s, u, UINT32_C(1) << link);
    add_made(s, u, one_in(s, 2) ? INSN_c_jr : INSN_jalr, 0, link, 0);
    end_unit(s);
}

void unit_draw_loop_start(struct sequence *s)
{
    struct unit *u = begin_unit(s);
    u->starts = ++s->loops;
    add_made(s, u, one_in(s, 2) ? INSN_c_li : INSN_addi, s->counter, 0, 1 + (int)random_below(&s->random, 5));
    end_unit(s);
}

/* Counts down and goes back to the body until zero: by a branch back, or by a branch out and a jump back. */
void unit_draw_loop_end(struct sequence *s, unsigned body)
{
    static const enum insn_id back[] = {INSN_c_bnez, INSN_bne, INSN_blt, INSN_bltu};
    static const enum insn_id out[] = {INSN_c_beqz, INSN_beq, INSN_bge, INSN_bgeu};
    struct unit *u = begin_unit(s);
    unsigned way = random_below(&s->random, 4), counter = s->counter;
    if (one_in(s, 2))
        add_made(s, u, one_in(s, 2) ? INSN_addi : INSN_addiw, counter, counter, -1);
    else
        add_made(s, u, INSN_c_addi, counter, counter, -1)->insn.rd = (uint8_t)counter;

    bool leaves = one_in(s, 2);
    struct insn branch = {.form = leaves ? out[way] : back[way]};
    if (way < 2)
        branch.rs1 = (uint8_t)counter; /* counter == 0, counter != 0 */
    else
        branch.rs2 = (uint8_t)counter; /* 0 >= counter, 0 < counter */
    add_step(u, &branch)->target = (int)(leaves ? s->count + 1 : body);
    encoder_encode(&s->fuzzer->encoder, &u->step[u->count - 1].insn);
    if (leaves) {
        bool narrow = one_in(s, 2);
        add_made(s, u, narrow ? INSN_c_j : INSN_jal, narrow || one_in(s, 2) ? 0 : draw_link(s), 0, 0)->target =
            (int)body;
    }
    end_unit(s);
    s->unit[s->count - 1].loop = s->loops;
}
