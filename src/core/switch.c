/* A core that programs take turns on: what goes from one to the next, and when a turn ends. */
#include <string.h>

#include "core/machine_priv.h"

enum { SPACE_SHIFT = 40 }; /* above all addresses that programs and firmware have */

/* A state: this, and then the blocks of memory system and branch unit. */
struct state_head {
    uint64_t now;
    struct machine_image machine; /* with firmware */
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

/* All dates that this core has are of the past, as nothing is in flight: time may jump. */
void core_get_state(struct core *c, const void *from)
{
    const struct state_head *head = from;
    const char *blocks = (const char *)from + sizeof *head;
    visit_blocks(c, get_block, &blocks);
    c->now = head->now;
    if (c->machine)
        machine_get(c, &head->machine);
    c->last_pc = 1; /* none has this: what is fetched next is no continuation */
}

/* ---- warm state, which nothing is on its way to */

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

/* ---- turns */

void core_begin_turn(struct core *c, uint64_t cycles, bool switched)
{
    c->turn_cycles = cycles;
    c->turn_end = cycles == NEVER ? NEVER : c->now + cycles;
    core_set_watching(c);
    bool firmware_first = switched && c->machine && machine_switched(c);
    if (firmware_first)
        c->turn_end = NEVER; /* until it returns */
    if (c->machine == NULL)
        c->look = c->turn_end;
    else if (c->turn_end < c->look)
        c->look = c->turn_end;
}

bool core_turn_is_over(const struct core *c)
{
    return c->now >= c->turn_end;
}

/* The quantum becomes what has been used of it, so fetch brings nothing more. Firmware is not disturbed. */
void core_look_at_turn(struct core *c)
{
    struct hart *h = c->paths.right;
    if (c->machine == NULL)
        c->look = NEVER;
    if (c->machine_mode)
        return;
    if (c->now < c->turn_end) {
        if (c->turn_end < c->look)
            c->look = c->turn_end;
    } else {
        h->quantum -= h->budget;
        h->budget = 0;
    }
}
