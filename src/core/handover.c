/* Handover of the core between programs that take turns on it: the state that passes from one to the next, warm state,
 * and the end of a turn. */
#include <assert.h>
#include <string.h>

#include "core/machine_priv.h"

enum { SPACE_SHIFT = 40 }; /* above all addresses of programs and firmware */

/* A state is this header followed by the blocks of memory system and branch unit. */
struct state_head {
    uint64_t now;
    struct machine_image machine; /* valid with firmware only */
};

void core_serve(struct core *c, struct guest_memory *memory, unsigned space)
{
    c->paths.memory = c->codes->memory = memory;
    c->paths.mem = guest_memory_base(memory);
    c->codes->mem = c->paths.mem;
    c->space = (uint64_t)space << SPACE_SHIFT;
}

unsigned core_space(const struct core *c)
{
    return (unsigned)(c->space >> SPACE_SHIFT);
}

/* ---- the state, block by block */

static void visit_blocks(struct core *c, state_visitor *visit, void *context)
{
    memsys_visit_state(c->memsys, visit, context);
    if (c->predictor)
        branch_visit_state(c->predictor, visit, context);
}

static void add_bytes(void *context, void *block, size_t bytes)
{
    (void)block;
    *(size_t *)context += bytes;
}

static void put_block(void *context, void *block, size_t bytes)
{
    char **to = context;
    memcpy(*to, block, bytes);
    *to += bytes;
}

static void get_block(void *context, void *block, size_t bytes)
{
    const char **from = context;
    memcpy(block, *from, bytes);
    *from += bytes;
}

enum { MEMORY_BLOCKS = 64 }; /* more than the state of a memory hierarchy has */

struct block_list {
    const void *block[MEMORY_BLOCKS];
    unsigned count;
};

static void list_block(void *context, void *block, size_t bytes)
{
    struct block_list *list = context;
    (void)bytes;
    assert(list->count < MEMORY_BLOCKS);
    list->block[list->count++] = block;
}

static void copy_listed_block(void *context, void *block, size_t bytes)
{
    const void *const **from = context;
    memcpy(block, *(*from)++, bytes);
}

void core_copy_memory_state(struct core *c, struct memsys *to)
{
    struct block_list list = {.count = 0};
    const void *const *from = list.block;
    memsys_visit_state(c->memsys, list_block, &list);
    memsys_visit_state(to, copy_listed_block, &from);
}

size_t core_state_bytes(struct core *c)
{
    size_t bytes = sizeof(struct state_head);
    visit_blocks(c, add_bytes, &bytes);
    return bytes;
}

void core_put_state(struct core *c, void *to)
{
    struct state_head *head = to;
    char *blocks = (char *)to + sizeof *head;
    core_counts(c);
    c->turn_end = NEVER;
    head->now = c->now;
    if (c->machine)
        machine_put(c, &head->machine);
    visit_blocks(c, put_block, &blocks);
}

/* Time may jump here: nothing is in flight, so every cycle number that this core holds is in the past. */
void core_get_state(struct core *c, const void *from)
{
    const struct state_head *head = from;
    const char *blocks = (const char *)from + sizeof *head;
    visit_blocks(c, get_block, &blocks);
    c->now = head->now;
    if (c->machine)
        machine_get(c, &head->machine);
    c->last_pc = 1; /* no instruction has this pc: the next run does not continue the last one */
}

/* ---- warm state, without outstanding misses */

size_t core_warm_bytes(struct core *c)
{
    size_t bytes = 0;
    visit_blocks(c, add_bytes, &bytes);
    return bytes;
}

void core_put_warm(struct core *c, void *to)
{
    char *blocks = to;
    visit_blocks(c, put_block, &blocks);
}

bool core_get_warm(struct core *c, const void *from, size_t bytes)
{
    const char *blocks = from;
    if (bytes != core_warm_bytes(c))
        return false;
    visit_blocks(c, get_block, &blocks);
    return memsys_state_is_possible(c->memsys) && (!c->predictor || branch_state_is_possible(c->predictor));
}

struct core_warm_parts core_warm_parts(struct core *c)
{
    return (struct core_warm_parts){
        .memsys = c->memsys,
        .predictor = c->predictor,
        .strides = &c->strides,
        .space = c->space,
        .rob_size = c->rob_size,
        .line_bytes = c->line_bytes,
    };
}

void core_forget_code(struct core *c)
{
    code_reset(c->codes);
}

/* ---- turns */

void core_begin_turn(struct core *c, uint64_t cycles, bool switched)
{
    c->turn_cycles = cycles;
    c->turn_end = cycles == NEVER ? NEVER : c->now + cycles;
    core_update_watching(c);
    bool firmware_first = switched && c->machine && machine_switched(c);
    if (firmware_first)
        c->turn_end = NEVER; /* the turn begins when the firmware returns */
    if (c->machine == NULL)
        c->next_check_cycle = c->turn_end;
    else if (c->turn_end < c->next_check_cycle)
        c->next_check_cycle = c->turn_end;
}

bool core_turn_is_over(const struct core *c)
{
    return c->now >= c->turn_end;
}

/* Ends the run by cutting the quantum down to what has been used of it, so that fetch brings nothing more. The firmware
 * is not interrupted. */
void core_check_turn(struct core *c)
{
    struct hart *h = c->paths.right;
    if (c->machine == NULL)
        c->next_check_cycle = NEVER;
    if (c->machine_mode)
        return;
    if (c->now < c->turn_end) {
        if (c->turn_end < c->next_check_cycle)
            c->next_check_cycle = c->turn_end;
    } else {
        h->quantum -= h->budget;
        h->budget = 0;
    }
}
