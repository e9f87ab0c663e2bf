#include "pmu/event.h"

#include <string.h>
#include <strings.h>

#include "base/suggest.h"

/* Compares a known name, or NULL, with text that has no terminator, ignoring case. */
static bool is_name(const char *known, const char *name, size_t length)
{
    return known && strlen(known) == length && strncasecmp(known, name, length) == 0;
}

const struct event *event_find(const char *name, size_t length)
{
    for (size_t i = 0; i < event_count; i++)
        if (is_name(events[i].name, name, length) || is_name(events[i].alias, name, length))
            return &events[i];
    return NULL;
}

const char *event_suggest(const char *name, size_t length)
{
    struct suggestion s = suggest_for(name, length, length < 12 ? 1 + (unsigned)length / 4 : (unsigned)length / 3);
    const char *best = NULL;
    for (size_t i = 0; i < event_count; i++) {
        if (suggest_offer(&s, events[i].name))
            best = events[i].name;
        if (events[i].alias && suggest_offer(&s, events[i].alias))
            best = events[i].alias;
    }
    return best;
}

const char *event_category_name(enum event_category c)
{
    switch (c) {
    case CATEGORY_PROGRAM: return "program characterization";
    case CATEGORY_MEMORY: return "memory accesses";
    case CATEGORY_STALL: return "pipeline stalls";
    case CATEGORY_BRANCH: return "branch prediction";
    case CATEGORY_RESOURCE: return "resource utilization";
    case CATEGORIES: break;
    }
    return "none";
}
