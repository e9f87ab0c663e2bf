/* The code behind basic blocks: how long they are, what they call, and what is mapped there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index_table.h"
#include "guest/areas.h"
#include "phases/bbv.h"
#include "riscv/insn.h"

enum { MOST_INSNS = 64, ZERO = 0, RA = 1, ALTERNATE_RA = 5 };

/* The bytes of a block, as many as there can be. */
struct bytes {
    uint64_t start, count;
    uint8_t of[4 * MOST_INSNS];
};

/* In at most two copies, each from one page, since every copy is a call of the host. */
static void read_bytes(const struct guest_memory *m, uint64_t pc, struct bytes *b)
{
    uint64_t in_page = GUEST_PAGE - pc % GUEST_PAGE, most = sizeof b->of;
    uint64_t first = in_page < most ? in_page : most;
    *b = (struct bytes){.start = pc};
    if (guest_copy_in(m, b->of, pc, first) != 0)
        return;
    b->count = first;
    if (first < most && guest_copy_in(m, b->of + first, pc + first, most - first) == 0)
        b->count = most;
}

static bool fetch(const struct bytes *b, uint64_t pc, struct insn *insn)
{
    uint16_t half[2] = {0, 0};
    uint64_t at = pc - b->start;
    if (at + sizeof half[0] > b->count)
        return false;
    memcpy(&half[0], b->of + at, sizeof half[0]);
    if (insn_length(half[0]) == 4) {
        if (at + sizeof half > b->count)
            return false;
        memcpy(&half[1], b->of + at + sizeof half[0], sizeof half[1]);
    }
    return insn_decode(half[0] | (uint32_t)half[1] << 16, insn);
}

static bool ends_block(const struct insn *insn)
{
    enum insn_unit unit = insn_describe(insn->op)->unit;
    return unit == UNIT_BRANCH || unit == UNIT_JUMP || unit == UNIT_JUMP_REG || insn->op == INSN_ecall ||
           insn->op == INSN_ebreak || insn->op == INSN_fence_i;
}

/* A far call is an auipc and a jalr through the same register. */
static void note_target(struct bbv_block *b, const struct insn *last, uint64_t pc, const struct insn *before,
                        uint64_t before_pc)
{
    uint64_t offset = (uint64_t)(int64_t)last->imm;
    if (last->op == INSN_jal)
        b->target = pc + offset;
    else if (last->op == INSN_jalr && before->op == INSN_auipc && before->rd == last->rs1 && last->rs1 != ZERO)
        b->target = (before_pc + (uint64_t)(int64_t)before->imm + offset) & ~UINT64_C(1);
    b->call = (last->op == INSN_jal || last->op == INSN_jalr) && (last->rd == RA || last->rd == ALTERNATE_RA);
}

static struct bbv_block read_block(const struct guest_memory *m, uint64_t pc)
{
    struct bbv_block b = {.pc = pc};
    struct insn insn, before = {.op = INSN_ILLEGAL};
    uint64_t before_pc = 0;
    struct bytes bytes;
    read_bytes(m, pc, &bytes);
    while (b.insns < MOST_INSNS && fetch(&bytes, pc, &insn)) {
        b.insns++;
        if (ends_block(&insn)) {
            note_target(&b, &insn, pc, &before, before_pc);
            break;
        }
        before = insn;
        before_pc = pc;
        pc += insn.length;
    }
    return b;
}

/* ---- mappings */

/* The last one that was noted counts. */
static bool is_noted(const struct bbv_set *s, const struct guest_area *a)
{
    for (size_t k = s->map_count; k-- > 0;) {
        const struct bbv_map *m = &s->map[k];
        if (a->start < m->start + m->length && m->start < a->end)
            return m->start == a->start && m->length == a->end - a->start && m->offset == a->offset &&
                   strcmp(m->path, a->name ? a->name : "") == 0;
    }
    return false;
}

static int note_map(struct bbv_set *s, const struct guest_area *a)
{
    struct bbv_map *map = array_room(s->map, s->map_count, &s->map_room, sizeof *map);
    if (map == NULL)
        return -ENOMEM;
    s->map = map;
    char *path = strdup(a->name ? a->name : "");
    if (path == NULL)
        return -ENOMEM;
    s->map[s->map_count++] = (struct bbv_map){a->start, a->end - a->start, a->offset, path};
    return 0;
}

int bbv_note_block(struct bbv_set *s, const struct guest_memory *m, uint32_t block, uint64_t pc)
{
    struct bbv_block *noted = array_room(s->block, block, &s->block_room, sizeof *noted);
    if (noted == NULL)
        return -ENOMEM;
    s->block = noted;
    s->block[block] = read_block(m, pc);
    const struct guest_area *a = guest_area_at_or_above(m, pc);
    return a && a->start <= pc && !is_noted(s, a) ? note_map(s, a) : 0;
}
