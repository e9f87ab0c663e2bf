/* The search for the fewest groups: backtracking over parties, with a matching of events and counters at each step. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/plan_narrow.h"

enum { SLOTS = GROUPING_COUNTERS, ANYWHERE = UINT16_MAX };

/* The matching. Items are the events, and the slice clock of group i as item `events` + i. */
struct matching {
    uint32_t *used;  /* by group: bit mask of counters in use */
    uint16_t *holds; /* by group and counter: the item that has it */
    uint16_t *home;  /* by event: the group that the search chose, or ANYWHERE */
    uint16_t *group; /* by event: its present group */
};

/* A party of more than one event. */
struct party {
    uint32_t number;       /* in struct grouping */
    uint32_t first, count; /* its events */
    uint32_t type;         /* parties of equal type have events with equal counter masks */
    uint32_t group;        /* chosen by the search */
};

struct search {
    const struct grouping *g;
    uint32_t events;     /* of all parties, single ones included */
    uint32_t groups;     /* number of groups that is being tried */
    uint64_t steps;      /* remaining budget */
    struct party *party; /* in the order of decisions */
    size_t parties;
    struct matching matching;
    struct narrow narrow;
    char *block; /* arrays of `matching`, followed by a saved copy for each decision */
    size_t block_bytes;
    uint32_t *tried;  /* by group: bit mask of counters that the present augmenting path has visited */
    uint8_t *content; /* by group and type: number of parties in the group */
};

enum verdict { NO, YES, SPENT }; /* SPENT: the budget ran out */

/* ---- the matching */

/* Gives a counter of a group to an item. Always true. */
static bool assign_counter(struct search *s, uint32_t item, uint32_t group, unsigned counter)
{
    s->matching.used[group] |= UINT32_C(1) << counter;
    s->matching.holds[group * SLOTS + counter] = (uint16_t)item;
    if (item < s->events)
        s->matching.group[item] = (uint16_t)group;
    return true;
}

/* Finds a counter for an item: a free one, or one with an item that can move to another counter (an augmenting path).
 */
static bool find_counter(struct search *s, uint32_t item)
{
    bool clock = item >= s->events;
    uint32_t can = clock ? s->g->clock : s->g->can[item], first = 0, end = s->groups, open;
    uint32_t home = clock ? item - s->events : s->matching.home[item];
    if (home != ANYWHERE) {
        first = home;
        end = home + 1;
    }
    s->steps -= s->steps > 0;
    for (uint32_t i = first; i < end; i++)
        if ((open = can & ~s->matching.used[i]) != 0)
            return assign_counter(s, item, i, (unsigned)__builtin_ctz(open));
    for (uint32_t i = first; i < end; i++)
        while ((open = can & ~s->tried[i]) != 0) {
            unsigned counter = (unsigned)__builtin_ctz(open);
            s->tried[i] |= UINT32_C(1) << counter;
            if (find_counter(s, s->matching.holds[i * SLOTS + counter]))
                return assign_counter(s, item, i, counter);
        }
    return false;
}

/* Starts an augmenting path. */
static bool add_item(struct search *s, uint32_t item)
{
    memset(s->tried, 0, s->groups * sizeof *s->tried);
    return find_counter(s, item);
}

/* Matches the clocks of all groups, and all events as if each were a single event. */
static bool match_all(struct search *s)
{
    narrow_restart(&s->narrow);
    memset(s->matching.used, 0, s->groups * sizeof *s->matching.used);
    memset(s->content, 0, (size_t)s->groups * s->parties);
    for (uint32_t i = 0; i < s->events; i++)
        s->matching.home[i] = ANYWHERE;
    for (uint32_t i = 0; i < s->groups; i++)
        if (!add_item(s, s->events + i))
            return false;
    for (uint32_t i = 0; i < s->events; i++)
        if (!add_item(s, i))
            return false;
    return true;
}

/* Takes its counter from an event. */
static void remove_event(struct search *s, uint32_t event)
{
    uint32_t group = s->matching.group[event];
    for (uint32_t used = s->matching.used[group]; used != 0; used &= used - 1) {
        unsigned counter = (unsigned)__builtin_ctz(used);
        if (s->matching.holds[group * SLOTS + counter] == event)
            s->matching.used[group] &= ~(UINT32_C(1) << counter);
    }
}

/* Puts a party into a group: moves its events that are in others. False: there is no matching. */
static bool put_party(struct search *s, const struct party *p, uint32_t group)
{
    for (uint32_t i = p->first; i < p->first + p->count; i++)
        s->matching.home[i] = (uint16_t)group;
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        if (s->matching.group[i] == group)
            continue;
        remove_event(s, i);
        if (!add_item(s, i))
            return false;
    }
    return true;
}

/* ---- decisions */

/* Whether one of the groups from `first` on, before `group`, has parties of the same types. */
static bool like_an_earlier(const struct search *s, uint32_t first, uint32_t group)
{
    for (uint32_t i = first; i < group; i++)
        if (memcmp(s->content + i * s->parties, s->content + group * s->parties, s->parties) == 0)
            return true;
    return false;
}

/* Finds groups for the parties from `depth` on; `opened` groups are not empty. Symmetric choices are tried once: of the
 * empty groups only the first, of groups with parties of the same types only one, and parties of one type are in groups
 * of ascending number. */
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
        if (like_an_earlier(s, first, i))
            continue;
        if (s->steps == 0)
            return SPENT;
        uint8_t *same = s->content + i * s->parties + p->type;
        if (put_party(s, p, i)) {
            ++*same;
            narrow_put(&s->narrow, (uint32_t)depth, i);
            p->group = i;
            enum verdict v = decide(s, depth + 1, opened + (i == opened));
            if (v != NO)
                return v;
            --*same;
            narrow_remove(&s->narrow, (uint32_t)depth, i);
        }
        memcpy(s->block, copy, s->block_bytes);
    }
    return NO;
}

static enum verdict try_groups(struct search *s, uint32_t groups)
{
    s->groups = groups;
    s->steps = s->g->budget;
    return match_all(s) ? decide(s, 0, 0) : NO;
}

/* ---- preparation */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The counter masks of a party's events in ascending order. */
static void sorted_can(const struct grouping *g, const struct party *p, uint32_t to[GROUPING_COUNTERS])
{
    memcpy(to, g->can + p->first, p->count * sizeof *to);
    qsort(to, p->count, sizeof *to, by_number);
}

/* Orders parties by type: by size, large ones first, then by counter masks. 0: the same type. */
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

/* Lists the parties of more than one event: large ones first, those of a type side by side. */
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

static bool make_narrow_places(struct search *s, uint32_t most)
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
    size_t used = most * sizeof *s->matching.used, holds = (size_t)most * SLOTS * sizeof *s->matching.holds;
    size_t events = s->events * sizeof *s->matching.home;
    s->block_bytes = (used + holds + 2 * events + 7) & ~(size_t)7;
    s->block = calloc(s->parties + 1, s->block_bytes);
    s->tried = calloc(most, sizeof *s->tried);
    s->content = calloc(most, s->parties + 1);
    if (!s->block || !s->tried || !s->content || !make_narrow_places(s, most))
        return false;
    s->matching.used = (uint32_t *)s->block;
    s->matching.holds = (uint16_t *)(s->block + used);
    s->matching.home = (uint16_t *)(s->block + used + holds);
    s->matching.group = (uint16_t *)(s->block + used + holds + events);
    return true;
}

/* Replaces the solution in `g` by one with fewer groups if there is one, from `bound` groups on. */
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
            g->group[i] = s.matching.group[g->first[i]];
        g->groups = groups;
    }
    search_free(&s);
    return done ? 0 : -ENOMEM;
}

/* Numbers the groups by first appearance. */
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
