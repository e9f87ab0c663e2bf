#include "report/insn_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clean_text.h"

bool insn_of_file(struct symbols *s, uint64_t pc, struct insn *insn)
{
    uint8_t bytes[4] = {0};
    unsigned got = symbols_bytes(s, pc, bytes, sizeof bytes);
    uint32_t bits = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    if (got < 2 || got < insn_length((uint16_t)bits))
        return false;
    (void)insn_decode(bits, insn);
    return true;
}

void insn_text(struct symbols *s, const struct insn *insn, uint64_t pc, uint64_t start, char text[INSN_TEXT_SIZE])
{
    insn_disassemble(insn, text, INSN_TEXT_SIZE);
    enum insn_unit unit = insn->form == INSN_ILLEGAL ? UNIT_SYSTEM : insn_describe(insn->op)->unit;
    char *target =
        unit == UNIT_BRANCH || unit == UNIT_JUMP ? strrchr(text, '.') : NULL; /* targets are printed as `.+offset` */
    if (target == NULL)
        return;
    struct place p;
    uint64_t to = pc + (uint64_t)(int64_t)insn->imm;
    size_t room = (size_t)(text + INSN_TEXT_SIZE - target);
    symbols_code(s, to, &p);
    if (p.start == start)
        snprintf(target, room, "%" PRIx64, to);
    else if (to == p.start)
        snprintf(target, room, "%" PRIx64 " <%s>", to, p.name);
    else
        snprintf(target, room, "%" PRIx64 " <%s+0x%" PRIx64 ">", to, p.name, to - p.start);
    clean_text(text);
}
