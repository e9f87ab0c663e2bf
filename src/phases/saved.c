#include "phases/saved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

enum {
    STATES_MOST = 1 << 14, /* most states of a stretch */
    LEVEL = 1,             /* zstd level */
};

struct saved_state {
    uint64_t insn;
    size_t at, length; /* its compressed difference, in `bytes` of the stretch */
};

/* Of a stretch, in shared memory. Its copy alone writes. */
struct saved_stretch {
    size_t room, used;  /* bytes for compressed differences, which follow this structure */
    size_t state_bytes; /* size of a state */
    uint32_t count;
    struct saved_state state[STATES_MOST];
};

/* Each process has these pointers for itself. */
struct saved_states {
    unsigned stretches;
    struct saved_stretch **stretch;
    /* of the copy that writes */
    uint64_t *last, *difference; /* the state saved last; its difference to the next one */
    void *packed;
    ZSTD_CCtx *context;
};

static uint8_t *packed_states(struct saved_stretch *s)
{
    return (uint8_t *)(s + 1);
}

struct saved_states *saved_new(void)
{
    return calloc(1, sizeof(struct saved_states));
}

int saved_add(struct saved_states *s, unsigned stretches, size_t bytes)
{
    const size_t room = bytes / stretches;
    struct saved_stretch **more = realloc(s->stretch, (s->stretches + stretches) * sizeof *more);
    if (more == NULL)
        return -ENOMEM;
    s->stretch = more;
    for (unsigned i = 0; i < stretches; i++) {
        void *memory =
            mmap(NULL, sizeof **more + room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return -ENOMEM;
        more[s->stretches] = memory;
        more[s->stretches++]->room = room;
    }
    return 0;
}

void saved_free(struct saved_states *s)
{
    if (s == NULL)
        return;
    for (unsigned i = 0; i < s->stretches; i++)
        munmap(s->stretch[i], sizeof **s->stretch + s->stretch[i]->room);
    free(s->stretch);
    free(s->last);
    free(s->difference);
    free(s->packed);
    ZSTD_freeCCtx(s->context);
    free(s);
}

void saved_forget(struct saved_states *s, unsigned stretch)
{
    s->stretch[stretch]->used = 0;
    s->stretch[stretch]->count = 0;
}

/* ---- writing */

static size_t words_of(size_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

static int prepare_to_write(struct saved_states *s, size_t bytes)
{
    if (s->last)
        return 0;
    s->last = calloc(words_of(bytes), sizeof *s->last);
    s->difference = calloc(words_of(bytes), sizeof *s->difference);
    s->packed = malloc(ZSTD_compressBound(bytes));
    s->context = ZSTD_createCCtx();
    return s->last && s->difference && s->packed && s->context ? 0 : -ENOMEM;
}

int saved_write(struct saved_states *s, unsigned stretch, uint64_t insn, double share, const void *state, size_t bytes)
{
    struct saved_stretch *to = stretch < s->stretches ? s->stretch[stretch] : NULL;
    if (to == NULL || to->count == STATES_MOST)
        return 0;
    if (to->count > 0 && (double)to->used > share * (double)to->room)
        return 0;
    if (prepare_to_write(s, bytes) != 0)
        return -ENOMEM;
    memcpy(s->difference, state, bytes);
    for (size_t i = 0; i < words_of(bytes); i++)
        s->difference[i] ^= s->last[i];
    size_t length = ZSTD_compressCCtx(s->context, s->packed, ZSTD_compressBound(bytes), s->difference, bytes, LEVEL);
    if (ZSTD_isError(length))
        return -ENOMEM;
    if (length > to->room - to->used)
        return 0;
    memcpy(packed_states(to) + to->used, s->packed, length);
    memcpy(s->last, state, bytes);
    to->state_bytes = bytes;
    to->state[to->count] = (struct saved_state){insn, to->used, length};
    to->used += length;
    to->count++;
    return 0;
}

/* ---- reading */

uint32_t saved_before(const struct saved_states *s, uint64_t *insn, unsigned *stretch)
{
    uint32_t found = SAVED_NONE;
    uint64_t best = 0;
    for (unsigned i = 0; i < s->stretches; i++) {
        const struct saved_stretch *of = s->stretch[i];
        uint32_t low = 0, high = of->count; /* states before `low` are at or before *insn */
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (of->state[middle].insn <= *insn)
                low = middle + 1;
            else
                high = middle;
        }
        /* Of two at one place the one of the later stretch: it is always there. */
        if (low > 0 && (found == SAVED_NONE || of->state[low - 1].insn >= best)) {
            found = low - 1;
            best = of->state[found].insn;
            *stretch = i;
        }
    }
    if (found != SAVED_NONE)
        *insn = best;
    return found;
}

int saved_read(const struct saved_states *s, struct saved_reader *r, unsigned stretch, uint32_t number)
{
    struct saved_stretch *of = s->stretch[stretch];
    if (r->state == NULL || r->stretch != stretch || r->next > number + 1) {
        saved_reader_free(r);
        r->stretch = stretch;
        r->bytes = of->state_bytes;
        r->state = calloc(words_of(r->bytes), sizeof(uint64_t));
    }
    uint64_t *state = r->state, *difference = calloc(words_of(r->bytes), sizeof *difference);
    int code = state && difference ? 0 : -ENOMEM;
    for (; code == 0 && r->next <= number; r->next++) {
        const struct saved_state *from = &of->state[r->next];
        const uint8_t *packed = packed_states(of) + from->at;
        if (ZSTD_decompress(difference, r->bytes, packed, from->length) != r->bytes)
            code = -EINVAL;
        for (size_t i = 0; code == 0 && i < words_of(r->bytes); i++)
            state[i] ^= difference[i];
    }
    free(difference);
    return code;
}

void saved_reader_free(struct saved_reader *r)
{
    free(r->state);
    *r = (struct saved_reader){0};
}
