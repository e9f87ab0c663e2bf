/* Disassembler driven by the operand letters of insn.def. It writes the syntax of the GNU assembler. */
#include <stdarg.h>
#include <stdio.h>

#include "riscv/insn.h"
#include "riscv/softfp.h"

static const char *const reg_names[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                          "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                          "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const freg_names[32] = {
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
    "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
static const char *const rounding_names[8] = {"rne", "rtz", "rdn", "rup", "rmm", "rm5", "rm6", "dyn"};

const char *insn_reg_name(unsigned reg)
{
    return reg_names[reg & 31];
}

const char *insn_freg_name(unsigned reg)
{
    return freg_names[reg & 31];
}

const char *insn_csr_name(unsigned csr)
{
    static const char *const hpm[] = {"hpmcounter3",  "hpmcounter4",  "hpmcounter5",  "hpmcounter6",  "hpmcounter7",
                                      "hpmcounter8",  "hpmcounter9",  "hpmcounter10", "hpmcounter11", "hpmcounter12",
                                      "hpmcounter13", "hpmcounter14", "hpmcounter15", "hpmcounter16", "hpmcounter17",
                                      "hpmcounter18", "hpmcounter19", "hpmcounter20", "hpmcounter21", "hpmcounter22",
                                      "hpmcounter23", "hpmcounter24", "hpmcounter25", "hpmcounter26", "hpmcounter27",
                                      "hpmcounter28", "hpmcounter29", "hpmcounter30", "hpmcounter31"};
    if (csr >= 0xc03 && csr <= 0xc1f)
        return hpm[csr - 0xc03];
    switch (csr) {
    case 0x001: return "fflags";
    case 0x002: return "frm";
    case 0x003: return "fcsr";
    case 0xc00: return "cycle";
    case 0xc01: return "time";
    case 0xc02: return "instret";
    default: return NULL;
    }
}

struct text {
    char *to;
    size_t size, used; /* bytes at `to`; length of the whole text, which may exceed `size` */
};

static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = t->used < t->size ? t->size - t->used : 0;
    int n = vsnprintf(room ? t->to + t->used : NULL, room, format, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n;
}

static void put_fence_set(struct text *t, unsigned set)
{
    if (set == 0)
        put(t, "0");
    for (unsigned i = 0; i < 4; i++)
        if (set & 8u >> i)
            put(t, "%c", "iorw"[i]);
}

static void put_target(struct text *t, int32_t offset)
{
    put(t, ".%+d", offset);
}

/* Rounding mode that the assembler encodes when the text names none: rne for conversions that are always exact, dyn
 * for all other instructions. The default is not printed. */
static unsigned default_rounding(const struct insn *i)
{
    return i->op == INSN_fcvt_d_s || i->op == INSN_fcvt_d_w || i->op == INSN_fcvt_d_wu || i->op == INSN_fcvt_s_h ||
                   i->op == INSN_fcvt_d_h
               ? 0
               : RM_DYN;
}

/* The constants of fli as the assembler writes them. */
static void put_constant(struct text *t, unsigned number)
{
    static const char *const names[] = {[1] = "min", [30] = "inf", [31] = "nan"};
    if (number == 1 || number >= 30)
        put(t, "%s", names[number]);
    else
        put(t, "%.17g", softfp_constant_value(number));
}

static void put_wide_operand(struct text *t, char letter, const struct insn *i)
{
    switch (letter) {
    case 'd': put(t, "%s", insn_reg_name(i->rd)); break;
    case 's': put(t, "%s", insn_reg_name(i->rs1)); break;
    case 't': put(t, "%s", insn_reg_name(i->rs2)); break;
    case 'D': put(t, "%s", insn_freg_name(i->rd)); break;
    case 'S': put(t, "%s", insn_freg_name(i->rs1)); break;
    case 'T': put(t, "%s", insn_freg_name(i->rs2)); break;
    case 'R': put(t, "%s", insn_freg_name(i->rs3)); break;
    case 'j':
    case 'o':
    case 'q':
    case 'f':
    case '>':
    case '<': put(t, "%d", i->imm); break;
    case 'p':
    case 'a': put_target(t, i->imm); break;
    case 'u': put(t, "0x%x", (uint32_t)i->imm >> 12); break;
    case 'E':
        if (insn_csr_name((unsigned)i->imm))
            put(t, "%s", insn_csr_name((unsigned)i->imm));
        else
            put(t, "0x%x", (unsigned)i->imm);
        break;
    case 'F': put_constant(t, i->rs1); break;
    case 'Z': put(t, "%u", i->rs1); break;
    case 'm':
        if (i->rm != default_rounding(i))
            put(t, ",%s", rounding_names[i->rm]);
        break;
    case 'P': put_fence_set(t, (unsigned)i->imm >> 4); break;
    case 'Q': put_fence_set(t, (unsigned)i->imm & 15); break;
    case 'A': break;
    default: put(t, "%c", letter); break;
    }
}

static void put_narrow_operand(struct text *t, char letter, const struct insn *i)
{
    switch (letter) {
    case 'd':
    case 'U':
    case 'w':
    case 'x':
    case '3': put(t, "%s", insn_reg_name(i->rd)); break;
    case 's':
    case 'r':
    case '2': put(t, "%s", insn_reg_name(i->rs1)); break;
    case 'V':
    case 't': put(t, "%s", insn_reg_name(i->rs2)); break;
    case 'D':
    case 'W': put(t, "%s", insn_freg_name(i->rd)); break;
    case 'v':
    case 'T': put(t, "%s", insn_freg_name(i->rs2)); break;
    case 'I': put(t, "0x%x", (uint32_t)i->imm >> 12); break;
    case 'a':
    case 'p': put_target(t, i->imm); break;
    case ',':
    case '(':
    case ')': put(t, "%c", letter); break;
    default: put(t, "%d", i->imm); break;
    }
}

static bool has_ordering(const struct insn_desc *d)
{
    return d->unit == UNIT_ATOMIC;
}

size_t insn_disassemble(const struct insn *insn, char *text, size_t size)
{
    struct text t = {text, size, 0};
    if (insn->form == INSN_ILLEGAL) {
        put(&t, insn->length == 2 ? ".2byte 0x%04x" : ".4byte 0x%08x", insn->bits);
        return t.used;
    }
    const struct insn_desc *d = insn_describe(insn->form);
    put(&t, "%s", d->text);
    if (has_ordering(d) && insn->rm)
        put(&t, ".%s%s", insn->rm & 2 ? "aq" : "", insn->rm & 1 ? "rl" : "");
    for (const char *o = d->operands; *o && *o != ';'; o++) {
        if (o == d->operands)
            put(&t, " ");
        if (d->compressed)
            put_narrow_operand(&t, *o, insn);
        else
            put_wide_operand(&t, *o, insn);
    }
    return t.used;
}
