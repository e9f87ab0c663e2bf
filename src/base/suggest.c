#include "base/suggest.h"

#include <ctype.h>
#include <string.h>

/* Returns the Levenshtein distance of two names, ignoring case. `to_length` is at most SUGGEST_NAME_MOST. */
static unsigned edit_distance(const char *from, size_t from_length, const char *to, size_t to_length)
{
    unsigned row[SUGGEST_NAME_MOST + 1];
    for (unsigned j = 0; j <= to_length; j++)
        row[j] = j;
    for (unsigned i = 0; i < from_length; i++) {
        unsigned diagonal = row[0];
        row[0] = i + 1;
        for (unsigned j = 0; j < to_length; j++) {
            bool differ = tolower((unsigned char)from[i]) != tolower((unsigned char)to[j]);
            unsigned replaced = diagonal + differ, other = row[j] < row[j + 1] ? row[j] : row[j + 1];
            diagonal = row[j + 1];
            row[j + 1] = replaced < other + 1 ? replaced : other + 1;
        }
    }
    return row[to_length];
}

struct suggestion suggest_for(const char *wanted, size_t length, unsigned most)
{
    return (struct suggestion){wanted, length, length > SUGGEST_NAME_MOST ? 0 : most + 1};
}

bool suggest_offer(struct suggestion *s, const char *name)
{
    size_t length = strlen(name);
    if (s->distance == 0 || length > SUGGEST_NAME_MOST)
        return false;
    unsigned distance = edit_distance(s->wanted, s->length, name, length);
    if (distance >= s->distance)
        return false;
    s->distance = distance;
    return true;
}
