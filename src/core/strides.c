#include "core/strides.h"

#include <stdlib.h>

#include "base/array.h"
#include "core/core.h"

static bool same_pc(const void *owner, uint32_t index, const void *key)
{
    const struct strides *s = owner;
    return s->of[index].pc == *(const uint64_t *)key;
}

/* Adds an instruction; without memory it stays unknown. */
static void add(struct strides *s, uint64_t hash, const struct stride_entry *e)
{
    struct stride_entry *of = array_grow(s->of, s->count, &s->room, sizeof *of);
    if (of == NULL)
        return;
    s->of = of;
    if (index_table_add(&s->by_pc, hash, (uint32_t)s->count) == 0)
        s->of[s->count++] = *e;
}

unsigned strides_judge(struct strides *s, uint64_t pc, uint64_t addr, uint64_t value)
{
    uint64_t hash = hash_number(0, pc);
    uint32_t i = index_table_find(&s->by_pc, hash, same_pc, s, &pc);
    if (i == INDEX_NONE) {
        add(s, hash, &(struct stride_entry){.pc = pc, .addr.last = addr, .value.last = value});
        return EVENT_STRIDE_ADDR | EVENT_STRIDE_VALUE;
    }
    struct stride_entry *e = &s->of[i];
    unsigned wrong = stride_follows(&e->addr, addr) ? 0 : EVENT_STRIDE_ADDR;
    return wrong | (stride_follows(&e->value, value) ? 0 : EVENT_STRIDE_VALUE);
}

void strides_free(struct strides *s)
{
    free(s->of);
    index_table_free(&s->by_pc);
    *s = (struct strides){0};
}
