/* Instructions per basic block, counted at the exits of translated blocks.
 *
 * A translated block holds several basic blocks in a row: its segments. Whoever leaves it through an exit has passed
 * all segments up to that exit, so one counter per exit, counted up when it is taken, tells how often each segment ran.
 * That is two more host instructions per block that is left, and nothing in between. A counter begins at -1 and so
 * becomes 0 when its exit is taken for the first time: then the exit is noted, and only noted ones are collected, since
 * large programs have a hundred times as many as run in an interval. Traps, system calls and short blocks are rare and
 * are charged at once. The sums are exact: what is told adds up to the instructions that retired. */
#include <stdlib.h>

#include "emulate/interp_priv.h"

/* Makes room for one more element. */
static void *room(void *array, uint32_t count, uint32_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : 4096;
    array = realloc(array, *capacity * bytes);
    if (array == NULL)
        abort();
    return array;
}

/* ---- basic blocks by the pc of their entry */

static uint32_t slot_of(const struct block_counts *c, uint64_t pc)
{
    uint32_t i = (uint32_t)((pc >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (c->hash_size - 1);
    while (c->hash[i] != 0 && c->basic[c->hash[i] - 1].pc != pc)
        i = (i + 1) & (c->hash_size - 1);
    return i;
}

static void grow_hash(struct block_counts *c)
{
    free(c->hash);
    c->hash_size = c->hash_size ? 2 * c->hash_size : 1 << 13;
    c->hash = calloc(c->hash_size, sizeof *c->hash);
    if (c->hash == NULL)
        abort();
    for (uint32_t k = 0; k < c->basic_count; k++)
        c->hash[slot_of(c, c->basic[k].pc)] = k + 1;
}

static uint32_t basic_block_at(struct block_counts *c, uint64_t pc)
{
    if (2 * (c->basic_count + 1) > c->hash_size)
        grow_hash(c);
    uint32_t *found = &c->hash[slot_of(c, pc)];
    if (*found == 0) {
        c->basic = room(c->basic, c->basic_count, &c->basic_capacity, sizeof *c->basic);
        c->basic[c->basic_count] = (struct basic_block){pc, 0};
        *found = ++c->basic_count;
    }
    return *found - 1;
}

/* ---- while a block is translated */

void interp_count_segment(struct engine_state *e, uint64_t pc, unsigned insns)
{
    struct block_counts *c = &e->counts;
    c->segment = room(c->segment, c->segment_count, &c->segment_capacity, sizeof *c->segment);
    c->segment[c->segment_count++] = (struct segment){basic_block_at(c, pc), insns};
}

uint32_t interp_count_exit(struct engine_state *e, uint32_t op, uint32_t first_segment, uint32_t last_segment)
{
    struct block_counts *c = &e->counts;
    c->exit = room(c->exit, c->exit_count, &c->exit_capacity, sizeof *c->exit);
    c->noted = room(c->noted, c->exit_count, &c->noted_capacity, sizeof *c->noted);
    c->exit[c->exit_count] = (struct counted_exit){op, first_segment, last_segment};
    return c->exit_count++;
}

/* ---- while it runs */

void interp_count_note(struct engine_state *e, const struct op *op)
{
    struct block_counts *c = &e->counts;
    c->noted[c->noted_count++] = (uint32_t)op[1].constant;
}

/* ---- adding up */

static void charge(struct block_counts *c, const struct segment *s, uint64_t insns)
{
    c->basic[s->basic].insns += insns;
}

static struct op *tally_of(struct engine_state *e, const struct counted_exit *exit)
{
    return &e->arena[exit->op + 1];
}

/* Exits are collected in the order in which they were noted, which is none in memory: what some of them need is asked
 * for while others are collected. */
enum { AHEAD = 8 };

/* The exits that were noted after the first so many: what each has passed, as often as it was taken. */
static void collect_noted(struct engine_state *e, uint32_t before)
{
    struct block_counts *c = &e->counts;
    while (c->noted_count > before) {
        if (c->noted_count > before + AHEAD) {
            const struct counted_exit *soon = &c->exit[c->noted[c->noted_count - 1 - AHEAD]];
            __builtin_prefetch(tally_of(e, soon), 1);
            __builtin_prefetch(&c->segment[soon->first_segment]);
        }
        if (c->noted_count > before + 2 * AHEAD)
            __builtin_prefetch(&c->exit[c->noted[c->noted_count - 1 - 2 * AHEAD]]);
        const struct counted_exit *exit = &c->exit[c->noted[--c->noted_count]];
        struct op *tally = tally_of(e, exit);
        uint64_t taken = tally->taken + 1;
        tally->taken = UINT64_MAX;
        /* The number wraps before the first segment if the exit comes before any: it passed none. */
        for (uint32_t s = exit->first_segment; s != exit->last_segment + 1; s++)
            charge(c, &c->segment[s], taken * c->segment[s].insns);
    }
}

void interp_count_forget(struct engine_state *e)
{
    collect_noted(e, 0);
    e->counts.segment_count = e->counts.exit_count = 0;
    e->counts.short_block = false;
}

void interp_count_part(struct engine_state *e, const struct op *op, unsigned insns)
{
    struct block_counts *c = &e->counts;
    const struct segment *s = &c->segment[interp_block_of(e, op)->first_segment];
    for (; insns > 0; s++) {
        unsigned here = insns < s->insns ? insns : s->insns;
        charge(c, s, here);
        insns -= here;
    }
}

/* ---- short blocks, which end where a quantum does and so in the middle of basic blocks */

bool interp_count_resumes(struct engine_state *e, const struct hart *h, uint32_t *basic)
{
    for (unsigned k = 0; k < RESUMED_HARTS; k++) {
        struct resumed *r = &e->counts.resumed[k];
        if (r->hart == h) {
            r->hart = NULL; /* wherever the hart goes on now, it is there no longer */
            *basic = r->basic;
            return r->pc == h->pc;
        }
    }
    return false;
}

void interp_count_resumed(struct engine_state *e, const struct block *b, uint32_t basic)
{
    if (b->first_segment < e->counts.segment_count)
        e->counts.segment[b->first_segment].basic = basic;
}

static void note_resumption(struct block_counts *c, const struct hart *h, uint32_t basic)
{
    unsigned k = 0;
    while (k < RESUMED_HARTS && c->resumed[k].hart != h)
        k++;
    if (k == RESUMED_HARTS)
        k = c->next_resumed++ % RESUMED_HARTS;
    c->resumed[k] = (struct resumed){h, h->pc, basic};
}

void interp_count_short(struct engine_state *e)
{
    e->counts.short_block = true;
    e->counts.noted_before = e->counts.noted_count;
}

void interp_count_short_done(struct engine_state *e, const struct hart *h)
{
    struct block_counts *c = &e->counts;
    if (!c->short_block) /* it dropped the arena, itself included */
        return;
    const struct block *b = &e->blocks[e->block_count];
    bool cut = c->exit_count > b->first_exit && c->cut_exit == c->exit_count - 1 &&
               tally_of(e, &c->exit[c->cut_exit])->taken != UINT64_MAX;
    if (cut && h->trap == TRAP_NONE)
        note_resumption(c, h, c->segment[c->exit[c->cut_exit].last_segment].basic);
    collect_noted(e, c->noted_before);
    c->segment_count = b->first_segment;
    c->exit_count = b->first_exit;
    c->short_block = false;
}

/* ---- as the engine's users see it */

void interp_count_tell(struct engine_state *e, block_counts_told *tell, void *context)
{
    struct block_counts *c = &e->counts;
    collect_noted(e, 0);
    for (uint32_t k = 0; k < c->basic_count; k++) {
        if (c->basic[k].insns > 0)
            tell(context, k, c->basic[k].pc, c->basic[k].insns);
        c->basic[k].insns = 0;
    }
}

void interp_count_free(struct engine_state *e)
{
    struct block_counts *c = &e->counts;
    free(c->basic);
    free(c->hash);
    free(c->segment);
    free(c->exit);
    free(c->noted);
}
