/* A program that reads its own stall breakdown and adapts to it. For 64-bit RISC-V Linux:
 *
 *     riscv64-linux-gnu-gcc -O2 -static -I INCLUDE -o self_tuning self_tuning.c
 *     cyclescope stalls --interval-cycles 50K ./self_tuning tuned
 *
 * The program processes jobs. A job sums the records of one of many lists. It can visit the records in two orders.
 *
 * Pointer order follows the links. It executes few instructions, but the address of the next record must arrive before
 * that record can be loaded, so cache misses do not overlap.
 *
 * Blocked order uses an index of the list, one block at a time. It first loads one word of each record in the block,
 * only to make the caches fetch all of them at once; then it processes the block. It executes more instructions, but
 * its cache misses overlap.
 *
 * The better order depends on whether the lists of the coming jobs are in the cache, which the program cannot know in
 * advance. In mode `tuned` it reads its breakdown: when data misses take more than a quarter of the cycles it switches
 * to blocked order; when they take less than 5 %, blocks have nothing to hide, and it switches back to pointers. */
#include <cyclescope/cyclescope.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LISTS = 512,
    RECORDS = 64,        /* per list */
    JOBS = 60000,        /* in total */
    JOBS_PER_CHECK = 8,  /* jobs between two reads of the cycle counter */
    READ_CYCLES = 20000, /* cycles between two reads of the breakdown */
    BLOCK = 16           /* records per block: a few more than the misses that a cache can have outstanding */
};

struct record {
    struct record *next;
    uint32_t price, count;
    uint64_t unused[6]; /* makes a record fill a cache line */
};

struct list {
    struct record *first;
    struct record *index[RECORDS]; /* all records of the list, in link order */
};

static struct record pool[LISTS * RECORDS];
static struct list lists[LISTS];

static uint64_t state = 1;
/* Pseudo-random number below `below`. */
static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)((state >> 33) % below);
}

/* ---- the two orders */

/* Adds the value of a record to `sum`. */
static inline uint64_t add_value(const struct record *r, uint64_t sum)
{
    return sum + (uint64_t)r->price * r->count;
}

static uint64_t sum_by_pointers(const struct list *l)
{
    uint64_t sum = 0;
    for (const struct record *r = l->first; r; r = r->next)
        sum = add_value(r, sum);
    return sum;
}

static uint64_t sum_by_blocks(const struct list *l)
{
    uint64_t sum = 0;
    for (int i = 0; i < RECORDS; i += BLOCK) {
        for (int k = i; k < i + BLOCK; k++)
            (void)*(volatile const uint32_t *)&l->index[k]->price;
        for (int k = i; k < i + BLOCK; k++)
            sum = add_value(l->index[k], sum);
    }
    return sum;
}

/* ---- input */

/* Fills a list with RECORDS consecutive records at `place`, linked in random order. */
static void make_list(struct list *l, struct record *place)
{
    uint32_t order[RECORDS];
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint32_t k = draw(i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (int i = RECORDS - 1; i >= 0; i--) {
        struct record *r = &place[order[i]];
        *r = (struct record){.next = l->first, .price = draw(1000), .count = draw(10)};
        l->first = l->index[i] = r;
    }
}

/* List of the next job. Phases alternate: in one, all jobs use the same two lists; in the other, each uses a random
 * list. */
static const struct list *next_job(void)
{
    static int left, few;
    static uint32_t favourite;
    if (left-- == 0) {
        few = !few;
        left = few ? 12000 + (int)draw(8000) : 400 + (int)draw(400);
        favourite = draw(LISTS - 1);
    }
    return &lists[few ? favourite + draw(2) : draw(LISTS)];
}

/* ---- tuning */

struct tuner {
    int monitored;     /* breakdowns are available */
    int blocked;       /* current order */
    uint64_t next;     /* cycle of the next read of the breakdown */
    unsigned switches; /* changes of order so far */
};

static uint64_t now(void)
{
    uint64_t cycle;
    __asm__ volatile("rdcycle %0" : "=r"(cycle));
    return cycle;
}

/* Chooses the order by the latest breakdown, at most once per READ_CYCLES. The two thresholds prevent oscillation. */
static void choose_order(struct tuner *t)
{
    struct cyclescope_breakdown b;
    if (!t->monitored || now() < t->next || cyclescope_self_read(&b) <= 0)
        return;
    t->next = now() + READ_CYCLES;
    double misses = cyclescope_share(&b, CYCLESCOPE_DCACHE) + cyclescope_share(&b, CYCLESCOPE_TRANSLATION);
    int blocked = t->blocked ? misses > 0.05 : misses > 0.25;
    t->switches += blocked != t->blocked;
    t->blocked = blocked;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "tuned";
    struct cyclescope_breakdown b;
    struct tuner t = {.blocked = strcmp(mode, "blocked") == 0};
    if (strcmp(mode, "tuned") == 0)
        t.monitored = cyclescope_self_read(&b) >= 0;
    else if (!t.blocked && strcmp(mode, "pointer") != 0) {
        fprintf(stderr, "usage: self_tuning [tuned | pointer | blocked]\n");
        return 2;
    }
    uint64_t sum = 0;
    for (int i = 0; i < LISTS; i++)
        make_list(&lists[i], &pool[i * RECORDS]);
    for (int job = 0; job < JOBS; job++) {
        if (job % JOBS_PER_CHECK == 0)
            choose_order(&t);
        const struct list *l = next_job();
        sum += t.blocked ? sum_by_blocks(l) : sum_by_pointers(l);
    }
    printf("%s: sum %llu, %u switches\n", mode, (unsigned long long)sum, t.switches);
    return 0;
}
