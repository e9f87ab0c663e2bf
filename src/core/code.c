#include "core/code.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "branch/branch.h"
#include "core/firmware.h"

/* ---- decoding */

static const uint8_t class_of_unit[UNIT_COUNT] = {
    [UNIT_ALU] = CLASS_ALU,          [UNIT_MUL] = CLASS_MUL,          [UNIT_DIV] = CLASS_DIV,
    [UNIT_BRANCH] = CLASS_BRANCH,    [UNIT_JUMP] = CLASS_BRANCH,      [UNIT_JUMP_REG] = CLASS_BRANCH,
    [UNIT_LOAD] = CLASS_LOAD,        [UNIT_STORE] = CLASS_STORE,      [UNIT_ATOMIC] = CLASS_STORE,
    [UNIT_PREFETCH] = CLASS_LOAD,    [UNIT_FP_ADD] = CLASS_FPADD,     [UNIT_FP_MUL] = CLASS_FPMUL,
    [UNIT_FP_FMA] = CLASS_FPMUL,     [UNIT_FP_DIV] = CLASS_FPDIV,     [UNIT_FP_SQRT] = CLASS_FPSQRT,
    [UNIT_FP_CONVERT] = CLASS_FPADD, [UNIT_FP_COMPARE] = CLASS_FPADD, [UNIT_FP_MOVE] = CLASS_FPADD,
    [UNIT_FENCE] = CLASS_STORE,      [UNIT_SYSTEM] = CLASS_ALU,       [UNIT_HINT] = CLASS_ALU,
};

static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

/* Kind of a jump, by the return-address stack hints for JALR in the RISC-V manual. */
static enum branch_kind jump_kind(const struct insn *i)
{
    if (i->op == INSN_jal)
        return is_link(i->rd) ? BRANCH_CALL : BRANCH_JUMP;
    if (is_link(i->rs1) && !is_link(i->rd))
        return BRANCH_RETURN;
    if (is_link(i->rs1) && i->rs1 != i->rd)
        return BRANCH_CORETURN;
    return is_link(i->rd) ? BRANCH_INDIRECT_CALL : BRANCH_INDIRECT;
}

static uint8_t access_bytes(const struct insn *i)
{
    switch (i->op) {
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
    case INSN_amocas_q: return 16;
    case INSN_cbo_zero: return ZEROED_BYTES;
    default: break;
    }
    /* Atomics: bit 12 distinguishes double words from words. */
    return insn_describe(i->op)->unit == UNIT_ATOMIC && !(i->bits & 1 << 12) ? 4 : 8;
}

/* The operand letters of the description of an instruction, as a set, without digits and signs. */
static uint64_t letters_of(const struct insn *i)
{
    uint64_t set = 0;
    for (const char *letter = insn_describe(i->op)->operands; *letter; letter++)
        set |= (uint64_t)(*letter >= 'A') << (*letter & 63);
    return set;
}

static bool has(uint64_t letters, char letter)
{
    return letters >> (letter & 63) & 1;
}

/* Sets the registers that an instruction reads and writes. */
static void set_registers(struct code *c, const struct insn *i, uint64_t letters)
{
    bool fp_dest = has(letters, 'D'), int_dest = has(letters, 'd');
    if (has(letters, 's'))
        c->source[0] = i->rs1;
    if (has(letters, 'S'))
        c->source[0] = REG_FP + i->rs1;
    if (has(letters, 't'))
        c->source[1] = i->rs2;
    if (has(letters, 'T'))
        c->source[1] = REG_FP + i->rs2;
    if (has(letters, 'R'))
        c->source[2] = REG_FP + i->rs3;
    if (has(letters, 'x'))
        c->source[2] = i->rd;
    c->dest = fp_dest ? REG_FP + i->rd : int_dest ? i->rd : 0;
    c->o = (struct operands){.rd = fp_dest || i->rd != 0 ? i->rd : X_SINK, .rs1 = i->rs1, .rs2 = i->rs2, .rs3 = i->rs3};
    c->o.imm = has(letters, 'm') ? i->rm : i->imm;
}

static uint16_t flags_of(const struct insn *i, enum insn_unit unit, uint64_t letters)
{
    switch (unit) {
    case UNIT_LOAD: return IS_LOAD;
    case UNIT_STORE: return IS_STORE;
    case UNIT_ATOMIC: return IS_LOAD | IS_STORE | IS_AT_HEAD;
    case UNIT_PREFETCH: return IS_PREFETCH;
    case UNIT_BRANCH: return IS_CONTROL | IS_CONDITIONAL;
    case UNIT_JUMP:
    case UNIT_JUMP_REG: return IS_CONTROL;
    case UNIT_FENCE: return IS_STORE | IS_AT_HEAD | (i->op == INSN_fence_i ? IS_SERIAL : 0);
    case UNIT_SYSTEM:
        if (i->op == INSN_ecall)
            return IS_SYSTEM_CALL | IS_SERIAL | IS_AT_HEAD;
        if (i->op == INSN_mret || i->op == INSN_wfi)
            return IS_SERIAL | IS_AT_HEAD;
        return i->op == INSN_ebreak ? IS_TRAP : IS_CSR | IS_AT_HEAD;
    case UNIT_FP_ADD:
    case UNIT_FP_MUL:
    case UNIT_FP_FMA:
    case UNIT_FP_DIV:
    case UNIT_FP_SQRT:
    case UNIT_FP_CONVERT: return IS_FP | (has(letters, 'm') && i->rm == RM_DYN ? IS_DYNAMIC_RM : 0);
    case UNIT_FP_COMPARE:
    case UNIT_FP_MOVE: return IS_FP;
    default: return 0;
    }
}

static bool reserved_rounding(const struct insn *i)
{
    return i->rm > RM_RMM && i->rm != RM_DYN && has(letters_of(i), 'm');
}

void code_describe(const struct insn *i, struct code *c)
{
    const uint64_t letters = letters_of(i);
    enum insn_unit unit = insn_describe(i->op)->unit;
    bool rounds = has(letters, 'm');
    *c = (struct code){.op = (uint16_t)i->op, .length = i->length, .bits = i->bits, .class = class_of_unit[unit]};
    c->flags = IS_INSN | flags_of(i, unit, letters);
    if (c->flags & (IS_CONTROL | IS_MEM | IS_FP | IS_SYSTEM_CALL))
        c->flags |= IS_NOTABLE;
    set_registers(c, i, letters);
    c->run = exec_function_of(i->op, rounds && i->rm != RM_DYN);
    if (c->flags & IS_MEM && unit != UNIT_FENCE)
        c->mem_size = access_bytes(i);
    if (unit == UNIT_ATOMIC)
        c->o.imm = 0;
    if (c->flags & IS_CONTROL)
        c->control = c->flags & IS_CONDITIONAL ? BRANCH_CONDITIONAL : (uint8_t)jump_kind(i);
}

static void decode(struct code *c, uint32_t bits)
{
    struct insn i;
    if (insn_decode(bits, &i) && !reserved_rounding(&i))
        code_describe(&i, c);
    else
        *c = (struct code){.op = INSN_ILLEGAL, .length = i.length, .bits = bits, .flags = IS_INSN | IS_TRAP};
}

/* ---- the cache */

static struct code_page *page_of(struct code_cache *c, uint64_t number)
{
    struct code_page **head = &c->hash[number % CODE_HASH];
    for (struct code_page *p = *head; p; p = p->next)
        if (p->number == number)
            return p;
    struct code_page *p = calloc(1, sizeof *p);
    if (p == NULL)
        abort();
    p->number = number;
    p->next = *head;
    return *head = p;
}

static struct code_page *recent_page(struct code_cache *c, uint64_t number)
{
    struct code_page **recent = &c->recent[number % CODE_RECENT];
    if ((*recent)->number != number)
        *recent = page_of(c, number);
    return *recent;
}

/* Whether this address may hold instructions in the current mode. */
static bool in_space(const struct code_cache *c, uint64_t addr)
{
    return addr < GUEST_SPACE || (c->firmware && addr - FIRMWARE_BASE < FIRMWARE_SPACE);
}

static const uint8_t *bytes_at(const struct code_cache *c, uint64_t addr)
{
    return addr < GUEST_SPACE ? c->mem + addr : c->firmware + (addr - FIRMWARE_BASE);
}

static bool fetchable(struct code_cache *c, uint64_t addr, uint64_t *fault)
{
    *fault = addr;
    if (addr >= GUEST_SPACE)
        return in_space(c, addr);
    struct code_page *page = recent_page(c, addr / GUEST_PAGE);
    if (!page->fetchable) {
        page->fetchable = guest_ptr(c->memory, addr, 2, PROT_EXEC) != NULL;
        guest_mark_code(c->memory, addr, false);
        access_remove(c->writable, addr);
    }
    return page->fetchable;
}

bool code_wants_reset(const struct code_cache *c)
{
    return c->used == CODE_MOST;
}

static const struct code *decode_at(struct code_cache *c, struct code_page *page, uint64_t pc, uint64_t *fault)
{
    uint16_t parcel[2] = {0};
    if (!fetchable(c, pc, fault))
        return NULL;
    memcpy(&parcel[0], bytes_at(c, pc), 2);
    if (insn_length(parcel[0]) == 4) {
        if (!fetchable(c, pc + 2, fault))
            return NULL;
        memcpy(&parcel[1], bytes_at(c, pc + 2), 2);
    }
    if (code_wants_reset(c))
        return NULL;
    struct code *entry = &c->code[c->used];
    decode(entry, (uint32_t)parcel[1] << 16 | parcel[0]);
    page->at[pc % GUEST_PAGE / 2] = c->used++;
    return entry;
}

const uint32_t *code_row(struct code_cache *c, uint64_t addr)
{
    return &recent_page(c, addr / GUEST_PAGE)->at[addr % GUEST_PAGE / 2];
}

const struct code *code_find_slowly(struct code_cache *c, uint64_t pc, uint64_t *fault)
{
    if (!in_space(c, pc)) {
        *fault = pc;
        return NULL;
    }
    struct code_page *page = recent_page(c, pc / GUEST_PAGE);
    uint32_t found = page->at[pc % GUEST_PAGE / 2];
    return found ? &c->code[found] : decode_at(c, page, pc, fault);
}

/* Drops the entries of [start, end) that lie in the page. The next decoding in the page checks again whether the page
 * may be executed, and marks it again (guest_mark_code). */
static void forget_part(struct code_page *p, uint64_t start, uint64_t end)
{
    uint64_t base = p->number * GUEST_PAGE;
    uint64_t from = start > base ? start - base : 0, to = end < base + GUEST_PAGE ? end - base : GUEST_PAGE;
    p->fetchable = false;
    memset(&p->at[from / 2], 0, ((to + 1) / 2 - from / 2) * sizeof p->at[0]);
}

/* Drops a range of changed code. An instruction may begin two bytes before the range. */
void code_changed(void *context, uint64_t start, uint64_t end)
{
    struct code_cache *c = context;
    start = start >= 2 ? start - 2 : 0;
    uint64_t first = start / GUEST_PAGE, last = (end + GUEST_PAGE - 1) / GUEST_PAGE;
    bool few = last - first < CODE_HASH; /* then each page has a chain of its own */
    for (uint64_t h = few ? first : 0; h < (few ? last : CODE_HASH); h++)
        for (struct code_page *p = c->hash[h % CODE_HASH]; p; p = p->next)
            if (p->number >= first && p->number < last)
                forget_part(p, start, end);
}

static void forget_recent(struct code_cache *c)
{
    for (unsigned i = 0; i < CODE_RECENT; i++)
        c->recent[i] = &c->none;
}

struct code_cache *code_new(struct guest_memory *memory, struct access_cache *writable, struct error *err)
{
    struct code_cache *c = calloc(1, sizeof *c);
    void *code = mmap(NULL, CODE_MOST * sizeof *c->code, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c == NULL || code == MAP_FAILED) {
        free(c);
        error_set(err, -ENOMEM, "out of memory for decoded code");
        return NULL;
    }
    c->code = code;
    c->used = 1;
    c->memory = memory;
    c->writable = writable;
    c->mem = memory ? guest_memory_base(memory) : NULL;
    c->none.number = UINT64_MAX;
    forget_recent(c);
    return c;
}

/* `recent` is searched without regard to the mode, so it is cleared when the mode changes. */
void code_use_firmware(struct code_cache *c, const uint8_t *memory)
{
    c->firmware = memory;
    forget_recent(c);
}

void code_reset(struct code_cache *c)
{
    for (unsigned h = 0; h < CODE_HASH; h++)
        for (struct code_page *p = c->hash[h], *next; p; p = next) {
            next = p->next;
            free(p);
        }
    memset(c->hash, 0, sizeof c->hash);
    forget_recent(c);
    c->used = 1;
}

void code_free(struct code_cache *c)
{
    if (c == NULL)
        return;
    code_reset(c);
    munmap(c->code, CODE_MOST * sizeof *c->code);
    free(c);
}
