/* The instruction table against itself and against encodings that were checked by hand with the manual's tables.
 * tests/roundtrip compares the same table with the GNU assembler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "riscv/insn.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static bool row_matches(enum insn_id id, uint32_t bits)
{
    const struct insn_desc *d = insn_describe(id);
    return (bits & d->mask) == d->match && (d->nonzero == 0 || (bits & d->nonzero) != 0);
}

/* Whether `inner` is a part of `outer` that stands before it, which makes the decoder prefer it. */
static bool carved_before(enum insn_id inner, enum insn_id outer)
{
    const struct insn_desc *a = insn_describe(inner), *b = insn_describe(outer);
    return inner < outer && (a->mask & b->mask) == b->mask && (a->match & b->mask) == b->match;
}

static void match_bits_lie_under_the_mask(void **state)
{
    (void)state;
    for (unsigned i = 0; i < INSN_COUNT; i++) {
        const struct insn_desc *d = insn_describe(i);
        if ((d->match & ~d->mask) != 0 || (d->nonzero & d->mask & d->match) != 0)
            fail_msg("%s: match or nonzero bits are wrong", d->text);
        if (d->compressed && (d->mask | d->nonzero) > 0xffff)
            fail_msg("%s: more than 16 bits", d->text);
    }
}

/* The decoder looks only at the rows that share these bits with the instruction. */
static void every_mask_covers_the_bits_that_choose_a_bucket(void **state)
{
    (void)state;
    for (unsigned i = 0; i < INSN_COUNT; i++) {
        const struct insn_desc *d = insn_describe(i);
        uint32_t key = d->compressed ? 0xe003 : 0x7f;
        if ((d->mask & key) != key || d->compressed != ((d->match & 3) != 3))
            fail_msg("%s: mask 0x%x does not fix its opcode", d->text, d->mask);
    }
}

static void no_two_32_bit_rows_collide(void **state)
{
    (void)state;
    for (unsigned i = 0; i < INSN_COUNT; i++) {
        const struct insn_desc *a = insn_describe(i);
        for (unsigned j = i + 1; j < INSN_COUNT; j++) {
            const struct insn_desc *b = insn_describe(j);
            bool overlap = ((a->match ^ b->match) & a->mask & b->mask) == 0;
            if (!a->compressed && !b->compressed && overlap && !carved_before(i, j))
                fail_msg("%s and %s match the same bits", a->text, b->text);
        }
    }
}

static void no_16_bit_pattern_matches_two_rows(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        unsigned first = INSN_ILLEGAL;
        for (unsigned i = 0; i < INSN_COUNT && (bits & 3) != 3; i++) {
            if (!insn_describe(i)->compressed || !row_matches(i, bits))
                continue;
            if (first != INSN_ILLEGAL && !carved_before(first, i))
                fail_msg("0x%04x is both %s and %s", bits, insn_describe(first)->text, insn_describe(i)->text);
            if (first == INSN_ILLEGAL)
                first = i;
        }
        struct insn insn;
        insn_decode(bits, &insn);
        if ((bits & 3) != 3 && insn.form != first)
            fail_msg("0x%04x does not decode to the row that matches it", bits);
    }
}

/* With all operands zero, and with each single operand bit set: a bucket that overflowed would lose its last rows. */
static void every_row_decodes_to_itself(void **state)
{
    (void)state;
    for (unsigned i = 0; i < INSN_COUNT; i++) {
        const struct insn_desc *d = insn_describe(i);
        uint32_t operands = insn_meaningful_bits(i) & ~d->mask;
        unsigned reached = 0;
        for (unsigned bit = 0; bit <= 32; bit++) {
            uint32_t bits = d->match | (bit < 32 ? operands & UINT32_C(1) << bit : 0);
            struct insn insn;
            if (!row_matches(i, bits))
                continue;
            bool legal = insn_decode(bits, &insn);
            bool carved = legal && carved_before(insn.form, i);
            if (!legal || (insn.form != i && !carved) || insn.op != insn_describe(insn.form)->op)
                fail_msg("%s: 0x%08x decodes to %s", d->text, bits, legal ? insn_describe(insn.form)->text : "nothing");
            reached += insn.form == i;
        }
        if (reached == 0)
            fail_msg("%s: no encoding reaches this row", d->text);
    }
}

static void a_compressed_row_does_what_a_32_bit_row_does(void **state)
{
    (void)state;
    for (unsigned i = 0; i < INSN_COUNT; i++) {
        const struct insn_desc *d = insn_describe(i);
        if (d->compressed ? insn_describe(d->op)->compressed : d->op != i)
            fail_msg("%s: wrong base", d->text);
    }
}

static void meaningful_bits_are_the_mask_and_the_operands(void **state)
{
    (void)state;
    assert_int_equal(insn_meaningful_bits(INSN_addi), 0xffffffff);
    assert_int_equal(insn_meaningful_bits(INSN_fence), 0x0ff0707f); /* without fm, rs1 and rd */
    assert_int_equal(insn_meaningful_bits(INSN_fence_i), 0x0000707f);
    assert_int_equal(insn_meaningful_bits(INSN_fence_tso), 0xfff0707f);
    assert_int_equal(insn_meaningful_bits(INSN_prefetch_r), 0xffffffff);
    for (unsigned i = 0; i < INSN_COUNT; i++)
        if (insn_describe(i)->compressed)
            assert_int_equal(insn_meaningful_bits(i), 0xffff);
}

static void reserved_encodings_do_not_decode(void **state)
{
    static const uint32_t reserved[] = {
        0x0000,     /* defined to be illegal */
        0x0004,     /* c.addi4spn without an immediate */
        0x9c79,     /* Zcb's neighbors */
        0x9000,     /* quadrant 0, funct6 100100 */
        0x2001,     /* c.addiw zero */
        0x6101,     /* c.addi16sp without an immediate */
        0x6501,     /* c.lui without an immediate */
        0x4002,     /* c.lwsp zero */
        0x6002,     /* c.ldsp zero */
        0x8002,     /* c.jr zero */
        0x00b55553, /* fadd.s with rounding mode 5 */
        0x00b56553, /* and 6 */
        0x06b57043, /* fmadd with format 3, quadruple precision */
        0x0205151b, /* slliw by 32 */
        0x80001013, /* slli with bits above the shift amount */
        0x00002067, /* jalr with funct3 2 */
        0x00002063, /* branch with funct3 2 */
        0x00007003, /* load with funct3 7 */
        0x00004023, /* store with funct3 4 */
        0x10200073, /* sret: privileged */
        0x12000073, /* sfence.vma */
        0x1010202f, /* lr.w with rs2 */
        0x0000001f, /* longer than 32 bits */
        0x0000003f, 0x0000007f, 0xffffffff,
    };
    (void)state;
    for (unsigned i = 0; i < LENGTH(reserved); i++) {
        struct insn insn;
        bool legal = insn_decode(reserved[i], &insn);
        if (legal || insn.form != INSN_ILLEGAL || insn.op != INSN_ILLEGAL)
            fail_msg("0x%08x decodes to %s", reserved[i], legal ? insn_describe(insn.form)->text : "nothing");
        assert_int_equal(insn.bits, reserved[i]);
        assert_int_equal(insn.length, (reserved[i] & 3) == 3 ? 4 : 2);
    }
}

static const struct known {
    uint32_t bits;
    const char *text;
    enum insn_id op;
    unsigned rd, rs1, rs2;
    int32_t imm;
} known[] = {
    /* one of each 32-bit format, with immediates at their ends */
    {0xfffff537, "lui a0,0xfffff", INSN_lui, 10, 0, 0, -4096},
    {0x80000097, "auipc ra,0x80000", INSN_auipc, 1, 0, 0, INT32_MIN},
    {0x7ffff0ef, "jal ra,.+1048574", INSN_jal, 1, 0, 0, 1048574},
    {0x8000006f, "jal zero,.-1048576", INSN_jal, 0, 0, 0, -1048576},
    {0x0010006f, "jal zero,.+2048", INSN_jal, 0, 0, 0, 2048},
    {0x80008067, "jalr zero,-2048(ra)", INSN_jalr, 0, 1, 0, -2048},
    {0x7eb50fe3, "beq a0,a1,.+4094", INSN_beq, 0, 10, 11, 4094},
    {0x80b51063, "bne a0,a1,.-4096", INSN_bne, 0, 10, 11, -4096},
    {0x00f747e3, "blt a4,a5,.+2062", INSN_blt, 0, 14, 15, 2062},
    {0x7ff13503, "ld a0,2047(sp)", INSN_ld, 10, 2, 0, 2047},
    {0xfea13c23, "sd a0,-8(sp)", INSN_sd, 0, 2, 10, -8},
    {0x7ea10fa3, "sb a0,2047(sp)", INSN_sb, 0, 2, 10, 2047},
    {0xfff54513, "xori a0,a0,-1", INSN_xori, 10, 10, 0, -1},
    {0x43f5d513, "srai a0,a1,63", INSN_srai, 10, 11, 0, 63},
    {0x41f5d51b, "sraiw a0,a1,31", INSN_sraiw, 10, 11, 0, 31},
    {0x41f585b3, "sub a1,a1,t6", INSN_sub, 11, 11, 31, 0},
    {0x0ff0000f, "fence iorw,iorw", INSN_fence, 0, 0, 0, 0xff},
    {0x0310000f, "fence rw,w", INSN_fence, 0, 0, 0, 0x31},
    {0x8330000f, "fence.tso", INSN_fence_tso, 0, 0, 0, 0},
    {0x0100000f, "pause", INSN_pause, 0, 0, 0, 0},
    {0x00302573, "csrrs a0,fcsr,zero", INSN_csrrs, 10, 0, 0, 3},
    {0x7c0fd073, "csrrwi zero,0x7c0,31", INSN_csrrwi, 0, 31, 0, 0x7c0},
    {0xc0102573, "csrrs a0,time,zero", INSN_csrrs, 10, 0, 0, 0xc01},
    {0x1605a52f, "lr.w.aqrl a0,(a1)", INSN_lr_w, 10, 11, 0, 0},
    {0x1ac5b52f, "sc.d.rl a0,a2,(a1)", INSN_sc_d, 10, 11, 12, 0},
    {0xe4c5a52f, "amomaxu.w.aq a0,a2,(a1)", INSN_amomaxu_w, 10, 11, 12, 0},
    {0x8205e013, "prefetch.i -2016(a1)", INSN_prefetch_i, 0, 11, 0, -2016},
    {0x8235e013, "prefetch.w -2016(a1)", INSN_prefetch_w, 0, 11, 0, -2016},
    {0x0225e013, "ori zero,a1,34", INSN_ori, 0, 11, 0, 34},
    {0x6ac5f543, "fmadd.d fa0,fa1,fa2,fa3", INSN_fmadd_d, 10, 11, 12, 0},
    {0x00c5c553, "fadd.s fa0,fa1,fa2,rmm", INSN_fadd_s, 10, 11, 12, 0},
    {0xd2058553, "fcvt.d.w fa0,a1", INSN_fcvt_d_w, 10, 11, 0, 0},
    {0xd205f553, "fcvt.d.w fa0,a1,dyn", INSN_fcvt_d_w, 10, 11, 0, 0},
    {0x0bf5951b, "slli.uw a0,a1,63", INSN_slli_uw, 10, 11, 0, 63},
    {0x0805c53b, "zext.h a0,a1", INSN_zext_h, 10, 11, 0, 0},
    {0x0ec5d533, "czero.eqz a0,a1,a2", INSN_czero_eqz, 10, 11, 12, 0},
    /* every compressed immediate: at its end, or with each of its fields different */
    {0x1fe8, "c.addi4spn a0,sp,1020", INSN_addi, 10, 2, 0, 1020},
    {0x0840, "c.addi4spn s0,sp,20", INSN_addi, 8, 2, 0, 20},
    {0x7101, "c.addi16sp sp,-512", INSN_addi, 2, 2, 0, -512},
    {0x6155, "c.addi16sp sp,304", INSN_addi, 2, 2, 0, 304},
    {0x1501, "c.addi a0,-32", INSN_addi, 10, 10, 0, -32},
    {0x0001, "c.nop", INSN_addi, 0, 0, 0, 0},
    {0x0015, "c.addi zero,5", INSN_addi, 0, 0, 0, 5},
    {0x357d, "c.addiw a0,-1", INSN_addiw, 10, 10, 0, -1},
    {0x557d, "c.li a0,-1", INSN_addi, 10, 0, 0, -1},
    {0x7501, "c.lui a0,0xfffe0", INSN_lui, 10, 0, 0, -32 * 4096},
    {0x657d, "c.lui a0,0x1f", INSN_lui, 10, 0, 0, 31 * 4096},
    {0x9105, "c.srli a0,33", INSN_srli, 10, 10, 0, 33},
    {0x957d, "c.srai a0,63", INSN_srai, 10, 10, 0, 63},
    {0x987d, "c.andi s0,-1", INSN_andi, 8, 8, 0, -1},
    {0x1502, "c.slli a0,32", INSN_slli, 10, 10, 0, 32},
    {0x41a8, "c.lw a0,64(a1)", INSN_lw, 10, 11, 0, 64},
    {0xc1e8, "c.sw a0,68(a1)", INSN_sw, 0, 11, 10, 68},
    {0x6da8, "c.ld a0,88(a1)", INSN_ld, 10, 11, 0, 88},
    {0xf1c8, "c.sd a0,160(a1)", INSN_sd, 0, 11, 10, 160},
    {0x3de8, "c.fld fa0,248(a1)", INSN_fld, 10, 11, 0, 248},
    {0x4fa6, "c.lwsp t6,72(sp)", INSN_lw, 31, 2, 0, 72},
    {0x757e, "c.ldsp a0,504(sp)", INSN_ld, 10, 2, 0, 504},
    {0x2506, "c.fldsp fa0,64(sp)", INSN_fld, 10, 2, 0, 64},
    {0xc2fe, "c.swsp t6,68(sp)", INSN_sw, 0, 2, 31, 68},
    {0xf0aa, "c.sdsp a0,96(sp)", INSN_sd, 0, 2, 10, 96},
    {0xbfaa, "c.fsdsp fa0,504(sp)", INSN_fsd, 0, 2, 10, 504},
    {0xb001, "c.j .-2048", INSN_jal, 0, 0, 0, -2048},
    {0xaffd, "c.j .+2046", INSN_jal, 0, 0, 0, 2046},
    {0xa121, "c.j .+1032", INSN_jal, 0, 0, 0, 1032},
    {0xd101, "c.beqz a0,.-256", INSN_beq, 0, 10, 0, -256},
    {0xed7d, "c.bnez a0,.+254", INSN_bne, 0, 10, 0, 254},
    {0xe525, "c.bnez a0,.+104", INSN_bne, 0, 10, 0, 104},
    {0x8082, "c.jr ra", INSN_jalr, 0, 1, 0, 0},
    {0x9502, "c.jalr a0", INSN_jalr, 1, 10, 0, 0},
    {0x852e, "c.mv a0,a1", INSN_add, 10, 0, 11, 0},
    {0x952e, "c.add a0,a1", INSN_add, 10, 10, 11, 0},
    {0x9d0d, "c.subw a0,a1", INSN_subw, 10, 10, 11, 0},
    {0x9002, "c.ebreak", INSN_ebreak, 0, 0, 0, 0},
};

static void known_instructions_decode_to_known_fields(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LENGTH(known); i++) {
        const struct known *k = &known[i];
        struct insn insn;
        bool legal = insn_decode(k->bits, &insn);
        if (!legal || insn.op != k->op || insn.length != ((k->bits & 3) == 3 ? 4 : 2) || insn.bits != k->bits)
            fail_msg("0x%08x is not %s", k->bits, k->text);
        if (insn.rd != k->rd || insn.rs1 != k->rs1 || insn.rs2 != k->rs2 || insn.imm != k->imm)
            fail_msg("%s: rd %u, rs1 %u, rs2 %u, imm %d", k->text, insn.rd, insn.rs1, insn.rs2, insn.imm);
    }
}

static void known_instructions_print_as_known_text(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LENGTH(known); i++) {
        struct insn insn;
        char text[64];
        insn_decode(known[i].bits, &insn);
        size_t length = insn_disassemble(&insn, text, sizeof text);
        assert_string_equal(text, known[i].text);
        assert_int_equal(length, strlen(text));
    }
}

static void rounding_modes_and_third_operands_decode(void **state)
{
    struct insn insn;
    (void)state;
    assert_true(insn_decode(0x6ac5f543, &insn)); /* fmadd.d fa0,fa1,fa2,fa3 */
    assert_int_equal(insn.rs3, 13);
    assert_int_equal(insn.rm, RM_DYN);
    assert_true(insn_decode(0x00c5c553, &insn)); /* fadd.s ...,rmm */
    assert_int_equal(insn.rm, 4);
    assert_true(insn_decode(0x1ac5b52f, &insn)); /* sc.d.rl */
    assert_int_equal(insn.rm, 1);
}

static void the_upper_half_of_a_16_bit_instruction_is_ignored(void **state)
{
    struct insn insn;
    (void)state;
    assert_true(insn_decode(0xffff8082, &insn));
    assert_int_equal(insn.form, INSN_c_jr);
    assert_int_equal(insn.bits, 0x8082);
}

static void illegal_bits_print_as_data(void **state)
{
    struct insn insn;
    char text[64];
    (void)state;
    insn_decode(0xffffffff, &insn);
    insn_disassemble(&insn, text, sizeof text);
    assert_string_equal(text, ".4byte 0xffffffff");
    insn_decode(0, &insn);
    insn_disassemble(&insn, text, sizeof text);
    assert_string_equal(text, ".2byte 0x0000");
}

static void a_short_buffer_gets_a_prefix_and_the_full_length(void **state)
{
    struct insn insn;
    char text[8] = "???????";
    (void)state;
    insn_decode(0x8082, &insn);
    assert_int_equal(insn_disassemble(&insn, text, 4), strlen("c.jr ra"));
    assert_string_equal(text, "c.j");
    assert_int_equal(insn_disassemble(&insn, NULL, 0), strlen("c.jr ra"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(match_bits_lie_under_the_mask),
        cmocka_unit_test(every_mask_covers_the_bits_that_choose_a_bucket),
        cmocka_unit_test(no_two_32_bit_rows_collide),
        cmocka_unit_test(no_16_bit_pattern_matches_two_rows),
        cmocka_unit_test(every_row_decodes_to_itself),
        cmocka_unit_test(a_compressed_row_does_what_a_32_bit_row_does),
        cmocka_unit_test(meaningful_bits_are_the_mask_and_the_operands),
        cmocka_unit_test(reserved_encodings_do_not_decode),
        cmocka_unit_test(known_instructions_decode_to_known_fields),
        cmocka_unit_test(known_instructions_print_as_known_text),
        cmocka_unit_test(rounding_modes_and_third_operands_decode),
        cmocka_unit_test(the_upper_half_of_a_16_bit_instruction_is_ignored),
        cmocka_unit_test(illegal_bits_print_as_data),
        cmocka_unit_test(a_short_buffer_gets_a_prefix_and_the_full_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
