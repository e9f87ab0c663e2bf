#include "core/wrong_lines.h"

#include <stddef.h>
#include <string.h>

static unsigned index_of(uint64_t line)
{
    return (unsigned)(line >> 5 ^ line >> 14) % WRONG_LINES;
}

static uint16_t tag_of(uint64_t line)
{
    return (uint16_t)(line >> 8 | 1);
}

/* The entry of a line, or NULL. */
static struct wrong_line *find(struct wrong_lines *w, uint64_t line)
{
    unsigned i = index_of(line);
    return w->tag[i] == tag_of(line) && w->line[i].line == line ? &w->line[i] : NULL;
}

static void add_saturated(uint16_t *to, uint64_t cycles)
{
    *to = (uint16_t)(*to + cycles < UINT16_MAX ? *to + cycles : UINT16_MAX);
}

void wrong_lines_reset(struct wrong_lines *w)
{
    memset(w, 0, sizeof *w);
}

uint16_t wrong_lines_begin(struct wrong_lines *w, uint64_t branch, uint64_t now)
{
    w->branch = branch;
    w->since = now;
    w->full_since = w->waits_until = 0;
    w->now = (struct wrong_request){0};
    memset(w->made[++w->paths % WRONG_PATHS], 0, sizeof w->made[0]);
    return (uint16_t)(w->paths % WRONG_PATHS);
}

void wrong_lines_find_room(struct wrong_lines *w, bool room, uint64_t now)
{
    if (room && w->full_since)
        add_saturated(&w->now.room, now - w->full_since);
    w->full_since = room ? 0 : w->full_since ? w->full_since : now;
}

/* The wrong path goes on: a misprediction on it has ended its wait if that would take longer. */
static void end_wait(struct wrong_lines *w, uint64_t now)
{
    uint64_t left = w->waits_until > now ? w->waits_until - now : 0;
    for (unsigned k = 0; left && k < 2; k++) {
        uint64_t by = left < *w->waits_for[k] ? left : *w->waits_for[k];
        *w->waits_for[k] = (uint16_t)(*w->waits_for[k] - by);
        left -= by;
    }
    w->waits_until = 0;
}

static void begin_wait(struct wrong_lines *w, uint64_t until, uint16_t *last, uint16_t *first)
{
    w->waits_until = until;
    w->waits_for[0] = last;
    w->waits_for[1] = first;
}

void wrong_lines_walk(struct wrong_lines *w, uint64_t now, uint64_t cycles)
{
    end_wait(w, now);
    add_saturated(&w->now.walks, cycles);
    begin_wait(w, now + cycles, &w->now.walks, &w->now.walks);
}

void wrong_lines_wait(struct wrong_lines *w, uint64_t now, uint64_t cycles, uint64_t second)
{
    uint64_t beyond = cycles > second ? cycles - second : 0;
    end_wait(w, now);
    add_saturated(&w->now.second_lines, beyond);
    add_saturated(&w->now.lines, cycles - beyond);
    begin_wait(w, now + cycles, &w->now.second_lines, &w->now.lines);
}

/* The wrong path uses a line now. */
static struct wrong_request request_of(struct wrong_lines *w, uint64_t now)
{
    end_wait(w, now);
    struct wrong_request r = w->now;
    uint64_t waited = (uint64_t)r.lines + r.second_lines + r.walks + r.room, all = now - w->since;
    add_saturated(&r.cycles, all > waited ? all - waited : 0);
    r.distance = 1;
    return r;
}

void wrong_lines_request(struct wrong_lines *w, uint64_t line, bool prefetch, uint64_t now, uint64_t begins,
                         uint64_t ready)
{
    unsigned i = index_of(line), k = 0;
    struct wrong_request r = request_of(w, now);
    struct wrong_made *made = w->made[w->paths % WRONG_PATHS];
    r.prefetch = prefetch;
    add_saturated(&r.latency, ready - now);
    add_saturated(&r.mshr_cycles, begins - now);
    while (k < WRONG_PATH_REQUESTS && made[k].request.distance)
        k++;
    if (k < WRONG_PATH_REQUESTS) {
        r.number = (uint8_t)(k + 1);
        made[k] = (struct wrong_made){.line = line, .request = r};
    }
    w->tag[i] = tag_of(line);
    w->line[i] = (struct wrong_line){.line = line, .branch = {w->branch}, .request = {r}};
}

void wrong_lines_touch(struct wrong_lines *w, uint64_t line, uint64_t now)
{
    struct wrong_line *e = find(w, line);
    if (e == NULL || e->branch[0] == w->branch)
        return;
    struct wrong_request r = request_of(w, now);
    if (e->request[1].distance && e->request[1].cycles <= r.cycles)
        return;
    e->branch[1] = w->branch;
    e->request[1] = r;
}

uint16_t wrong_lines_use(struct wrong_lines *w, uint64_t line, uint64_t position)
{
    struct wrong_line *e = find(w, line);
    if (e == NULL)
        return 0;
    unsigned use = w->uses++ % WRONG_USES;
    for (unsigned k = 0; k < WRONG_REQUESTS; k++) {
        struct wrong_request *r = &w->used[use][k];
        *r = e->request[k];
        if (r->distance)
            r->distance = (uint32_t)(position - e->branch[k]);
    }
    w->tag[index_of(line)] = 0;
    return (uint16_t)(use + WRONG_USES);
}
