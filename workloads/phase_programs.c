/* Programs whose phases are known from their source: small versions of what real programs do, not a plan of phases.
 *
 *     phase_programs PROGRAM [REPEATS]
 *
 * Each program notes the counter `instret` where its initialization ends and where each repetition begins, and prints
 * what it noted at its end, in instructions:
 *
 *     init N                         initialization ends here; 0: no initialization
 *     period MEAN LEAST MOST         length of a repetition; 0: the program has no period
 *     inner MEAN LEAST MOST          length of a shorter period within it; 0: none
 *
 *     relax        sweeps over a grid: three kernels per time step, after the grid is filled
 *     interpreter  a bytecode interpreter that compiles its source text, then runs a loop of four different parts
 *     sorting      random numbers are made, sorted and searched; the work depends on the numbers
 *     levels       time steps in rounds: eight steps and a summary
 *     growing      each repetition is longer than the one before, 1.5 times from first to last
 *     irregular    repetitions whose parts are up to 20 % longer or shorter, by chance
 *     stepwise     initialization in five steps, of which two do what the main loop does as well
 *     chance       kernels of random kinds and random lengths: no period
 *     steady       initialization, then one small loop: no period
 *     seldom       few long repetitions
 *     often        very many short repetitions
 *     collecting   short repetitions; each seventh is followed by a collection of garbage */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 128, CELLS = SIDE * SIDE, MARKS = 4096 };

static double grid[CELLS], other[CELLS];
static uint32_t number[CELLS], link_to[CELLS];

/* ---- what is known */

static uint64_t retired(void)
{
    uint64_t now;
    __asm__ volatile("rdinstret %0" : "=r"(now));
    return now;
}

struct marks {
    uint64_t at[MARKS];
    unsigned count;
};

static uint64_t init_end;
static struct marks outer, inner;

static void mark(struct marks *m)
{
    if (m->count < MARKS)
        m->at[m->count++] = retired();
}

static void print_marks(const char *name, const struct marks *m)
{
    uint64_t least = UINT64_MAX, most = 0;
    if (m->count < 3) {
        printf("%s 0 0 0\n", name);
        return;
    }
    for (unsigned k = 1; k < m->count; k++) {
        uint64_t length = m->at[k] - m->at[k - 1];
        least = length < least ? length : least;
        most = length > most ? length : most;
    }
    printf("%s %llu %llu %llu\n", name, (unsigned long long)((m->at[m->count - 1] - m->at[0]) / (m->count - 1)),
           (unsigned long long)least, (unsigned long long)most);
}

/* ---- work; each takes a number that is proportional to its instructions, in thousands or so */

static uint64_t state = 88172645463325252u;

static uint32_t chance(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static __attribute__((noinline)) void fill(unsigned rows)
{
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < SIDE; c++)
            grid[r % SIDE * SIDE + c] = (double)(chance() % 1000) / 7;
}

static __attribute__((noinline)) void smooth(unsigned rows)
{
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 1; c + 1 < SIDE; c++) {
            unsigned at = (r % (SIDE - 2) + 1) * SIDE + c;
            other[at] = (grid[at - 1] + grid[at + 1] + grid[at - SIDE] + grid[at + SIDE]) / 4;
        }
}

static __attribute__((noinline)) void copy_back(unsigned rows)
{
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < SIDE; c++)
            grid[r % SIDE * SIDE + c] = 0.9 * other[r % SIDE * SIDE + c] + 0.1;
}

static __attribute__((noinline)) double residual(unsigned rows)
{
    double sum = 0;
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < SIDE; c++) {
            double d = grid[r % SIDE * SIDE + c] - other[r % SIDE * SIDE + c];
            if (d < 0)
                sum -= d;
            else
                sum += d * d;
        }
    return sum;
}

static __attribute__((noinline)) uint32_t hash_all(unsigned rows)
{
    uint32_t h = 2166136261u;
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < SIDE; c++)
            h = (h ^ number[r % SIDE * SIDE + c]) * 16777619u;
    return h;
}

static __attribute__((noinline)) void make_numbers(unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        number[k] = chance();
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void sift(uint32_t *x, unsigned at, unsigned count)
{
    for (unsigned child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && by_value(&x[child + 1], &x[child]) > 0)
            child++;
        if (x[at] >= x[child])
            return;
        uint32_t moved = x[at];
        x[at] = x[child];
        x[child] = moved;
    }
}

static __attribute__((noinline)) void heap_sort(uint32_t *x, unsigned count)
{
    for (unsigned k = count / 2; k-- > 0;)
        sift(x, k, count);
    for (unsigned k = count; k-- > 1;) {
        uint32_t last = x[k];
        x[k] = x[0];
        x[0] = last;
        sift(x, 0, k);
    }
}

static __attribute__((noinline)) unsigned search(const uint32_t *x, unsigned count, unsigned times)
{
    unsigned found = 0;
    for (unsigned k = 0; k < times; k++) {
        uint32_t wanted = chance();
        unsigned low = 0, high = count;
        while (low < high) {
            unsigned middle = (low + high) / 2;
            if (x[middle] < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        found += low;
    }
    return found;
}

static __attribute__((noinline)) void make_links(void)
{
    for (unsigned k = 0; k < CELLS; k++)
        link_to[k] = (k * 7919u + 13) % CELLS;
}

static __attribute__((noinline)) unsigned follow_links(unsigned steps)
{
    unsigned at = 0;
    while (steps-- > 0)
        at = link_to[at] ^ (steps & 1);
    return at;
}

static volatile double sink; /* results end here: a call without a use of its result would be dropped */

/* ---- the programs */

static void begin_main(void)
{
    init_end = retired();
}

static void relax(unsigned repeats)
{
    fill(400);
    make_links();
    sink = follow_links(800000);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        mark(&outer);
        smooth(900);
        copy_back(700);
        sink = residual(900);
    }
}

/* The interpreter: a text of one-letter operations, compiled to numbers. */
enum { OPS = 4096 };
static uint8_t bytecode[OPS];

static unsigned compile(const char *text)
{
    unsigned used = 0;
    for (; *text && used < OPS; text++) {
        static const char letters[] = "+*^s<[].";
        const char *at = strchr(letters, *text);
        if (at)
            bytecode[used++] = (uint8_t)(at - letters);
    }
    return used;
}

static __attribute__((noinline)) uint64_t interpret(unsigned from, unsigned to, unsigned times)
{
    uint64_t a = 1, stack[8] = {0};
    unsigned top = 0;
    for (unsigned round = 0; round < times; round++)
        for (unsigned pc = from; pc < to; pc++)
            switch (bytecode[pc]) {
            case 0: a += stack[top]; break;
            case 1: a *= 3; break;
            case 2: a ^= a >> 5; break;
            case 3: stack[top = (top + 1) % 8] = a; break;
            case 4: a = a << 1 | a >> 63; break;
            case 5: number[a % CELLS] = (uint32_t)a; break;
            case 6: a += number[(a >> 3) % CELLS]; break;
            default: top = (top + 7) % 8; break;
            }
    return a;
}

static void interpreter(unsigned repeats)
{
    static char text[OPS + 1];
    const char *part[4] = {"++*s", "^<+.", "[]+[", "s.s*"};
    for (unsigned k = 0; k < OPS; k++)
        text[k] = part[k * 4 / OPS][k % 4];
    for (unsigned k = 0; k < 250; k++)
        compile(text);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        mark(&outer);
        sink = (double)interpret(0, OPS / 4, 80);
        sink = (double)interpret(OPS / 4, OPS / 2, 40);
        sink = (double)interpret(OPS / 2, 3 * OPS / 4, 60);
        sink = (double)interpret(3 * OPS / 4, OPS, 50);
    }
}

static void sorting(unsigned repeats)
{
    make_links();
    sink = follow_links(2500000);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        unsigned count = 4000 + chance() % 200;
        mark(&outer);
        make_numbers(count);
        heap_sort(number, count);
        sink = search(number, count, 4000);
    }
}

static void levels(unsigned repeats)
{
    fill(3000);
    make_links();
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        mark(&outer);
        for (unsigned step = 0; step < 8; step++) {
            if (k == 0)
                mark(&inner);
            smooth(1200);
            copy_back(800);
        }
        sink = hash_all(8000);
        sink = follow_links(1000000);
    }
}

static void growing(unsigned repeats)
{
    fill(1500);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        unsigned size = 1000 + 500 * k / (repeats - 1);
        mark(&outer);
        smooth(size);
        sink = hash_all(2 * size);
        sink = residual(size / 2);
    }
}

static unsigned about(unsigned size)
{
    return size * (80 + chance() % 41) / 100;
}

static void irregular(unsigned repeats)
{
    make_numbers(CELLS);
    heap_sort(number, CELLS);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        mark(&outer);
        smooth(about(1000));
        sink = follow_links(about(400000));
        sink = residual(about(1200));
    }
}

static void stepwise(unsigned repeats)
{
    fill(800);
    smooth(600);
    make_numbers(CELLS);
    heap_sort(number, CELLS);
    sink = residual(1500);
    make_links();
    sink = follow_links(1500000);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        mark(&outer);
        smooth(700);
        sink = residual(900);
        copy_back(500);
    }
}

static void by_chance(unsigned repeats)
{
    fill(1000);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        unsigned size = 200 + chance() % 2000;
        switch (chance() % 4) {
        case 0: smooth(size); break;
        case 1: sink = residual(size); break;
        case 2: sink = hash_all(size); break;
        default: copy_back(size); break;
        }
    }
}

static void steady(unsigned repeats)
{
    make_numbers(CELLS);
    heap_sort(number, CELLS);
    begin_main();
    for (unsigned k = 0; k < repeats; k++)
        sink = hash_all(1000);
}

static void seldom(unsigned repeats)
{
    fill(10000);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        mark(&outer);
        smooth(12000);
        sink = hash_all(10000);
        sink = follow_links(3000000);
    }
}

static void often(unsigned repeats)
{
    fill(5000);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        mark(&outer);
        smooth(250);
        sink = hash_all(400);
        sink = residual(200);
    }
}

static void collecting(unsigned repeats)
{
    make_links();
    fill(2000);
    begin_main();
    for (unsigned k = 0; k < repeats; k++) {
        if (k % 7 == 0)
            mark(&outer);
        if (k < 7)
            mark(&inner);
        smooth(500);
        sink = hash_all(800);
        sink = residual(300);
        if (k % 7 == 6)
            sink = follow_links(800000);
    }
}

static const struct {
    const char *name;
    void (*run)(unsigned repeats);
    unsigned repeats;
} programs[] = {
    {"relax", relax, 40},       {"interpreter", interpreter, 120},
    {"sorting", sorting, 150},  {"levels", levels, 8},
    {"growing", growing, 60},   {"irregular", irregular, 60},
    {"stepwise", stepwise, 50}, {"chance", by_chance, 300},
    {"steady", steady, 200},    {"seldom", seldom, 7},
    {"often", often, 600},      {"collecting", collecting, 140},
};

int main(int argc, char **argv)
{
    for (unsigned k = 0; argc > 1 && k < sizeof programs / sizeof programs[0]; k++)
        if (strcmp(argv[1], programs[k].name) == 0) {
            programs[k].run(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : programs[k].repeats);
            printf("init %llu\n", (unsigned long long)init_end);
            print_marks("period", &outer);
            print_marks("inner", &inner);
            return 0;
        }
    fputs("usage: phase_programs PROGRAM [REPEATS]\nprograms:", stderr);
    for (unsigned k = 0; k < sizeof programs / sizeof programs[0]; k++)
        fprintf(stderr, " %s", programs[k].name);
    fputc('\n', stderr);
    return 1;
}
