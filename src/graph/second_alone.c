#include "graph/second_alone.h"

#include "memsys/memsys.h"

bool second_alone_init(struct second_alone *c, const struct core_config *config)
{
    *c = (struct second_alone){.present = config->l2_size != 0};
    if (!c->present)
        return true;
    uint64_t sets = config->l2_size / (config->l2_ways * config->l2_line);
    return tags_init(&c->tags, sets, (unsigned)config->l2_ways, (unsigned)config->l2_line,
                     cache_replacements[config->l2_replacement], 0);
}

void second_alone_begin(struct second_alone *c, const struct tags *l2)
{
    struct tags *t = &c->tags;
    for (size_t i = 0; c->present && i < (t->set_mask + 1) * t->ways; i++) {
        uint64_t addr = tags_address(l2, i);
        if (l2->tag[i] && tags_find(t, addr) < 0)
            tags_place(t, tags_victim(t, addr), addr, 0, 0);
    }
}

void second_alone_free(struct second_alone *c)
{
    tags_free(&c->tags);
}

/* Bit of an arrival: the line has been proposed, and it is not known whether it came. */
#define PROPOSED (UINT64_C(1) << 63)

bool second_alone_propose(struct second_alone *c, uint64_t addr, uint64_t insn)
{
    struct tags *t = &c->tags;
    if (!c->present)
        return false;
    ptrdiff_t i = tags_find(t, addr);
    if (i < 0) {
        tags_place(t, tags_victim(t, addr), addr, (insn + 1) | PROPOSED, 0);
        return false;
    }
    tags_touch(t, (size_t)i);
    return !(t->arrival[i] & PROPOSED);
}

void second_alone_confirm(struct second_alone *c, uint64_t addr)
{
    ptrdiff_t i = c->present ? tags_find(&c->tags, addr) : -1;
    if (i >= 0)
        c->tags.arrival[i] &= ~PROPOSED;
}

bool second_alone_use(struct second_alone *c, uint64_t addr, uint64_t insn, unsigned window)
{
    struct tags *t = &c->tags;
    if (!c->present)
        return false;
    ptrdiff_t i = tags_find(t, addr);
    if (i >= 0) {
        tags_touch(t, (size_t)i);
        if (!(t->arrival[i] & PROPOSED))
            return t->arrival[i] == 0 || insn - t->arrival[i] >= window;
        t->arrival[i] = insn + 1;
        return false;
    }
    tags_place(t, tags_victim(t, addr), addr, insn + 1, 0);
    return false;
}
