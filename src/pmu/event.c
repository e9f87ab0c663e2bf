#include "pmu/event.h"

#include <ctype.h>
#include <string.h>

#include "base/suggest.h"

/* As names are compared: the JSON of `stat` has '_' where events have '-'. */
static int letter(char c)
{
    return c == '_' ? '-' : tolower((unsigned char)c);
}

static bool is_name(const char *known, const char *name, size_t length)
{
    if (known == NULL || strlen(known) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (letter(known[i]) != letter(name[i]))
            return false;
    return true;
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
    struct suggestion s = suggest_for(name, length, (unsigned)length / 3);
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
