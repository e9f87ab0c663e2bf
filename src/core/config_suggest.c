/* Suggests a known name for an unknown name in a core file or a setting. */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "core/config_priv.h"

static struct suggestion suggest_like(const char *name)
{
    size_t length = strlen(name);
    return suggest_for(name, length, 1 + (unsigned)length / 4);
}

/* Writes the suggestion; `best` is empty if no name is similar. */
static void put(const char *best, char *text, size_t size)
{
    if (best[0])
        snprintf(text, size, "did you mean '%s'?", best);
    else
        snprintf(text, size, "`cyclescope list params` names all");
}

void suggest_param(const char *name, char *text, size_t size)
{
    struct suggestion s = suggest_like(name);
    char best[SUGGEST_NAME_MOST] = "";
    for (size_t i = 0; i < core_param_count; i++) {
        char known[SUGGEST_NAME_MOST];
        snprintf(known, sizeof known, "%s.%s", core_params[i].section, core_params[i].key);
        if (suggest_offer(&s, known))
            memcpy(best, known, sizeof best);
    }
    put(best, text, size);
}

void suggest_section(const char *name, char *text, size_t size)
{
    struct suggestion s = suggest_like(name);
    const char *best = "";
    for (size_t i = 0; i < core_param_count; i++)
        if (suggest_offer(&s, core_params[i].section))
            best = core_params[i].section;
    if (suggest_offer(&s, "events"))
        best = "events";
    put(best, text, size);
}
