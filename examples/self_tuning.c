/* A program that looks at its own stall breakdown and changes its ways. For a 64-bit RISC-V Linux:
 *
 *     riscv64-linux-gnu-gcc -O2 -static -I INCLUDE -o self_tuning self_tuning.c
 *     cyclescope stalls --interval 50K ./self_tuning tuned
 *
 * It works off jobs. A job adds up what is in the records of one of its many lists, and there are two ways to do that.
 *
 * In pointer order it goes from record to record. That is little to execute; but where the next record is has to arrive
 * before anything of it can be asked for, so every cache miss is waited for alone.
 *
 * In blocked order records come from an index of the list, a block at a time: first one word of each record of the
 * block is loaded, for nothing but that the caches fetch all of them at once; then the block is worked off. That is
 * more to execute, but misses wait together.
 *
 * Which one is better depends on whether the lists of the jobs that come are in the cache, which the program does not
 * know. `tuned` asks: if data misses take more than a quarter of the cycles it uses blocks; if they take next to
 * nothing, there is nothing that blocks could hide, and it goes back to pointers. */
#include <cyclescope/cyclescope.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LISTS = 512,
    RECORDS = 64,        /* of a list */
    JOBS = 60000,        /* to be done */
    JOBS_PER_TIME = 8,   /* before it asks what time it is */
    LOOK_CYCLES = 20000, /* before it looks at itself again */
    BLOCK = 16           /* records; as many misses as caches bear at once, and a few more */
};

struct record {
    struct record *next;
    uint32_t price, count;
    uint64_t unused[6]; /* a record fills a line */
};

struct list {
    struct record *first;
    struct record *index[RECORDS]; /* the same records in the same order */
};

static struct record pool[LISTS * RECORDS];
static struct list lists[LISTS];

static uint64_t state = 1;
static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)((state >> 33) % below);
}

/* ---- the two orders */

/* What a record is worth. */
static inline uint64_t value(const struct record *r, uint64_t sum)
{
    return sum + (uint64_t)r->price * r->count;
}

static uint64_t sum_by_pointers(const struct list *l)
{
    uint64_t sum = 0;
    for (const struct record *r = l->first; r; r = r->next)
        sum = value(r, sum);
    return sum;
}

static uint64_t sum_by_blocks(const struct list *l)
{
    uint64_t sum = 0;
    for (int i = 0; i < RECORDS; i += BLOCK) {
        for (int k = i; k < i + BLOCK; k++)
            (void)*(volatile const uint32_t *)&l->index[k]->price;
        for (int k = i; k < i + BLOCK; k++)
            sum = value(l->index[k], sum);
    }
    return sum;
}

/* ---- input */

/* The records of a list lie together, in any order. */
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

/* For some time all jobs want the same list or two, then for some time any list. */
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
    int monitored;
    int blocked;
    uint64_t next; /* cycle in which it looks again */
    unsigned switches;
};

static uint64_t now(void)
{
    uint64_t cycle;
    __asm__ volatile("rdcycle %0" : "=r"(cycle));
    return cycle;
}

static void look(struct tuner *t)
{
    struct cyclescope_breakdown b;
    if (!t->monitored || now() < t->next || cyclescope_self_read(&b) <= 0)
        return;
    t->next = now() + LOOK_CYCLES;
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
        if (job % JOBS_PER_TIME == 0)
            look(&t);
        const struct list *l = next_job();
        sum += t.blocked ? sum_by_blocks(l) : sum_by_pointers(l);
    }
    printf("%s: sum %llu, %u switches\n", mode, (unsigned long long)sum, t.switches);
    return 0;
}
