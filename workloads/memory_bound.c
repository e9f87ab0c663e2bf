/* Bound by memory: a walk along a random cycle of records, each of which holds the address of the next. The address of
 * an access is the result of the one before, so no two misses overlap.
 *
 * The cycle takes 48 MB and comes to each record once per round: when a line's turn comes again, it has been replaced.
 * Records lie 256 bytes apart, so that few of them need much room: they use one line of 64 bytes in four, and a quarter
 * of the sets of a cache with such lines. The cycle stays in a page until it has seen all of the page's records: one
 * translation serves 16 misses. */
#include <stdint.h>
#include <stdio.h>

enum { PAGES = 12288, PER_PAGE = 16, ROUNDS = 3 };

struct record {
    const struct record *next;
    char rest[248]; /* never touched */
};

struct page {
    struct record record[PER_PAGE];
} __attribute__((aligned(4096)));

static struct page page[PAGES];

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* The numbers up to a count, in random order. */
static void shuffle(uint16_t *order, unsigned count, uint64_t *state)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned j = next_random(state) % (i + 1);
        order[i] = order[j];
        order[j] = (uint16_t)i;
    }
}

/* Returns a record of the cycle. */
static const struct record *link_records(void)
{
    static uint16_t page_order[PAGES], order[PER_PAGE];
    uint64_t state = 1;
    struct record first, *last = &first;
    shuffle(page_order, PAGES, &state);
    shuffle(order, PER_PAGE, &state);
    for (unsigned i = 0; i < PAGES; i++) {
        struct page *p = &page[page_order[i]];
        unsigned flip = next_random(&state) % PER_PAGE; /* gives each page an order of its own, for little work */
        for (unsigned j = 0; j < PER_PAGE; j++) {
            struct record *r = &p->record[order[j] ^ flip];
            last->next = r;
            last = r;
        }
    }
    last->next = first.next;
    return first.next;
}

int main(void)
{
    const struct record *r = link_records();
    uint64_t sum = 0;
    for (unsigned i = 0; i < ROUNDS * PAGES * PER_PAGE; i++) {
        uint64_t place = ((uintptr_t)r - (uintptr_t)page) / sizeof *r;
        r = r->next;
        /* Work as there is between two misses; only the sum waits for it. */
        place ^= place << 13;
        place ^= place >> 7;
        place ^= place << 17;
        sum = sum * 31 + place;
    }
    printf("checksum %016llx\n", (unsigned long long)sum);
    return 0;
}
