/* A sample workload of four phases that stress different parts of a core. Each phase prints a result that can be
 * checked: sorting (unpredictable branches), a chained hash table (dependent loads), matrix product (floating point,
 * streaming loads), checksum (a serial chain of shifts). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint64_t sort_phase(uint32_t *state)
{
    enum { COUNT = 200000 };
    uint32_t *value = malloc(COUNT * sizeof *value);
    uint64_t sum = 0;
    if (value == NULL)
        abort();
    for (int i = 0; i < COUNT; i++)
        value[i] = next_random(state);
    qsort(value, COUNT, sizeof *value, by_value);
    for (int i = 0; i < COUNT; i++)
        sum = sum * 31 + value[i];
    free(value);
    return sum;
}

struct entry {
    uint32_t key, hits;
    struct entry *next;
};

static uint64_t hash_phase(uint32_t *state)
{
    enum { BUCKETS = 4096, ENTRIES = 40000, LOOKUPS = 600000 };
    static struct entry entry[ENTRIES], *bucket[BUCKETS];
    uint64_t hits = 0;
    for (int i = 0; i < ENTRIES; i++) {
        entry[i].key = next_random(state) % (2 * ENTRIES);
        entry[i].next = bucket[entry[i].key % BUCKETS];
        bucket[entry[i].key % BUCKETS] = &entry[i];
    }
    for (int i = 0; i < LOOKUPS; i++) {
        uint32_t key = next_random(state) % (2 * ENTRIES);
        struct entry *e = bucket[key % BUCKETS];
        while (e && e->key != key)
            e = e->next;
        if (e)
            hits += ++e->hits;
    }
    return hits;
}

static double matrix_phase(void)
{
    enum { SIZE = 160 };
    static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
    double trace = 0;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            a[i][j] = 0.5 * i + j;
            b[i][j] = i - 0.25 * j;
        }
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    for (int i = 0; i < SIZE; i++)
        trace += c[i][i];
    return trace;
}

static uint32_t checksum_phase(uint32_t *state)
{
    uint32_t crc = ~0u;
    for (int i = 0; i < 1 << 20; i++) {
        crc ^= next_random(state) & 0xff;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

int main(void)
{
    uint32_t state = 1;
    printf("sort %016llx\n", (unsigned long long)sort_phase(&state));
    printf("hash %llu\n", (unsigned long long)hash_phase(&state));
    printf("matrix %.3f\n", matrix_phase());
    printf("checksum %08x\n", checksum_phase(&state));
    return 0;
}
