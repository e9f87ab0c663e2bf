/* Disassembled instructions for the GNU assembler, and the bits that it must give back.
 *
 *     roundtrip write wide FILE.s FILE.bin      some hundred random encodings of every 32-bit row of insn.def
 *     roundtrip write narrow FILE.s FILE.bin    every 16-bit pattern that decodes
 *     roundtrip compare FILE.s FILE.bin OUT.bin what was assembled against what was written
 *
 * FILE.s has one instruction per line after its header line; FILE.bin their encodings one after the other. Bits that
 * the decoder ignores are zero, as the assembler writes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "riscv/insn.h"

enum { ENCODINGS_PER_ROW = 300 };

struct files {
    FILE *text, *bits;
    unsigned count;   /* instructions written */
    unsigned respelt; /* of these, with another text than the disassembler's */
};

/* Bits that are made from the decoded fields: those of the row, and the operands where the letters say. */
static void spell_bits(const struct insn *i, char *text, size_t size)
{
    const struct insn_desc *d = insn_describe(i->form);
    uint32_t bits = d->match;
    if (!d->compressed) {
        bits |= (uint32_t)i->rd << 7 | (uint32_t)i->rs1 << 15;
        bits |= strpbrk(d->operands, "tT") ? (uint32_t)i->rs2 << 20 : 0;
        bits |= strchr(d->operands, 'm') ? (uint32_t)i->rm << 12 : 0;
        bits |= strchr(d->operands, 'A') ? (uint32_t)i->rm << 25 : 0;
        snprintf(text, size, ".4byte 0x%x", bits);
        return;
    }
    bits |= (i->rs1 & 7u) << 7;
    bits |= strchr(d->operands, 'w') ? (i->rd & 7u) << 2 : strchr(d->operands, 't') ? (i->rs2 & 7u) << 2 : 0;
    if (strpbrk(d->operands, "eh"))
        bits |= (i->imm & 2u) << 4 | (strchr(d->operands, 'e') ? (i->imm & 1u) << 6 : 0);
    snprintf(text, size, ".2byte 0x%x", bits);
}

/* Instructions that binutils 2.40 has another spelling for than the disassembler, or none; false for all others.
 * They are made from the decoded fields, so that the decoder is still tested. */
static bool respell(const struct insn *i, char *text, size_t size)
{
    const struct insn_desc *d = insn_describe(i->form);
    unsigned opcode = d->match & 0x7f, funct3 = d->match >> 12 & 7, funct7 = d->match >> 25;

    if (d->ext == EXT_ZFA || d->ext == EXT_ZACAS || (d->compressed && i->form >= INSN_c_lbu)) {
        spell_bits(i, text, size); /* Zfa and Zcb came with 2.41 and 2.42, Zacas with 2.42 */
        return true;
    }
    switch (i->form) {
    case INSN_czero_eqz:
    case INSN_czero_nez: /* Zicond came with 2.41 */
        snprintf(text, size, ".insn r %u, %u, %u, %s, %s, %s", opcode, funct3, funct7, insn_reg_name(i->rd),
                 insn_reg_name(i->rs1), insn_reg_name(i->rs2));
        return true;
    case INSN_fence: /* an empty set has no name */
        snprintf(text, size, ".insn i %u, %u, x0, x0, %d", opcode, funct3, i->imm);
        return (i->imm & 0xf0) == 0 || (i->imm & 0x0f) == 0;
    case INSN_fcvt_s_h:
    case INSN_fcvt_d_h:
        snprintf(text, size, ".insn r %u, %u, %u, %s, %s, x2", opcode, i->rm, funct7, insn_freg_name(i->rd),
                 insn_freg_name(i->rs1));
        return i->rm != 0;
    case INSN_fcvt_d_s: /* conversions that cannot round take no mode */
        snprintf(text, size, ".insn r %u, %u, %u, %s, %s, x0", opcode, i->rm, funct7, insn_freg_name(i->rd),
                 insn_freg_name(i->rs1));
        return i->rm != 0;
    case INSN_fcvt_d_w:
    case INSN_fcvt_d_wu:
        snprintf(text, size, ".insn r %u, %u, %u, %s, %s, x%u", opcode, i->rm, funct7, insn_freg_name(i->rd),
                 insn_reg_name(i->rs1), d->match >> 20 & 31);
        return i->rm != 0;
    case INSN_c_slli:
    case INSN_c_srli:
    case INSN_c_srai: /* a hint: on RV128 a shift by 64, of which it has the name */
        snprintf(text, size, "%s64 %s", d->text, insn_reg_name(i->rd));
        return i->imm == 0;
    default: return false;
    }
}

static void write_one(struct files *f, const struct insn *i)
{
    char text[128];
    if (respell(i, text, sizeof text))
        f->respelt++;
    else
        insn_disassemble(i, text, sizeof text);
    f->count++;
    fprintf(f->text, "%s\n", text);
    for (unsigned byte = 0; byte < i->length; byte++)
        putc((int)(i->bits >> 8 * byte & 0xff), f->bits);
}

/* Random operands of a row. Those that are illegal (rounding modes) or belong to a carved row are drawn again. */
static void write_row(struct files *f, enum insn_id id, struct random *random)
{
    const struct insn_desc *d = insn_describe(id);
    uint32_t operands = insn_meaningful_bits(id) & ~d->mask;
    for (unsigned n = 0; n < ENCODINGS_PER_ROW;) {
        struct insn insn;
        if (insn_decode(d->match | ((uint32_t)random_u64(random) & operands), &insn) && insn.form == id) {
            write_one(f, &insn);
            n++;
        }
    }
}

static int write_files(bool wide, const char *text_name, const char *bits_name)
{
    struct files f = {fopen(text_name, "w"), fopen(bits_name, "wb"), 0, 0};
    struct random random;
    unsigned rows = 0;
    random_seed(&random, 1);
    if (!f.text || !f.bits) {
        perror(f.text ? bits_name : text_name);
        return 1;
    }
    fprintf(f.text, ".option norelax; .option %s\n", wide ? "norvc" : "rvc");
    for (unsigned id = 0; wide && id < INSN_COUNT; id++) {
        if (insn_describe(id)->compressed)
            continue;
        write_row(&f, id, &random);
        rows++;
    }
    for (uint32_t bits = 0; !wide && bits < 0x10000; bits++) {
        struct insn insn;
        if ((bits & 3) != 3 && insn_decode(bits, &insn))
            write_one(&f, &insn);
    }
    if (wide)
        printf("# %u encodings of %u rows", f.count, rows);
    else
        printf("# %u patterns of 49152 decode", f.count);
    printf(", %u respelt for the assembler\n", f.respelt);
    return fclose(f.text) | fclose(f.bits) ? 1 : 0;
}

/* Names the first instruction of each text that came back different; the files' sizes must agree. */
static int compare_files(const char *text_name, const char *bits_name, const char *out_name)
{
    FILE *text = fopen(text_name, "r"), *expected = fopen(bits_name, "rb"), *out = fopen(out_name, "rb");
    char line[256];
    unsigned differences = 0;
    if (!text || !expected || !out || !fgets(line, sizeof line, text)) {
        perror("roundtrip");
        return 1;
    }
    for (unsigned number = 2; fgets(line, sizeof line, text); number++) {
        uint32_t want = 0, got = 0;
        size_t have = fread(&want, 1, 2, expected), had = fread(&got, 1, 2, out);
        if (insn_length((uint16_t)want) == 4)
            have += fread((char *)&want + 2, 1, 2, expected);
        if (insn_length((uint16_t)got) == 4)
            had += fread((char *)&got + 2, 1, 2, out);
        if (want == got && have == had)
            continue;
        line[strcspn(line, "\n")] = 0;
        printf("# line %u: 0x%x became `%s` became 0x%x\n", number, want, line, got);
        if (++differences == 10 || have != had)
            break;
    }
    return differences > 0 || getc(out) != EOF;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "write") == 0)
        return write_files(strcmp(argv[2], "wide") == 0, argv[3], argv[4]);
    if (argc == 5 && strcmp(argv[1], "compare") == 0)
        return compare_files(argv[2], argv[3], argv[4]);
    fprintf(stderr, "usage: roundtrip write wide|narrow TEXT BITS | compare TEXT BITS ASSEMBLED\n");
    return 2;
}
