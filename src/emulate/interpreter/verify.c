/* Verified blocks: code on pages that the guest stores to all the time.
 *
 * A page with code is write-protected, so that a store to it is noticed (guest_mark_code). Where a page holds code and
 * data that change often, as a stack with trampolines does, each change of protection costs thousands of host
 * instructions. So a page that was unprotected TOGGLES_MOST times becomes a verified page: it stays writable, and its
 * blocks compare their code in memory with what they were translated from: when they are entered, and after each
 * instruction that stores, before the next one runs. If a byte differs, the block is left there and dies.
 *
 * After VERIFIED_ENTRIES entries of one of its blocks a page is protected again, on trial: a compiler may have finished
 * writing it. The next store to it ends the trial, and the one after that comes after twice as many entries.
 *
 * The code of a verified block is contiguous, since such a block follows no jumps. The bytes that it was translated
 * from lie behind its stubs, in slots of the arena. */
#include <string.h>

#include "emulate/interpreter/access.h"
#include "emulate/interpreter/translate_priv.h"

enum {
    TOGGLES_MOST = 8,        /* stores that unprotect a page before the page is verified */
    VERIFIED_ENTRIES = 4096, /* entries of a block until its page is protected for the first trial */
    TRIALS_MOST = 16,        /* trials that double the number of entries */
};
/* The slot behind an op that verifies: its `taken` has the number of bytes to compare in the low bits, and above them
 * the entries that are left; its constant is the address of the code. */
#define ENTRY (UINT64_C(1) << 16)

/* ---- pages */

bool interp_page_is_verified(const struct engine_state *e, uint64_t number)
{
    const struct block_page *page = interp_find_page(e, number);
    return page && page->verified;
}

void interp_count_toggle(struct engine_state *e, uint64_t number)
{
    struct block_page *page = interp_find_page(e, number);
    if (page && ++page->toggles >= TOGGLES_MOST) {
        page->toggles = TOGGLES_MOST;
        page->verified = true;
    }
}

/* Protects the pages of the block again, as soon as they are translated. */
static void begin_trial(struct engine_state *e, uint64_t pc, uint64_t bytes)
{
    for (uint64_t number = pc / GUEST_PAGE; number <= (pc + bytes - 1) / GUEST_PAGE; number++) {
        struct block_page *page = interp_find_page(e, number);
        if (page == NULL || !page->verified)
            continue;
        page->verified = false;
        page->toggles = TOGGLES_MOST - 1;
        page->trials += page->trials < TRIALS_MOST;
    }
    interp_code_changed(e, pc, pc + bytes);
}

/* ---- translating */

void interp_verify_from_here(struct builder *b, enum op_kind kind)
{
    const struct block_page *page = interp_find_page(b->e, b->pc / GUEST_PAGE);
    uint64_t pc = b->pc;
    interp_emit(b, kind);
    struct op *data = interp_emit(b, OP_DATA);
    data->taken = ENTRY * VERIFIED_ENTRIES << (page ? page->trials : 0);
    data->constant = (int64_t)pc;
}

void interp_verify_end(struct builder *b, uint64_t end)
{
    uint64_t pc = b->made->pc, bytes = end - pc;
    uint32_t copy = b->count;
    for (uint64_t done = 0; done < bytes; done += sizeof(struct op))
        interp_emit(b, OP_DATA);
    memcpy(&b->ops[copy], b->e->mem + pc, bytes);
    for (uint32_t k = 0; k < copy; k++)
        if (b->kinds[k] == OP_verify || b->kinds[k] == OP_verify_rest) {
            uint64_t from = (uint64_t)b->ops[k + 1].constant - pc;
            b->ops[k].constant = (int64_t)((copy - k) * sizeof(struct op) + from);
            b->ops[k + 1].taken |= bytes - from;
        }
}

/* ---- running */

/* The fault handler must know the op: the code may lie behind the end of a file that was truncated. */
static __attribute__((noinline)) bool differs(struct engine_state *e, const struct op *op, const uint8_t *mem)
{
    const uint8_t *copy = (const uint8_t *)op + op->constant;
    e->access = op;
    bool same = memcmp(mem + op[1].constant, copy, op[1].taken % ENTRY) == 0;
    e->access = NULL;
    return !same;
}

const struct op *interp_verify(OP_ARGUMENTS)
{
    struct engine_state *e = h->engine;
    struct op *data = &e->arena[op - e->arena + 1];
    data->taken -= ENTRY;
    if (UNLIKELY(data->taken < ENTRY)) {
        begin_trial(e, (uint64_t)data->constant, data->taken);
        return interp_leave_verified(h, op);
    }
    if (UNLIKELY(differs(e, op, mem)))
        return interp_leave_verified(h, op);
    return GO(op + 2);
}

const struct op *interp_verify_rest(OP_ARGUMENTS)
{
    if (UNLIKELY(differs(h->engine, op, mem)))
        return interp_leave_verified(h, op);
    return GO(op + 2);
}
