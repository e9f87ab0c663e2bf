#include "profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean_text.h"
#include "base/array.h"
#include "base/index_table.h"
#include "core/core.h"

/* State of profile_load. */
struct load {
    struct profile *p;
    const char *name;                                        /* of the file */
    struct index_table cells, histories, accesses, mistakes; /* indices of the profile's arrays */
    size_t info_room, event_room, map_room, node_room, cell_room, history_room, access_room, mistake_room;
    bool want_accesses;
    bool in_pair;               /* the last sample may be followed by a PROFILE_PAIR */
    struct profile_sample last; /* the last sample */
};

static int no_memory(const struct load *l, struct error *err)
{
    return error_set(err, -ENOMEM, "%s: out of memory", l->name);
}

/* ---- records other than samples */

static char *clean_copy(const char *text)
{
    char *copy = strdup(text);
    if (copy)
        clean_text(copy);
    return copy;
}

/* Makes room for one more element in an array of the profile; false: out of memory. */
#define MAKE_ROOM(l, array, count, room)                                                                               \
    make_room((void **)&(l)->p->array, (l)->p->count, &(l)->room, sizeof *(l)->p->array)

static bool make_room(void **array, size_t count, size_t *room, size_t bytes)
{
    void *grown = array_grow(*array, count, room, bytes);
    if (grown)
        *array = grown;
    return grown != NULL;
}

static int add_info(struct load *l, const struct profile_info *i, struct error *err)
{
    if (!MAKE_ROOM(l, info, infos, info_room))
        return no_memory(l, err);
    struct profile_value v = {clean_copy(i->name), clean_copy(i->value)};
    l->p->info[l->p->infos++] = v;
    return v.name && v.value ? 0 : no_memory(l, err);
}

static int add_event(struct load *l, const struct profile_event *e, struct error *err)
{
    if (!MAKE_ROOM(l, event, events, event_room))
        return no_memory(l, err);
    struct profile_counted c = {.name = clean_copy(e->name), .period = e->period, .cycles = e->cycles};
    l->p->event[l->p->events++] = c;
    return c.name ? 0 : no_memory(l, err);
}

static int add_map(struct load *l, const struct profile_map *m, struct error *err)
{
    if (!MAKE_ROOM(l, map, maps, map_room))
        return no_memory(l, err);
    struct profile_map copy = {m->start, m->length, m->offset, strdup(m->path)};
    l->p->map[l->p->maps++] = copy;
    return copy.path ? 0 : no_memory(l, err);
}

static int add_chain(struct load *l, uint64_t site, uint64_t entry, uint32_t parent, struct error *err)
{
    if (!MAKE_ROOM(l, node, nodes, node_room))
        return no_memory(l, err);
    l->p->node[l->p->nodes++] = (struct profile_node){site, entry, parent};
    return 0;
}

/* ---- samples */

static bool same_cell(const void *owner, uint32_t i, const void *key)
{
    const struct profile_cell *a = (const struct profile_cell *)owner + i;
    const struct profile_sample *s = key;
    return a->pc == s->pc && a->chain == s->chain && a->event == s->event;
}

static int add_cell(struct load *l, const struct profile_sample *s, struct error *err)
{
    struct profile *p = l->p;
    uint64_t hash = hash_number(hash_number(s->event, s->pc), s->chain);
    uint32_t i = index_table_find(&l->cells, hash, same_cell, p->cell, s);
    if (i == INDEX_NONE) {
        i = (uint32_t)p->cells;
        if (!MAKE_ROOM(l, cell, cells, cell_room) || index_table_add(&l->cells, hash, i) != 0)
            return no_memory(l, err);
        p->cell[p->cells++] = (struct profile_cell){.pc = s->pc, .event = s->event, .chain = s->chain};
    }
    p->cell[i].weight += s->weight;
    p->cell[i].samples++;
    return 0;
}

static bool same_history(const void *owner, uint32_t i, const void *key)
{
    const struct profile_history *a = (const struct profile_history *)owner + i;
    const struct profile_sample *s = key;
    return a->pc == s->pc && a->event == s->event;
}

/* The history of the sample's instruction; NULL: out of memory. */
static struct profile_history *history_of(struct load *l, const struct profile_sample *s)
{
    struct profile *p = l->p;
    uint64_t hash = hash_number(s->event, s->pc);
    uint32_t i = index_table_find(&l->histories, hash, same_history, p->history, s);
    if (i != INDEX_NONE)
        return &p->history[i];
    if (!MAKE_ROOM(l, history, histories, history_room) ||
        index_table_add(&l->histories, hash, (uint32_t)p->histories) != 0)
        return NULL;
    p->history[p->histories] = (struct profile_history){.pc = s->pc, .event = s->event};
    return &p->history[p->histories++];
}

static int add_history(struct load *l, const struct profile_sample *s, struct error *err)
{
    struct profile_history *h = history_of(l, s);
    if (h == NULL)
        return no_memory(l, err);
    h->samples++;
    h->mispredicted += (s->flags & PROFILE_MISPREDICTED) != 0;
    for (unsigned i = 0; i < PROFILE_OUTCOME_BITS; i++)
        h->outcome[i] += s->outcome >> i & 1;
    if (s->flags & PROFILE_SQUASHED)
        return 0;
    h->retired++;
    h->retired_mispredicted += (s->flags & PROFILE_MISPREDICTED) != 0;
    for (unsigned i = 0; i < PROFILE_OUTCOME_BITS; i++)
        h->retired_outcome[i] += s->outcome >> i & 1;
    for (unsigned i = 0; i < PROFILE_STAGES; i++)
        h->latency_cycles[i] += s->latency[i];
    return 0;
}

static bool same_access(const void *owner, uint32_t i, const void *key)
{
    const struct profile_access *a = (const struct profile_access *)owner + i;
    const struct profile_sample *s = key;
    return a->address == s->address && a->pc == s->pc && a->event == s->event;
}

static int add_access(struct load *l, const struct profile_sample *s, struct error *err)
{
    struct profile *p = l->p;
    uint64_t hash = hash_number(hash_number(s->event, s->pc), s->address);
    uint32_t i = index_table_find(&l->accesses, hash, same_access, p->access, s);
    if (i == INDEX_NONE) {
        i = (uint32_t)p->accesses;
        if (!MAKE_ROOM(l, access, accesses, access_room) || index_table_add(&l->accesses, hash, i) != 0)
            return no_memory(l, err);
        p->access[p->accesses++] = (struct profile_access){.pc = s->pc, .address = s->address, .event = s->event};
    }
    struct profile_access *a = &p->access[i];
    a->weight += s->weight;
    a->samples++;
    a->stores += (s->flags & PROFILE_STORE) != 0;
    a->l1d += (s->outcome & EVENT_L1D) != 0;
    a->l2d += (s->outcome & EVENT_L2D) != 0;
    a->dtlb += (s->outcome & EVENT_DTLB) != 0;
    return 0;
}

static bool same_mistake(const void *owner, uint32_t i, const void *key)
{
    const struct profile_mistake *a = (const struct profile_mistake *)owner + i;
    const struct profile_sample *s = key;
    return a->pc == s->pc && a->cause == s->cause && a->event == s->event;
}

static int add_mistake(struct load *l, const struct profile_sample *s, struct error *err)
{
    struct profile *p = l->p;
    uint64_t hash = hash_number(hash_number(s->event, s->pc), s->cause);
    uint32_t i = index_table_find(&l->mistakes, hash, same_mistake, p->mistake, s);
    if (i == INDEX_NONE) {
        i = (uint32_t)p->mistakes;
        if (!MAKE_ROOM(l, mistake, mistakes, mistake_room) || index_table_add(&l->mistakes, hash, i) != 0)
            return no_memory(l, err);
        p->mistake[p->mistakes++] = (struct profile_mistake){.pc = s->pc, .cause = s->cause, .event = s->event};
    }
    p->mistake[i].samples++;
    return 0;
}

static int add_sample(struct load *l, const struct profile_sample *s, struct error *err)
{
    struct profile_counted *e = &l->p->event[s->event];
    if (s->weight > INT64_MAX - e->weight)
        return error_set(err, -EOVERFLOW, "%s: samples of '%s' stand for more events than can be counted", l->name,
                         e->name);
    e->weight += s->weight;
    e->samples++;
    l->p->samples++;
    l->in_pair = true;
    l->last = *s;
    int code = add_cell(l, s, err);
    if (code == 0 && s->flags & PROFILE_HAS_HISTORY)
        code = add_history(l, s, err);
    if (code == 0 && l->want_accesses && s->flags & PROFILE_HAS_ADDRESS)
        code = add_access(l, s, err);
    e->caused += (s->flags & PROFILE_HAS_CAUSE) != 0;
    if (code == 0 && s->flags & PROFILE_HAS_CAUSE && s->cause != s->pc)
        code = add_mistake(l, s, err);
    return code;
}

/* The second of a pair has no weight; it adds the wasted issue slots to the history of the first. */
static int add_pair(struct load *l, const struct profile_sample *second, struct error *err)
{
    if (!l->in_pair)
        return error_set(err, -EINVAL, "%s: the second instruction of a pair comes without a first", l->name);
    struct profile_history *h = history_of(l, &l->last);
    if (h == NULL)
        return no_memory(l, err);
    h->pairs++;
    h->slots += second->slots;
    l->in_pair = false;
    return 0;
}

/* ---- reading */

static int add_record(struct load *l, const struct profile_record *r, struct error *err)
{
    switch (r->kind) {
    case PROFILE_INFO: return add_info(l, &r->info, err);
    case PROFILE_EVENT: return add_event(l, &r->event, err);
    case PROFILE_MAP: return add_map(l, &r->map, err);
    case PROFILE_CHAIN: return add_chain(l, r->chain.site, r->chain.entry, r->chain.parent, err);
    case PROFILE_SAMPLE: return add_sample(l, &r->sample, err);
    case PROFILE_PAIR: return add_pair(l, &r->sample, err);
    case PROFILE_TOTAL:
        l->p->event[r->total.event].total = r->total.count;
        l->p->event[r->total.event].has_total = true;
        return 0;
    default: return 0;
    }
}

static int load_all(struct load *l, struct profile_reader *from, struct error *err)
{
    struct profile_record r;
    int code = add_chain(l, 0, 0, 0, err), got = 0;
    while (code == 0 && (got = profile_read(from, &r, err)) > 0)
        code = add_record(l, &r, err);
    if (code == 0)
        code = got;
    if (code == 0 && l->p->events == 0)
        code = error_set(err, -EINVAL, "%s: the profile was cut off before its first event: it holds nothing", l->name);
    l->p->complete = profile_reader_complete(from);
    return code;
}

struct profile *profile_load(FILE *from, const char *name, bool accesses, struct error *err)
{
    struct load l = {.p = calloc(1, sizeof(struct profile)), .name = name, .want_accesses = accesses};
    if (l.p == NULL) {
        no_memory(&l, err);
        return NULL;
    }
    struct profile_reader *reader = profile_reader_new(from, name, err);
    if (reader == NULL || load_all(&l, reader, err) != 0) {
        profile_free(l.p);
        l.p = NULL;
    }
    profile_reader_free(reader);
    index_table_free(&l.cells);
    index_table_free(&l.histories);
    index_table_free(&l.accesses);
    index_table_free(&l.mistakes);
    return l.p;
}

void profile_free(struct profile *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->infos; i++) {
        free(p->info[i].name);
        free(p->info[i].value);
    }
    for (size_t i = 0; i < p->events; i++)
        free(p->event[i].name);
    for (size_t i = 0; i < p->maps; i++)
        free((char *)p->map[i].path);
    free(p->info);
    free(p->event);
    free(p->map);
    free(p->node);
    free(p->cell);
    free(p->history);
    free(p->access);
    free(p->mistake);
    free(p);
}

/* ---- queries */

const char *profile_info_of(const struct profile *p, const char *name)
{
    for (size_t i = p->infos; i-- > 0;)
        if (strcmp(p->info[i].name, name) == 0)
            return p->info[i].value;
    return NULL;
}

int profile_find_event(const struct profile *p, const char *option, const char *name, struct error *err)
{
    char names[256] = "", *end;
    for (size_t i = 0; i < p->events; i++)
        if (strcmp(p->event[i].name, name) == 0)
            return (int)i;
    unsigned long number = strtoul(name, &end, 10);
    if (*name >= '0' && *name <= '9' && *end == '\0' && number < p->events)
        return (int)number;
    for (size_t i = 0; i < p->events; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", p->event[i].name);
    }
    return error_set(err, -EINVAL, "%s %s: the profile has no such event; it has %s", option, name, names);
}

const struct profile_map *profile_map_of(const struct profile *p, uint64_t address)
{
    for (size_t i = p->maps; i-- > 0;)
        if (address >= p->map[i].start && address - p->map[i].start < p->map[i].length)
            return &p->map[i];
    return NULL;
}
