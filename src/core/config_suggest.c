/* What an unknown name in a core file or a setting might have been. */
#include <stdio.h>
#include <string.h>

#include "core/config_priv.h"

enum { NAME_MOST = 64 };

/* Letters to insert, to delete or to replace between two names, of which the second has at most NAME_MOST letters. */
static unsigned edit_distance(const char *from, const char *to)
{
    unsigned row[NAME_MOST + 1], length = (unsigned)strlen(to);
    for (unsigned j = 0; j <= length; j++)
        row[j] = j;
    for (unsigned i = 0; from[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = i + 1;
        for (unsigned j = 0; j < length; j++) {
            unsigned replaced = diagonal + (from[i] != to[j]), other = row[j] < row[j + 1] ? row[j] : row[j + 1];
            diagonal = row[j + 1];
            row[j + 1] = replaced < other + 1 ? replaced : other + 1;
        }
    }
    return row[length];
}

/* The nearest of names that are offered one by one. */
struct nearest {
    const char *wanted;
    unsigned distance; /* of the best so far; a name further away than this was hardly meant */
    char best[NAME_MOST + 1];
};

static struct nearest nearest_to(const char *wanted)
{
    size_t length = strlen(wanted);
    return (struct nearest){.wanted = wanted, .distance = length > NAME_MOST ? 0 : 2 + (unsigned)length / 4};
}

static void offer(struct nearest *n, const char *name)
{
    unsigned distance = n->distance ? edit_distance(n->wanted, name) : NAME_MOST;
    if (distance < n->distance) {
        n->distance = distance;
        snprintf(n->best, sizeof n->best, "%s", name);
    }
}

static void suggest(const struct nearest *n, char *text, size_t size)
{
    if (n->best[0])
        snprintf(text, size, "did you mean '%s'?", n->best);
    else
        snprintf(text, size, "`cyclescope list params` names all");
}

void suggest_param(const char *name, char *text, size_t size)
{
    struct nearest n = nearest_to(name);
    for (size_t i = 0; i < core_param_count; i++) {
        char known[NAME_MOST];
        snprintf(known, sizeof known, "%s.%s", core_params[i].section, core_params[i].key);
        offer(&n, known);
    }
    suggest(&n, text, size);
}

void suggest_section(const char *name, char *text, size_t size)
{
    struct nearest n = nearest_to(name);
    for (size_t i = 0; i < core_param_count; i++)
        offer(&n, core_params[i].section);
    suggest(&n, text, size);
}
