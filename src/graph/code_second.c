#include "graph/code_second.h"

#include "memsys/memsys.h"

bool code_second_init(struct code_second *c, const struct core_config *config)
{
    uint64_t sets = config->l2_size / (config->l2_ways * config->l2_line);
    c->present = config->l2_size != 0;
    return !c->present || tags_init(&c->tags, sets, (unsigned)config->l2_ways, (unsigned)config->l2_line,
                                    cache_replacements[config->l2_replacement], 0);
}

void code_second_free(struct code_second *c)
{
    if (c->present)
        tags_free(&c->tags);
}

bool code_second_use(struct code_second *c, uint64_t addr, uint64_t insn, unsigned window)
{
    ptrdiff_t i = c->present ? tags_find(&c->tags, addr) : -1;
    if (i >= 0)
        tags_touch(&c->tags, (size_t)i);
    else if (c->present)
        tags_place(&c->tags, tags_victim(&c->tags, addr), addr, insn, 0);
    return i >= 0 && insn - c->tags.arrival[i] >= window;
}
