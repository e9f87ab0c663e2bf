/* Table-driven decoder: rows of insn.def are sorted into buckets by opcode bits, and one bucket is tried in order. */
#include <assert.h>
#include <pthread.h>

#include "riscv/insn.h"

static const struct insn_desc rows[INSN_COUNT] = {
#define INSN(id, text, operands, match, mask, unit, ext)                                                               \
    [INSN_##id] = {text, operands, match, mask, 0, INSN_##id, UNIT_##unit, EXT_##ext, false},
#define CINSN(id, text, operands, match, mask, nonzero, base)                                                          \
    [INSN_##id] = {text, operands, match, mask, nonzero, INSN_##base, UNIT_COUNT, EXT_C, true},
#include "riscv/insn.def"
#undef INSN
#undef CINSN
};

const struct insn_desc *insn_describe(enum insn_id id)
{
    return &rows[id];
}

/* Bucket index: 32-bit forms by major opcode (bits 6:2) and funct3 (bits 14:12), 16-bit forms by funct3 and quadrant.
 * A 32-bit row that ignores funct3 is in eight buckets. */
enum { BUCKET_ROWS = 96, FUNCT3 = 8, WIDE_BUCKETS = 32 * FUNCT3, NARROW_BUCKETS = 32 };

struct bucket {
    uint16_t row[BUCKET_ROWS];
    unsigned count;
};

/* Filled once before the first decode, constant afterwards. */
static struct bucket buckets[WIDE_BUCKETS + NARROW_BUCKETS];
static pthread_once_t buckets_filled = PTHREAD_ONCE_INIT;

static unsigned bucket_of(uint32_t bits)
{
    if ((bits & 3) == 3)
        return (bits >> 2 & 31) * FUNCT3 + (bits >> 12 & 7);
    return WIDE_BUCKETS + (bits >> 11 & 0x1c) + (bits & 3);
}

static void fill_buckets(void)
{
    for (unsigned i = 0; i < INSN_COUNT; i++) {
        bool every = !rows[i].compressed && (rows[i].mask >> 12 & 7) == 0;
        for (uint32_t funct3 = 0; funct3 < (every ? FUNCT3 : 1); funct3++) {
            struct bucket *b = &buckets[bucket_of(rows[i].match | funct3 << 12)];
            assert(b->count < BUCKET_ROWS);
            b->row[b->count++] = (uint16_t)i;
        }
    }
}

/* Bits high:low as an unsigned value. */
static int32_t field(uint32_t bits, unsigned high, unsigned low)
{
    return (int32_t)(bits >> low & ((UINT32_C(2) << (high - low)) - 1));
}

static int32_t sign_extend(int32_t value, unsigned width)
{
    return (int32_t)((uint32_t)value << (32 - width)) >> (32 - width);
}

static void decode_wide_operand(char letter, uint32_t b, struct insn *i)
{
    switch (letter) {
    case 'd':
    case 'D': i->rd = field(b, 11, 7); break;
    case 's':
    case 'S':
    case 'Z': i->rs1 = field(b, 19, 15); break;
    case 't':
    case 'T': i->rs2 = field(b, 24, 20); break;
    case 'R': i->rs3 = field(b, 31, 27); break;
    case 'j':
    case 'o': i->imm = (int32_t)b >> 20; break;
    case 'q': i->imm = (int32_t)(b & 0xfe000000) >> 20 | field(b, 11, 7); break;
    case 'f': i->imm = (int32_t)(b & 0xfe000000) >> 20; break;
    case 'p':
        i->imm = sign_extend(
            field(b, 31, 31) << 12 | field(b, 7, 7) << 11 | field(b, 30, 25) << 5 | field(b, 11, 8) << 1, 13);
        break;
    case 'a':
        i->imm = sign_extend(
            field(b, 31, 31) << 20 | field(b, 19, 12) << 12 | field(b, 20, 20) << 11 | field(b, 30, 21) << 1, 21);
        break;
    case 'u': i->imm = (int32_t)(b & 0xfffff000); break;
    case '>': i->imm = field(b, 25, 20); break;
    case '<': i->imm = field(b, 24, 20); break;
    case 'E': i->imm = field(b, 31, 20); break;
    case 'F': i->rs1 = field(b, 19, 15); break;
    case 'm': i->rm = field(b, 14, 12); break;
    case 'P':
    case 'Q': i->imm = field(b, 27, 20); break;
    case 'A': i->rm = field(b, 26, 25); break;
    default: break;
    }
}

static void decode_narrow_operand(char letter, uint32_t b, struct insn *i)
{
    switch (letter) {
    case 'd':
    case 'D': i->rd = field(b, 11, 7); break;
    case 's': i->rs1 = field(b, 11, 7); break;
    case 'U': i->rd = i->rs1 = field(b, 11, 7); break;
    case 'V':
    case 'v': i->rs2 = field(b, 6, 2); break;
    case 'w':
    case 'W': i->rd = 8 + field(b, 4, 2); break;
    case 'r': i->rs1 = 8 + field(b, 9, 7); break;
    case 'x': i->rd = i->rs1 = 8 + field(b, 9, 7); break;
    case 't':
    case 'T': i->rs2 = 8 + field(b, 4, 2); break;
    case '1': i->rd = 1; break;
    case '2': i->rs1 = 2; break;
    case '3': i->rd = i->rs1 = 2; break;
    case 'i': i->imm = sign_extend(field(b, 12, 12) << 5 | field(b, 6, 2), 6); break;
    case 'I': i->imm = sign_extend(field(b, 12, 12) << 17 | field(b, 6, 2) << 12, 18); break;
    case '>': i->imm = field(b, 12, 12) << 5 | field(b, 6, 2); break;
    case 'b':
        i->imm = sign_extend(field(b, 12, 12) << 9 | field(b, 4, 3) << 7 | field(b, 5, 5) << 6 | field(b, 2, 2) << 5 |
                                 field(b, 6, 6) << 4,
                             10);
        break;
    case 'B': i->imm = field(b, 10, 7) << 6 | field(b, 12, 11) << 4 | field(b, 5, 5) << 3 | field(b, 6, 6) << 2; break;
    case 'e': i->imm = field(b, 5, 5) << 1 | field(b, 6, 6); break;
    case 'h': i->imm = field(b, 5, 5) << 1; break;
    case '8': i->imm = 255; break;
    case 'n': i->imm = -1; break;
    case 'k': i->imm = field(b, 5, 5) << 6 | field(b, 12, 10) << 3 | field(b, 6, 6) << 2; break;
    case 'l': i->imm = field(b, 6, 5) << 6 | field(b, 12, 10) << 3; break;
    case 'K': i->imm = field(b, 3, 2) << 6 | field(b, 12, 12) << 5 | field(b, 6, 4) << 2; break;
    case 'L': i->imm = field(b, 4, 2) << 6 | field(b, 12, 12) << 5 | field(b, 6, 5) << 3; break;
    case 'M': i->imm = field(b, 8, 7) << 6 | field(b, 12, 9) << 2; break;
    case 'N': i->imm = field(b, 9, 7) << 6 | field(b, 12, 10) << 3; break;
    case 'a':
        i->imm =
            sign_extend(field(b, 12, 12) << 11 | field(b, 8, 8) << 10 | field(b, 10, 9) << 8 | field(b, 6, 6) << 7 |
                            field(b, 7, 7) << 6 | field(b, 2, 2) << 5 | field(b, 11, 11) << 4 | field(b, 5, 3) << 1,
                        12);
        break;
    case 'p':
        i->imm = sign_extend(field(b, 12, 12) << 8 | field(b, 6, 5) << 6 | field(b, 2, 2) << 5 | field(b, 11, 10) << 3 |
                                 field(b, 4, 3) << 1,
                             9);
        break;
    default: break;
    }
}

static bool row_matches(const struct insn_desc *d, uint32_t bits)
{
    return (bits & d->mask) == d->match && (d->nonzero == 0 || (bits & d->nonzero) != 0);
}

/* Rounding modes 5 and 6 are reserved, in an instruction as in frm. */
static bool rounding_mode_is_legal(const struct insn_desc *d, const struct insn *i)
{
    for (const char *o = d->operands; *o; o++)
        if (*o == 'm' && !d->compressed)
            return i->rm != 5 && i->rm != 6;
    return true;
}

bool insn_decode(uint32_t bits, struct insn *out)
{
    pthread_once(&buckets_filled, fill_buckets);
    unsigned length = insn_length((uint16_t)bits);
    if (length == 2)
        bits &= 0xffff;
    *out = (struct insn){.form = INSN_ILLEGAL, .op = INSN_ILLEGAL, .length = (uint8_t)length, .bits = bits};

    const struct bucket *b = &buckets[bucket_of(bits)];
    for (unsigned k = 0; k < b->count; k++) {
        const struct insn_desc *d = &rows[b->row[k]];
        if (!row_matches(d, bits))
            continue;
        for (const char *o = d->operands; *o; o++) {
            if (d->compressed)
                decode_narrow_operand(*o, bits, out);
            else
                decode_wide_operand(*o, bits, out);
        }
        if (!rounding_mode_is_legal(d, out))
            return false;
        out->form = b->row[k];
        out->op = d->op;
        return true;
    }
    return false;
}

/* Finds operand bits by comparing what each single bit decodes to with what all zeros decode to. */
uint32_t insn_meaningful_bits(enum insn_id id)
{
    const struct insn_desc *d = &rows[id];
    uint32_t result = d->mask;
    for (unsigned bit = 0; bit < (d->compressed ? 16 : 32); bit++) {
        struct insn zero = {0}, one = {0};
        for (const char *o = d->operands; *o; o++) {
            if (d->compressed) {
                decode_narrow_operand(*o, 0, &zero);
                decode_narrow_operand(*o, UINT32_C(1) << bit, &one);
            } else {
                decode_wide_operand(*o, 0, &zero);
                decode_wide_operand(*o, UINT32_C(1) << bit, &one);
            }
        }
        if (zero.rd != one.rd || zero.rs1 != one.rs1 || zero.rs2 != one.rs2 || zero.rs3 != one.rs3 ||
            zero.rm != one.rm || zero.imm != one.imm)
            result |= UINT32_C(1) << bit;
    }
    return result;
}
