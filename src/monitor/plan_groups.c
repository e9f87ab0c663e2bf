/* The search. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/plan_narrow.h"

enum { SLOTS = GROUPING_COUNTERS, ANYWHERE = UINT16_MAX };

/* Who sits where: events, and the clock of group i as number `events` + i. */
struct seats {
    uint32_t *used;  /* of each group: counters that are taken, a bit for each */
    uint16_t *holds; /* of each counter of each group: who */
    uint16_t *home;  /* of each event: the group that it must be in, or ANYWHERE */
    uint16_t *group; /* of each event: the group that it is in */
};

struct party {
    uint32_t number;       /* in struct grouping */
    uint32_t first, count; /* events */
    uint32_t type;         /* parties of the same type have the same events but for names */
    uint32_t group;        /* where the search has put it */
};

struct search {
    const struct grouping *g;
    uint32_t events;     /* of all parties */
    uint32_t groups;     /* that it tries to do with */
    uint64_t steps;      /* left of the budget */
    struct party *party; /* of more than one event, in the order in which the search decides */
    size_t parties;
    struct seats seats;
    struct narrow narrow;
    char *block; /* that holds the seats; a copy for each decision follows it */
    size_t block_bytes;
    uint32_t *tried;  /* of each group: counters that were looked at */
    uint8_t *content; /* of each group: how many parties of each type it has */
};

enum verdict { NO, YES, SPENT };

/* ---- the matching */

static bool sit(struct search *s, uint32_t who, uint32_t group, unsigned counter)
{
    s->seats.used[group] |= UINT32_C(1) << counter;
    s->seats.holds[group * SLOTS + counter] = (uint16_t)who;
    if (who < s->events)
        s->seats.group[who] = (uint16_t)group;
    return true;
}

/* Finds a counter that is free, or one whose event finds another. */
static bool seat(struct search *s, uint32_t who)
{
    bool clock = who >= s->events;
    uint32_t can = clock ? s->g->clock : s->g->can[who], first = 0, end = s->groups, open;
    uint32_t home = clock ? who - s->events : s->seats.home[who];
    if (home != ANYWHERE) {
        first = home;
        end = home + 1;
    }
    s->steps -= s->steps > 0;
    for (uint32_t i = first; i < end; i++)
        if ((open = can & ~s->seats.used[i]) != 0)
            return sit(s, who, i, (unsigned)__builtin_ctz(open));
    for (uint32_t i = first; i < end; i++)
        while ((open = can & ~s->tried[i]) != 0) {
            unsigned counter = (unsigned)__builtin_ctz(open);
            s->tried[i] |= UINT32_C(1) << counter;
            if (seat(s, s->seats.holds[i * SLOTS + counter]))
                return sit(s, who, i, counter);
        }
    return false;
}

static bool seat_anew(struct search *s, uint32_t who)
{
    memset(s->tried, 0, s->groups * sizeof *s->tried);
    return seat(s, who);
}

/* All clocks, and all events as if they had no partners. */
static bool seat_all(struct search *s)
{
    narrow_restart(&s->narrow);
    memset(s->seats.used, 0, s->groups * sizeof *s->seats.used);
    memset(s->content, 0, (size_t)s->groups * s->parties);
    for (uint32_t i = 0; i < s->events; i++)
        s->seats.home[i] = ANYWHERE;
    for (uint32_t i = 0; i < s->groups; i++)
        if (!seat_anew(s, s->events + i))
            return false;
    for (uint32_t i = 0; i < s->events; i++)
        if (!seat_anew(s, i))
            return false;
    return true;
}

static void leave(struct search *s, uint32_t event)
{
    uint32_t group = s->seats.group[event];
    for (uint32_t used = s->seats.used[group]; used != 0; used &= used - 1) {
        unsigned counter = (unsigned)__builtin_ctz(used);
        if (s->seats.holds[group * SLOTS + counter] == event)
            s->seats.used[group] &= ~(UINT32_C(1) << counter);
    }
}

/* A party goes to a group: its events that are elsewhere do. */
static bool bring(struct search *s, const struct party *p, uint32_t group)
{
    for (uint32_t i = p->first; i < p->first + p->count; i++)
        s->seats.home[i] = (uint16_t)group;
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        if (s->seats.group[i] == group)
            continue;
        leave(s, i);
        if (!seat_anew(s, i))
            return false;
    }
    return true;
}

/* ---- decisions */

/* A group with the same parties was tried already. */
static bool like_another(const struct search *s, uint32_t first, uint32_t group)
{
    for (uint32_t i = first; i < group; i++)
        if (memcmp(s->content + i * s->parties, s->content + group * s->parties, s->parties) == 0)
            return true;
    return false;
}

/* For the parties from `depth` on, `opened` groups having one already. Groups that have none are all the same, and so
 * are parties of one type: these are put to groups in order. */
static enum verdict decide(struct search *s, size_t depth, uint32_t opened)
{
    if (depth == s->parties)
        return YES;
    if (!narrow_allows(&s->narrow, (uint32_t)depth, s->groups))
        return NO;
    struct party *p = &s->party[depth];
    uint32_t first = depth > 0 && p[-1].type == p->type ? p[-1].group : 0;
    char *copy = s->block + (depth + 1) * s->block_bytes;
    memcpy(copy, s->block, s->block_bytes);
    for (uint32_t i = opened < s->groups ? opened + 1 : opened; i-- > first;) {
        if (like_another(s, first, i))
            continue;
        if (s->steps == 0)
            return SPENT;
        uint8_t *same = s->content + i * s->parties + p->type;
        if (bring(s, p, i)) {
            ++*same;
            narrow_put(&s->narrow, (uint32_t)depth, i);
            p->group = i;
            enum verdict v = decide(s, depth + 1, opened + (i == opened));
            if (v != NO)
                return v;
            --*same;
            narrow_take(&s->narrow, (uint32_t)depth, i);
        }
        memcpy(s->block, copy, s->block_bytes);
    }
    return NO;
}

static enum verdict try_groups(struct search *s, uint32_t groups)
{
    s->groups = groups;
    s->steps = s->g->budget;
    return seat_all(s) ? decide(s, 0, 0) : NO;
}

/* ---- preparation */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Copies of what the events of a party can, in ascending order. */
static void sorted_can(const struct grouping *g, const struct party *p, uint32_t to[GROUPING_COUNTERS])
{
    memcpy(to, g->can + p->first, p->count * sizeof *to);
    qsort(to, p->count, sizeof *to, by_number);
}

static int compare_events(const struct grouping *g, const struct party *a, const struct party *b)
{
    uint32_t x[GROUPING_COUNTERS], y[GROUPING_COUNTERS];
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    sorted_can(g, a, x);
    sorted_can(g, b, y);
    for (uint32_t i = 0; i < a->count; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int compare_parties(const void *a, const void *b, void *g)
{
    const struct party *x = a, *y = b;
    int order = compare_events(g, x, y);
    return order ? order : by_number(&x->number, &y->number);
}

/* Large ones first, those of a type side by side. */
static void find_parties(struct search *s)
{
    const struct grouping *g = s->g;
    for (uint32_t i = 0; i < g->parties; i++) {
        uint32_t count = g->first[i + 1] - g->first[i];
        if (count > 1)
            s->party[s->parties++] = (struct party){i, g->first[i], count, 0, 0};
    }
    qsort_r(s->party, s->parties, sizeof *s->party, compare_parties, (void *)g);
    for (size_t i = 1; i < s->parties; i++)
        s->party[i].type = s->party[i - 1].type + (compare_events(g, &s->party[i - 1], &s->party[i]) != 0);
}

static void search_free(struct search *s)
{
    free(s->party);
    free(s->block);
    free(s->tried);
    free(s->content);
    narrow_free(&s->narrow);
}

static bool find_narrow_places(struct search *s, uint32_t most)
{
    uint32_t *numbers = malloc((s->parties + 1) * sizeof *numbers);
    for (size_t i = 0; numbers && i < s->parties; i++)
        numbers[i] = s->party[i].number;
    bool found = numbers && narrow_new(&s->narrow, s->g, numbers, (uint32_t)s->parties, most);
    free(numbers);
    return found;
}

static bool search_new(struct search *s, const struct grouping *g, uint32_t most)
{
    *s = (struct search){.g = g, .events = g->first[g->parties], .party = calloc(g->parties, sizeof *s->party)};
    if (!s->party)
        return false;
    find_parties(s);
    size_t used = most * sizeof *s->seats.used, holds = (size_t)most * SLOTS * sizeof *s->seats.holds;
    size_t events = s->events * sizeof *s->seats.home;
    s->block_bytes = (used + holds + 2 * events + 7) & ~(size_t)7;
    s->block = calloc(s->parties + 1, s->block_bytes);
    s->tried = calloc(most, sizeof *s->tried);
    s->content = calloc(most, s->parties + 1);
    if (!s->block || !s->tried || !s->content || !find_narrow_places(s, most))
        return false;
    s->seats.used = (uint32_t *)s->block;
    s->seats.holds = (uint16_t *)(s->block + used);
    s->seats.home = (uint16_t *)(s->block + used + holds);
    s->seats.group = (uint16_t *)(s->block + used + holds + events);
    return true;
}

/* With fewer groups than the parties are in already, if that can be. */
static int search_fewer(struct grouping *g, uint32_t bound)
{
    struct search s;
    enum verdict v = NO;
    bool done = search_new(&s, g, g->groups);
    for (uint32_t groups = bound; done && groups < g->groups; groups++) {
        v = try_groups(&s, groups);
        if (v == SPENT)
            g->least = false;
        if (v != YES)
            continue;
        for (uint32_t i = 0; i < g->parties; i++)
            g->group[i] = s.seats.group[g->first[i]];
        g->groups = groups;
    }
    search_free(&s);
    return done ? 0 : -ENOMEM;
}

/* The first group is that of the first party, and so on. */
static int renumber(struct grouping *g)
{
    uint32_t *name = malloc(g->groups * sizeof *name), next = 0;
    if (!name)
        return -ENOMEM;
    memset(name, 0xff, g->groups * sizeof *name);
    for (uint32_t i = 0; i < g->parties; i++) {
        uint32_t *n = &name[g->group[i]];
        if (*n == UINT32_MAX)
            *n = next++;
        g->group[i] = *n;
    }
    free(name);
    return 0;
}

int grouping_find(struct grouping *g)
{
    g->groups = 0;
    g->least = true;
    if (g->parties == 0)
        return 0;
    uint32_t bound = grouping_bound(g);
    grouping_first_fit(g);
    int code = search_fewer(g, bound);
    if (code != 0)
        return code;
    grouping_even(g);
    return renumber(g);
}
