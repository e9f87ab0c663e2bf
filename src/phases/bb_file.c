#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/index_table.h"
#include "phases/bbv.h"

void bbv_write(const struct bbv_set *s, FILE *to)
{
    for (size_t k = 0; k < s->count; k++) {
        const struct bbv_entry *entry = s->entry + s->vector[k].first;
        fputc('T', to);
        for (size_t i = 0; i < s->vector[k].count; i++)
            fprintf(to, ":%llu:%llu ", entry[i].block + 1ull, (unsigned long long)entry[i].insns);
        fputc('\n', to);
    }
}

struct reader {
    gzFile from;
    const char *path;
    unsigned long long line; /* from 1 on */
    int c;                   /* the next character, or -1 at the end */
    struct bbv_set *set;
    uint64_t *id; /* by our block number: the number in the file */
    size_t id_room;
    struct index_table index; /* finds elements of `id` */
};

static void next(struct reader *r)
{
    r->c = gzgetc(r->from);
}

static int wrong(const struct reader *r, struct error *err, const char *what)
{
    return error_set(err, -EINVAL, "%s:%llu: %s; a .bb file has lines like T:1:500 :2:37", r->path, r->line, what);
}

static int no_memory(const struct reader *r, struct error *err)
{
    return error_set(err, -ENOMEM, "%s: out of memory for basic block vectors", r->path);
}

static int read_number(struct reader *r, uint64_t *n, struct error *err)
{
    if (r->c < '0' || r->c > '9')
        return wrong(r, err, "a number is missing");
    for (*n = 0; r->c >= '0' && r->c <= '9'; next(r)) {
        unsigned digit = (unsigned)(r->c - '0');
        if (*n > ((uint64_t)INT64_MAX - digit) / 10)
            return wrong(r, err, "a number is too large");
        *n = 10 * *n + digit;
    }
    return 0;
}

static bool same_id(const void *owner, uint32_t index, const void *key)
{
    const struct reader *r = owner;
    return r->id[index] == *(const uint64_t *)key;
}

/* Sets `block` to our number of the block that the file calls `id`; adds new blocks. */
static int block_of(struct reader *r, uint64_t id, uint32_t *block, struct error *err)
{
    uint64_t hash = hash_number(0, id);
    *block = index_table_find(&r->index, hash, same_id, r, &id);
    if (*block != INDEX_NONE)
        return 0;
    uint64_t *ids = array_grow(r->id, r->index.used, &r->id_room, sizeof *ids);
    if (ids == NULL)
        return no_memory(r, err);
    r->id = ids;
    *block = (uint32_t)r->index.used;
    r->id[*block] = id;
    return index_table_add(&r->index, hash, *block) ? no_memory(r, err) : 0;
}

static int read_entry(struct reader *r, uint64_t *sum, struct error *err)
{
    uint64_t id, insns;
    uint32_t block;
    next(r); /* the colon */
    int code = read_number(r, &id, err);
    if (code == 0 && r->c != ':')
        code = wrong(r, err, "a block without its count");
    if (code)
        return code;
    next(r);
    if ((code = read_number(r, &insns, err)) != 0 || insns == 0)
        return code;
    if (insns > INT64_MAX - *sum)
        return wrong(r, err, "the counts are too large");
    *sum += insns;
    if ((code = block_of(r, id, &block, err)) != 0)
        return code;
    return bbv_add(r->set, block, insns) ? no_memory(r, err) : 0;
}

static int read_vector(struct reader *r, struct error *err)
{
    uint64_t sum = 0;
    int code = 0;
    next(r); /* the T */
    while (code == 0 && r->c >= 0 && r->c != '\n') {
        if (r->c == ' ' || r->c == '\t' || r->c == '\r')
            next(r);
        else
            code = r->c == ':' ? read_entry(r, &sum, err) : wrong(r, err, "an entry does not begin with a colon");
    }
    if (code || sum == 0)
        return code;
    if (sum > INT64_MAX - r->set->insns)
        return wrong(r, err, "the counts are too large");
    r->set->insns += sum;

    if (r->set->count == BBV_MOST)
        return error_set(err, -E2BIG, "%s:%llu: more than %d intervals: choose longer ones", r->path, r->line,
                         BBV_MOST);
    return bbv_end(r->set) ? no_memory(r, err) : 0;
}

static int read_lines(struct reader *r, struct error *err)
{
    int code = 0, state = Z_OK;
    for (next(r), r->line = 1; code == 0 && r->c >= 0; r->line++) {
        if (r->c == 'T')
            code = read_vector(r, err);
        else if (r->c != '#' && !isspace(r->c))
            code = wrong(r, err, "neither a vector nor a comment");
        while (code == 0 && r->c >= 0 && r->c != '\n')
            next(r);
        if (r->c == '\n')
            next(r);
    }
    gzerror(r->from, &state);
    if (code == 0 && state != Z_OK && state != Z_STREAM_END)
        code = error_set(err, -EIO, "%s: %s", r->path,
                         state == Z_ERRNO ? strerror(errno) : "the compressed data is broken");
    if (code == 0 && r->set->count == 0)
        code = error_set(err, -EINVAL, "%s: the file has no basic block vector", r->path);
    return code;
}

/* The average length of the intervals without the last, which may be short. Lengths vary a little if intervals end with
 * a basic block, as in some tools. */
static uint64_t usual_length(const struct bbv_set *s)
{
    uint64_t others = s->count - 1, last = s->vector[s->count - 1].insns;
    uint64_t length = others ? (s->insns - last) / others + ((s->insns - last) % others > others / 2) : last;
    return length ? length : 1;
}

int bbv_read(const char *path, struct bbv_set *s, struct error *err)
{
    errno = ENOMEM; /* gzopen sets errno only if a system call fails; else it is out of memory */
    struct reader r = {.from = gzopen(path, "rb"), .path = path, .set = s};
    if (r.from == NULL)
        return error_set(err, -errno, "%s: %s", path, strerror(errno));
    int code = read_lines(&r, err);
    if (code == 0)
        s->interval = usual_length(s);
    gzclose_r(r.from);
    free(r.id);
    index_table_free(&r.index);
    return code;
}
