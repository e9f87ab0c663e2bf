/* Bound by memory: a walk along a random cycle of records, each of which holds the address of the next. The address of
 * an access is the result of the previous one, so no two misses overlap.
 *
 * The cycle covers 48 MB and visits each record once per round: a line is replaced before it is needed again. Records
 * lie 256 bytes apart, so that few records cover much memory: they use one 64-byte line in four, and a quarter of the
 * sets of a cache with such lines. The cycle visits all records of a page before it leaves the page: one translation
 * serves 16 misses. */
#include <stdint.h>
#include <stdio.h>

enum { PAGES = 12288, PER_PAGE = 16, ROUNDS = 3 };

struct record {
    const struct record *next;
    char rest[248]; /* padding, never accessed */
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

/* Fills `order` with the numbers 0 to count - 1 in random order. */
static void shuffle(uint16_t *order, unsigned count, uint64_t *state)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned j = next_random(state) % (i + 1);
        order[i] = order[j];
        order[j] = (uint16_t)i;
    }
}

/* Links all records to one cycle and returns its first record. */
static const struct record *link_records(void)
{
    static uint16_t page_order[PAGES], order[PER_PAGE];
    uint64_t state = 1;
    struct record first, *last = &first;
    shuffle(page_order, PAGES, &state);
    shuffle(order, PER_PAGE, &state);
    for (unsigned i = 0; i < PAGES; i++) {
        struct page *p = &page[page_order[i]];
        unsigned flip = next_random(&state) % PER_PAGE; /* gives each page its own order at little cost */
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
        /* Work between two misses. The next load does not depend on it, only the checksum does. */
        place ^= place << 13;
        place ^= place >> 7;
        place ^= place << 17;
        sum = sum * 31 + place;
    }
    printf("checksum %016llx\n", (unsigned long long)sum);
    return 0;
}
