/* Instructions and entries per basic block, counted at the exits of translated blocks.
 *
 * A translated block holds several basic blocks in a row: its segments. A run that leaves through an exit has passed
 * all segments up to that exit. So one counter per exit (its tally), incremented when the exit is taken, is enough to
 * compute how often each segment ran. This costs two more host instructions per block that is left, and nothing in
 * between.
 *
 * A tally starts at -1 and becomes 0 when its exit is taken for the first time. At that moment the exit is noted, that
 * is, added to the list `noted`. Only noted exits are collected, since a large program has a hundred times as many
 * exits as are taken in an interval. For the same reason a segment gets the number of its basic block only when it is
 * first found to have run, and a bitmap says which numbers have instructions to report.
 *
 * Traps, system calls and short blocks are rare and are charged at once. The sums are exact: the reported counts add up
 * to the instructions that retired. */
#include <stdlib.h>

#include "emulate/interpreter/interp_priv.h"

enum { WORD = 64 }; /* bits in a word of the bitmap `live` */

/* Returns the array with room for element `count`; aborts when out of memory. */
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

static uint32_t add_basic_block(struct block_counts *c, const struct basic_block *b)
{
    uint32_t k = c->basic_count;
    c->basic = room(c->basic, k, &c->basic_capacity, sizeof *c->basic);
    c->work = room(c->work, k, &c->work_capacity, sizeof *c->work);
    c->live = room(c->live, k / WORD, &c->live_capacity, sizeof *c->live);
    c->basic[k] = *b;
    c->work[k] = (struct block_work){0};
    if (k % WORD == 0)
        c->live[k / WORD] = 0;
    return c->basic_count++;
}

static uint32_t number_of_block(struct block_counts *c, const struct basic_block *b)
{
    if (2 * (c->basic_count + 1) > c->hash_size)
        grow_hash(c);
    uint32_t *found = &c->hash[slot_of(c, b->pc)];
    if (*found == 0)
        *found = add_basic_block(c, b) + 1;
    return *found - 1;
}

/* ---- while a block is translated */

void interp_count_segment(struct engine_state *e, const struct basic_block *b, unsigned insns)
{
    struct block_counts *c = &e->counts;
    c->segment = room(c->segment, c->segment_count, &c->segment_capacity, sizeof *c->segment);
    c->segment_block = room(c->segment_block, c->segment_count, &c->segment_block_capacity, sizeof *c->segment_block);
    c->segment_block[c->segment_count] = *b;
    c->segment[c->segment_count++] = (struct segment){UNNUMBERED, (uint16_t)insns, 1};
}

/* ---- while the block runs */

void interp_count_note(struct engine_state *e, const struct op *op)
{
    struct block_counts *c = &e->counts;
    c->noted = room(c->noted, c->noted_count, &c->noted_capacity, sizeof *c->noted);
    c->noted[c->noted_count++] = (uint32_t)(op - e->arena);
}

/* ---- adding up */

/* The number of the segment's basic block; assigns one if it has none yet. */
static uint32_t number_of(struct block_counts *c, struct segment *s)
{
    if (s->basic == UNNUMBERED)
        s->basic = number_of_block(c, &c->segment_block[s - c->segment]);
    return s->basic;
}

/* Adds instructions and entries to the segment's basic block. */
static void charge(struct block_counts *c, struct segment *s, uint64_t insns, uint64_t entries)
{
    uint32_t basic = number_of(c, s);
    c->work[basic].insns += insns;
    c->work[basic].entries += entries;
    c->live[basic / WORD] |= UINT64_C(1) << basic % WORD;
}

/* Collects the noted exits from index `before` on: charges the segments before each exit as often as it was taken, and
 * resets its tally. The exits are scattered in memory, so the data of later ones are prefetched while earlier ones are
 * collected. */
static void collect_noted(struct engine_state *e, uint32_t before)
{
    enum { AHEAD = 8 };
    struct block_counts *c = &e->counts;
    for (uint32_t k = before; k < c->noted_count; k++) {
        if (k + 3 * AHEAD < c->noted_count)
            __builtin_prefetch(&e->arena[c->noted[k + 3 * AHEAD] + 1], 1);
        if (k + 2 * AHEAD < c->noted_count)
            __builtin_prefetch(&c->segment[tally_first_segment(&e->arena[c->noted[k + 2 * AHEAD] + 1])]);
        if (k + AHEAD < c->noted_count) {
            const struct op *soon = &e->arena[c->noted[k + AHEAD] + 1];
            if (tally_segments(soon) > 0 && c->segment[tally_first_segment(soon)].basic != UNNUMBERED)
                __builtin_prefetch(&c->work[c->segment[tally_first_segment(soon)].basic], 1);
        }
        struct op *tally = &e->arena[c->noted[k] + 1];
        uint64_t taken = tally->taken + 1;
        tally->taken = UINT64_MAX;
        struct segment *s = &c->segment[tally_first_segment(tally)];
        for (struct segment *end = s + tally_segments(tally); s < end; s++)
            charge(c, s, taken * s->insns, taken * s->entries);
    }
    c->noted_count = before;
}

void interp_count_forget(struct engine_state *e)
{
    collect_noted(e, 0);
    e->counts.segment_count = 0;
    e->counts.short_block = false;
}

void interp_count_part(struct engine_state *e, const struct op *op, unsigned insns)
{
    struct block_counts *c = &e->counts;
    struct segment *s = &c->segment[interp_block_of(e, op)->first_segment];
    for (; insns > 0; s++) {
        unsigned here = insns < s->insns ? insns : s->insns;
        charge(c, s, here, s->entries);
        insns -= here;
    }
}

/* ---- short blocks, which end with a quantum, possibly in the middle of a basic block */

bool interp_count_resumes(struct engine_state *e, const struct hart *h, uint32_t *basic)
{
    for (unsigned k = 0; k < RESUMED_HARTS; k++) {
        struct resumed *r = &e->counts.resumed[k];
        if (r->hart == h) {
            r->hart = NULL; /* used up, even if the hart continues at another pc */
            *basic = r->basic;
            return r->pc == h->pc;
        }
    }
    return false;
}

void interp_count_resumed(struct engine_state *e, const struct block *b, uint32_t basic)
{
    if (b->first_segment < e->counts.segment_count) {
        e->counts.segment[b->first_segment].basic = basic;
        e->counts.segment[b->first_segment].entries = 0;
    }
}

/* Remembers that the hart continues at h->pc in the middle of this basic block. */
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
    if (!c->short_block) /* the block flushed the arena, and with it its own segments */
        return;
    const struct op *tally = c->cut_exit == UINT32_MAX ? NULL : &e->arena[c->cut_exit + 1];
    if (tally && tally->taken != UINT64_MAX && h->trap == TRAP_NONE)
        note_resumption(c, h, number_of(c, &c->segment[tally_first_segment(tally) + tally_segments(tally) - 1]));
    collect_noted(e, c->noted_before);
    c->segment_count = e->blocks[e->block_count].first_segment;
    c->short_block = false;
}

/* ---- engine.block_counts */

void interp_count_report(struct engine_state *e, block_count_callback *report, void *context)
{
    struct block_counts *c = &e->counts;
    collect_noted(e, 0);
    for (uint32_t word = 0; word * WORD < c->basic_count; word++) {
        for (; c->live[word]; c->live[word] &= c->live[word] - 1) {
            uint32_t k = word * WORD + (uint32_t)__builtin_ctzll(c->live[word]);
            report(context, k, &c->basic[k], c->work[k].insns, c->work[k].entries);
            c->work[k] = (struct block_work){0};
        }
    }
}

void interp_count_free(struct engine_state *e)
{
    struct block_counts *c = &e->counts;
    free(c->basic);
    free(c->work);
    free(c->live);
    free(c->hash);
    free(c->segment);
    free(c->segment_block);
    free(c->noted);
}
