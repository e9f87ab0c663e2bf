/* Programs with phases at exactly known instruction counts.
 *
 * The program follows a plan of parts: a number of units of one kind of work, then a number of units of another. It
 * chooses the kind of work by the instructions retired so far (the counter `instret`), so that each boundary is where
 * the plan has it, to within one call of the work function, and errors do not accumulate.
 *
 *     phase_shapes SHAPE [UNIT]      UNIT in instructions (100000)
 *
 *     cyclic   20 units of initialization, then 20 periods of 10 units: 6 of one kind, 4 of another
 *     brief    like cyclic, with an initialization of 3 units, shorter than a period
 *     lengthy  like cyclic, with an initialization of 100 units, as long as ten periods
 *     endless  like cyclic, without initialization
 *     even     like cyclic, with 5 and 5 units: both kinds differ from the whole run by the same amount
 *     alike    like cyclic, with two kinds that call the same functions in different proportions
 *     uneven   like cyclic, with parts of 95 to 105 % of their length
 *     nested   15 units of initialization, then 8 periods of 30: four short periods of 5, 10 units of a third kind
 *     ramp     30 units of initialization, then 90 of one kind: no period
 *     flat     120 units of one kind: no initialization, no period */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 64, ITERATIONS = 8 };

static volatile uint64_t cell[CELLS];

static uint64_t retired(void)
{
    uint64_t now;
    __asm__ volatile("rdinstret %0" : "=r"(now));
    return now;
}

#define WORK(name, step)                                                                                               \
    static __attribute__((noinline)) uint64_t name(uint64_t x)                                                         \
    {                                                                                                                  \
        for (unsigned i = 0; i < ITERATIONS; i++)                                                                      \
            step;                                                                                                      \
        return x;                                                                                                      \
    }
WORK(fill, cell[(x + i) % CELLS] = ~x)
WORK(add, x += cell[i % CELLS] ^ i)
WORK(multiply, x = x * 6364136223846793005u + cell[i % CELLS])
WORK(shift, x ^= x << 13 ^ x >> 7 ^ cell[i % CELLS])

static uint64_t mostly_add(uint64_t x)
{
    return add(add(multiply(x)));
}

static uint64_t mostly_multiply(uint64_t x)
{
    return multiply(multiply(add(x)));
}

struct part {
    uint64_t (*work)(uint64_t x);
    unsigned units;
};

struct shape {
    const char *name;
    unsigned init_units;  /* units of `fill` before the first period */
    unsigned repeats;     /* periods */
    struct part part[10]; /* parts of a period; 0 units end the list */
    unsigned uneven;      /* percent by which a part may be longer or shorter, at random */
};

#define PAIR                                                                                                           \
    {add, 3},                                                                                                          \
    {                                                                                                                  \
        multiply, 2                                                                                                    \
    }
static const struct shape shapes[] = {
    {"cyclic", 20, 20, {{add, 6}, {multiply, 4}}, 0},
    {"brief", 3, 20, {{add, 6}, {multiply, 4}}, 0},
    {"lengthy", 100, 20, {{add, 6}, {multiply, 4}}, 0},
    {"endless", 0, 20, {{add, 6}, {multiply, 4}}, 0},
    {"even", 20, 20, {{add, 5}, {multiply, 5}}, 0},
    {"alike", 20, 20, {{mostly_add, 6}, {mostly_multiply, 4}}, 0},
    {"uneven", 20, 20, {{add, 6}, {multiply, 4}}, 5},
    {"nested", 15, 8, {PAIR, PAIR, PAIR, PAIR, {shift, 10}}, 0},
    {"ramp", 30, 1, {{add, 90}}, 0},
    {"flat", 0, 1, {{add, 120}}, 0},
};

/* Repeats `work` until the program has retired `end` instructions. */
static uint64_t until(uint64_t end, uint64_t (*work)(uint64_t x), uint64_t x)
{
    while (retired() < end)
        x = work(x);
    return x;
}

/* Instructions of a part of this many units, with the random deviation of an uneven shape. */
static uint64_t length_of(const struct shape *s, unsigned units, uint64_t unit, uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1;
    uint64_t percent = 100 - s->uneven + (*state >> 33) % (2 * s->uneven + 1);
    return units * unit * percent / 100;
}

static uint64_t follow(const struct shape *s, uint64_t unit)
{
    uint64_t end = s->init_units * unit, x = until(end, fill, 1), state = 1;
    for (unsigned k = 0; k < s->repeats; k++)
        for (const struct part *p = s->part; p->units; p++)
            x = until(end += length_of(s, p->units, unit, &state), p->work, x);
    return x;
}

int main(int argc, char **argv)
{
    uint64_t unit = argc > 2 ? strtoull(argv[2], NULL, 0) : 100000;
    for (unsigned k = 0; argc > 1 && k < sizeof shapes / sizeof shapes[0]; k++)
        if (strcmp(argv[1], shapes[k].name) == 0) {
            printf("%s: %s\n", argv[1], follow(&shapes[k], unit) ? "done" : "done with 0");
            return 0;
        }
    fputs("usage: phase_shapes SHAPE [UNIT]\nshapes:", stderr);
    for (unsigned k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        fprintf(stderr, " %s", shapes[k].name);
    fputc('\n', stderr);
    return 1;
}
