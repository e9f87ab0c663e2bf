/* Narrow stores before a wide load. The program hashes keys of 32 bytes at any alignment, eight bytes at a time, and
 * counts the hashes:
 *
 *     story_words copy     copies each word with memcpy: the compiler makes it eight stores of one byte and one load
 *     story_words shift    assembles each word in a register
 *
 * In `copy` no single store can forward all bytes of the load. Words and hashes are the same in both versions. The
 * program also counts letters, which has no such stores and loads. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 16384, KEY = 32, STEP = 33, BUCKETS = 256, ROUNDS = 12 };

static uint8_t text[TEXT];
static uint32_t bucket[BUCKETS], letter[256];

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

__attribute__((noinline)) static uint64_t hash_copy(const uint8_t *key)
{
    uint64_t hash = 0;
    for (int i = 0; i < KEY; i += 8) {
        uint64_t word;
        memcpy(&word, key + i, sizeof word);
        hash = mix(hash, word);
    }
    return hash;
}

__attribute__((noinline)) static uint64_t hash_shift(const uint8_t *key)
{
    uint64_t hash = 0;
    for (int i = 0; i < KEY; i += 8) {
        const uint8_t *k = key + i;
        uint64_t low = k[0] | (uint32_t)k[1] << 8 | (uint32_t)k[2] << 16 | (uint32_t)k[3] << 24;
        uint64_t high = k[4] | (uint32_t)k[5] << 8 | (uint32_t)k[6] << 16 | (uint32_t)k[7] << 24;
        hash = mix(hash, low | high << 32);
    }
    return hash;
}

__attribute__((noinline)) static void count_letters(const uint8_t *key)
{
    for (int i = 0; i < STEP; i++)
        letter[key[i]]++;
}

static void write_text(void)
{
    uint32_t state = 1;
    for (int i = 0; i < TEXT; i++) {
        state = state * 1664525u + 1013904223u;
        text[i] = (uint8_t)("etaoin shrdlu cm"[state >> 28]);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "copy") != 0 && strcmp(argv[1], "shift") != 0)) {
        fprintf(stderr, "usage: story_words copy|shift\n");
        return 2;
    }
    uint64_t (*hash)(const uint8_t *) = argv[1][0] == 'c' ? hash_copy : hash_shift;
    uint64_t sum = 0;
    write_text();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i + STEP <= TEXT; i += STEP) {
            bucket[hash(text + i) % BUCKETS]++;
            count_letters(text + i);
        }
    for (int i = 0; i < BUCKETS; i++)
        sum = sum * 31 + bucket[i] + letter[i];
    printf("checksum %016llx\n", (unsigned long long)sum);
    return 0;
}
