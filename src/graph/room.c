#include "graph/room.h"

#include <stdlib.h>

/* The instruction takes an entry. Returns the distance to the instruction whose commit frees that entry, or `most`. */
static unsigned take_entry(struct holders *h, uint64_t insn, unsigned most)
{
    unsigned distance = most;
    if (h->size >= most)
        return most; /* the ROB is full before */
    uint32_t *at = &h->insn[h->next];
    if (h->full && (uint32_t)insn - *at < most)
        distance = (uint32_t)insn - *at;
    *at = (uint32_t)insn;
    if (++h->next == h->size) {
        h->next = 0;
        h->full = true;
    }
    return distance;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

uint16_t room_take(struct room *r, const struct held_insn *h)
{
    unsigned most = r->rob_size, distance = most;
    uint64_t insn = r->insns++;
    if ((h->flags & IS_MEM) == IS_LOAD)
        distance = least(distance, take_entry(&r->loads, insn, most));
    if (h->flags & IS_STORE)
        distance = least(distance, take_entry(&r->store_queue, insn, most));
    if (h->flags & IS_MEM)
        distance = least(distance, take_entry(&r->load_store, insn, most));
    if (h->dest >= REG_FP)
        distance = least(distance, take_entry(&r->fp_regs, insn, most));
    else if (h->dest)
        distance = least(distance, take_entry(&r->int_regs, insn, most));
    return (uint16_t)(distance <= insn ? distance : 0);
}

static bool holders_init(struct holders *h, unsigned size, unsigned most)
{
    h->size = size;
    if (size >= most)
        return true;
    h->insn = calloc(size, sizeof *h->insn);
    return h->insn != NULL;
}

bool room_init(struct room *r, const struct graph_core *c)
{
    unsigned most = c->rob_size;
    *r = (struct room){.rob_size = most};
    return holders_init(&r->loads, c->lsq_loads, most) && holders_init(&r->store_queue, c->lsq_stores, most) &&
           holders_init(&r->load_store, c->lsq_size, most) && holders_init(&r->int_regs, c->int_regs, most) &&
           holders_init(&r->fp_regs, c->fp_regs, most);
}

void room_free(struct room *r)
{
    free(r->loads.insn);
    free(r->store_queue.insn);
    free(r->load_store.insn);
    free(r->int_regs.insn);
    free(r->fp_regs.insn);
}
