#include "encode.h"

#include <assert.h>

enum { TRIES = 100000 }; /* draws until every bit of a row was seen to flip something; a few hundred suffice */

void encoder_draw(enum insn_id form, struct random *random, struct insn *out)
{
    const struct insn_desc *d = insn_describe(form);
    for (unsigned n = 0; n < TRIES; n++) {
        uint32_t bits = d->match | ((uint32_t)random_u64(random) & ~d->mask);
        if (insn_decode(bits, out) && out->form == form)
            return;
    }
    assert(!"a row that no encoding reaches");
}

static bool same_fields(const struct insn *a, const struct insn *b)
{
    return a->imm == b->imm && a->rd == b->rd && a->rs1 == b->rs1 && a->rs2 == b->rs2 && a->rs3 == b->rs3 &&
           a->rm == b->rm;
}

static void probe_row(struct encoder *e, enum insn_id form, struct random *random)
{
    const struct insn_desc *d = insn_describe(form);
    uint32_t unknown = insn_meaningful_bits(form) & ~d->mask;
    for (unsigned n = 0; unknown != 0 && n < TRIES; n++) {
        struct insn from, to;
        encoder_draw(form, random, &from);
        for (unsigned bit = 0; bit < 32; bit++) {
            uint32_t one = UINT32_C(1) << bit;
            if ((unknown & one) == 0 || !insn_decode(from.bits ^ one, &to) || to.form != form)
                continue;
            e->flip[form][bit] = (struct flip){.imm = (uint32_t)(from.imm ^ to.imm),
                                               .rd = from.rd ^ to.rd,
                                               .rs1 = from.rs1 ^ to.rs1,
                                               .rs2 = from.rs2 ^ to.rs2,
                                               .rs3 = from.rs3 ^ to.rs3,
                                               .rm = from.rm ^ to.rm};
            unknown &= ~one;
        }
    }
    assert(unknown == 0);
}

void encoder_init(struct encoder *e)
{
    struct random random;
    random_seed(&random, 0);
    *e = (struct encoder){0};
    for (unsigned form = 0; form < INSN_COUNT; form++)
        probe_row(e, form, &random);
}

static uint32_t lowest(uint32_t bits)
{
    return bits & -bits;
}

/* A sign bit flips all bits above it as well; the lowest of them is the one that no other bit flips. */
static bool wants_bit(const struct flip *f, const struct insn *i)
{
    return (lowest(f->imm) & (uint32_t)i->imm) != 0 || (lowest(f->rd) & i->rd) != 0 || (lowest(f->rs1) & i->rs1) != 0 ||
           (lowest(f->rs2) & i->rs2) != 0 || (lowest(f->rs3) & i->rs3) != 0 || (lowest(f->rm) & i->rm) != 0;
}

bool encoder_encode(const struct encoder *e, struct insn *insn)
{
    const struct insn_desc *d = insn_describe(insn->form);
    uint32_t operands = insn_meaningful_bits(insn->form) & ~d->mask;
    uint32_t bits = d->match | (insn->bits & ~operands & ~d->mask);
    for (unsigned bit = 0; bit < 32; bit++)
        if ((operands >> bit & 1) != 0 && wants_bit(&e->flip[insn->form][bit], insn))
            bits |= UINT32_C(1) << bit;

    struct insn check;
    if (!insn_decode(bits, &check) || check.form != insn->form || !same_fields(&check, insn))
        return false;
    insn->bits = bits;
    insn->op = check.op;
    insn->length = check.length;
    return true;
}
