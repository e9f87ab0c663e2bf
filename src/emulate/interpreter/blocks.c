/* Tables of blocks: lookup by pc, by page and by op; creation and invalidation of blocks. */
#include <stdlib.h>
#include <string.h>

#include "emulate/interpreter/interp_priv.h"

/* ---- by pc */

static uint32_t hash_slot(uint64_t pc, uint32_t size)
{
    return (uint32_t)((pc >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (size - 1);
}

static bool is_dead(const struct block *b)
{
    return b->pc & 1;
}

static void hash_insert(struct engine_state *e, uint32_t block)
{
    uint32_t i = hash_slot(e->blocks[block].pc, e->hash_size);
    while (e->hash[i] != 0 && !is_dead(&e->blocks[e->hash[i] - 1])) /* reuse a dead block's slot */
        i = (i + 1) & (e->hash_size - 1);
    e->hash[i] = block + 1;
}

static void hash_grow(struct engine_state *e)
{
    free(e->hash);
    e->hash_size = e->hash_size ? 2 * e->hash_size : 1 << 14;
    e->hash = calloc(e->hash_size, sizeof *e->hash);
    if (e->hash == NULL)
        abort();
    for (uint32_t b = 0; b < e->block_count; b++)
        if (!is_dead(&e->blocks[b]))
            hash_insert(e, b);
}

static const struct block *hash_find(const struct engine_state *e, uint64_t pc)
{
    if (e->hash_size == 0)
        return NULL;
    for (uint32_t i = hash_slot(pc, e->hash_size); e->hash[i] != 0; i = (i + 1) & (e->hash_size - 1))
        if (e->blocks[e->hash[i] - 1].pc == pc)
            return &e->blocks[e->hash[i] - 1];
    return NULL;
}

/* ---- which blocks lie on which page */

/* The page's entry, or the unused entry in which to insert it. */
static struct block_page *page_slot(const struct engine_state *e, uint64_t number)
{
    uint32_t i = hash_slot(2 * number, e->pages_size);
    while (e->pages[i].key != 0 && e->pages[i].key != number + 1)
        i = (i + 1) & (e->pages_size - 1);
    return &e->pages[i];
}

struct block_page *interp_find_page(const struct engine_state *e, uint64_t number)
{
    struct block_page *page = e->pages_size ? page_slot(e, number) : NULL;
    return page && page->key ? page : NULL;
}

static void pages_grow(struct engine_state *e)
{
    struct block_page *old = e->pages;
    uint32_t old_size = e->pages_size;
    e->pages_size = old_size ? 2 * old_size : 1 << 10;
    e->pages = calloc(e->pages_size, sizeof *e->pages);
    if (e->pages == NULL)
        abort();
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].key != 0)
            *page_slot(e, old[i].key - 1) = old[i];
    free(old);
}

static void page_add_block(struct engine_state *e, uint64_t number, uint32_t block)
{
    if (2 * e->page_count >= e->pages_size)
        pages_grow(e);
    if (e->link_count == e->link_capacity) {
        e->link_capacity = e->link_capacity ? 2 * e->link_capacity : 4096;
        e->links = realloc(e->links, e->link_capacity * sizeof *e->links);
        if (e->links == NULL)
            abort();
    }
    struct block_page *page = page_slot(e, number);
    if (page->key == 0) {
        page->key = number + 1;
        e->page_count++;
    }
    e->links[e->link_count] = (struct code_link){block, page->link};
    page->link = ++e->link_count;
}

/* Links into the block stay; its first op now looks for a new block. */
static void kill_block(struct engine_state *e, struct block *b)
{
    struct op *first = &e->arena[b->first_op];
    first->run = interp_single[OP_dead];
    first->constant = (int64_t)(b->pc << 8);
    b->pc |= 1;
}

static void kill_page(struct engine_state *e, struct block_page *page)
{
    for (uint32_t link = page->link; link != 0; link = e->links[link - 1].next) {
        struct block *b = &e->blocks[e->links[link - 1].block];
        if (!is_dead(b))
            kill_block(e, b);
    }
    page->link = 0;
}

void interp_forget_block(struct engine_state *e, const struct op *op)
{
    struct block *b = (struct block *)interp_block_of(e, op);
    if (!is_dead(b))
        kill_block(e, b);
}

void interp_code_changed(void *context, uint64_t start, uint64_t end)
{
    struct engine_state *e = context;
    uint64_t first = start / GUEST_PAGE, last = (end - 1) / GUEST_PAGE;
    memset(e->executable, 0, sizeof e->executable);
    if (e->pages_size == 0 || start >= end || e->kept_from_forks) /* a process that was forked has no blocks */
        return;
    if (last - first < 16) {
        for (uint64_t number = first; number <= last; number++)
            kill_page(e, page_slot(e, number));
    } else {
        for (uint32_t i = 0; i < e->pages_size; i++)
            if (e->pages[i].key > first && e->pages[i].key <= last + 1)
                kill_page(e, &e->pages[i]);
    }
}

void interp_flush(struct engine_state *e)
{
    if (e->hooks.count_blocks)
        interp_count_forget(e);
    e->used = 0;
    e->block_count = e->hooked_count = e->link_count = 0;
    memset(e->executable, 0, sizeof e->executable);
    e->flushes++;
    if (e->hash)
        memset(e->hash, 0, e->hash_size * sizeof *e->hash);
    for (uint32_t i = 0; i < e->pages_size; i++) /* what is known of stores to the pages remains */
        e->pages[i].link = 0;
    for (unsigned i = 0; i < JUMP_CACHE_ENTRIES; i++)
        e->jump_cache[i].pc = 1;
}

void interp_free_tables(struct engine_state *e)
{
    free(e->blocks);
    free(e->hash);
    free(e->pages);
    free(e->links);
    free(e->hooked);
    interp_count_free(e);
}

/* ---- finding and creating blocks */

bool interp_has_block(const struct engine_state *e, uint64_t pc)
{
    return hash_find(e, pc) != NULL;
}

static uint32_t add_block(struct engine_state *e, const struct translation *t)
{
    if (e->block_count == e->block_capacity) {
        e->block_capacity = e->block_capacity ? 2 * e->block_capacity : 4096;
        e->blocks = realloc(e->blocks, e->block_capacity * sizeof *e->blocks);
        if (e->blocks == NULL)
            abort();
    }
    e->blocks[e->block_count] = (struct block){.pc = t->pc, .first_op = e->used, .insns = t->insns};
    return e->block_count++;
}

/* Translates a block of at most `max_insns` instructions. keep: adds it to the arena and the tables. Otherwise the
 * block lies behind the used part of the arena, and the next translation overwrites it. The pages of a block are
 * marked, so that a store to its code calls the engine's watcher; not those that are verified. A block of one
 * instruction needs no mark: no store can come before its end. */
static const struct block *make_block(struct engine_state *e, uint64_t pc, unsigned max_insns, bool keep)
{
    struct translation made;
    if (e->used + BLOCK_OPS > ARENA_OPS)
        interp_flush(e);
    uint32_t first_segment = e->counts.segment_count;
    interp_translate(e, pc, max_insns, &made);
    uint32_t index = add_block(e, &made);
    e->blocks[index].first_segment = first_segment;
    for (unsigned k = 0; k < made.page_count && max_insns > 1; k++)
        if (!interp_page_is_verified(e, made.pages[k]))
            guest_mark_code(e->memory, made.pages[k] * GUEST_PAGE, true);
    if (!keep) {
        e->block_count--;
        return &e->blocks[index];
    }
    e->used += made.ops;
    for (unsigned k = 0; k < made.page_count; k++)
        page_add_block(e, made.pages[k], index);
    if (2 * e->block_count > e->hash_size)
        hash_grow(e);
    else
        hash_insert(e, index);
    return &e->blocks[index];
}

static const struct block *find_block(struct engine_state *e, uint64_t pc)
{
    const struct block *b = hash_find(e, pc);
    return b ? b : make_block(e, pc, BLOCK_INSNS, true);
}

const struct op *interp_find(struct engine_state *e, uint64_t pc)
{
    const struct op *op = &e->arena[find_block(e, pc)->first_op];
    e->jump_cache[jump_cache_slot(pc)] = (struct jump_cache_entry){pc, op};
    return op;
}

static const struct block *make_short_block(struct engine_state *e, uint64_t pc, int64_t insns)
{
    const struct block *b = make_block(e, pc, (unsigned)insns, false);
    interp_count_short(e);
    return b;
}

/* If the block is too long, translates a shorter one for a single use. */
const struct op *interp_find_short(struct engine_state *e, uint64_t pc, int64_t insns)
{
    const struct block *b = find_block(e, pc);
    if (b->insns > insns)
        b = make_short_block(e, pc, insns);
    return &e->arena[b->first_op];
}

const struct op *interp_find_single(struct engine_state *e, uint64_t pc)
{
    return &e->arena[make_short_block(e, pc, 1)->first_op];
}

bool interp_is_stale(const struct engine_state *e, const struct op *op)
{
    const struct block *b = interp_block_of(e, op);
    return (uint32_t)(op - e->arena) >= e->used ? b->insns > 1 : is_dead(b);
}

const struct op *interp_find_resumed(struct engine_state *e, const struct hart *h, int64_t insns)
{
    uint32_t basic;
    if (!e->hooks.count_blocks || !interp_count_resumes(e, h, &basic))
        return NULL;
    const struct block *b = make_short_block(e, h->pc, insns < BLOCK_INSNS ? insns : BLOCK_INSNS);
    interp_count_resumed(e, b, basic);
    return &e->arena[b->first_op];
}

const struct block *interp_block_of(const struct engine_state *e, const struct op *op)
{
    uint32_t index = (uint32_t)(op - e->arena), low = 0, high = e->block_count;
    if (index >= e->used)
        return &e->blocks[e->block_count]; /* a block that was not kept: its entry is behind the last kept one */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (e->blocks[middle].first_op <= index)
            low = middle;
        else
            high = middle;
    }
    return &e->blocks[low];
}
