/* An encoder derived from the decoder: it asks insn_decode() which bit of an encoding changes which field, so that it
 * knows every format of insn.def without naming one.
 *
 * Decoding is linear: a bit of the encoding flips the same bits of the fields whatever the other bits are. */
#ifndef CYCLESCOPE_FUZZ_ENCODE_H
#define CYCLESCOPE_FUZZ_ENCODE_H

#include "base/random.h"
#include "riscv/insn.h"

struct encoder {
    struct flip { /* what one bit of the encoding flips; all 0 if it is fixed or ignored */
        uint32_t imm;
        uint8_t rd, rs1, rs2, rs3, rm;
    } flip[INSN_COUNT][32];
};

void encoder_init(struct encoder *e);

/* A random legal encoding of a row, bits that the decoder ignores included. */
void encoder_draw(enum insn_id form, struct random *random, struct insn *out);

/* Makes `bits` from the fields of `insn`, keeping ignored bits; false if the form cannot express these fields. */
bool encoder_encode(const struct encoder *e, struct insn *insn);

#endif
