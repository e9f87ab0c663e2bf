#include "sim/warm_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_SIZE = 64 }; /* most characters of a parameter's value, and of a line in messages */

/* All parameters as text, one `section.key=value` line each, in the order of param.def; the caller frees it. NULL: out
 * of memory. */
static char *parameters(const struct core_config *config)
{
    char *text = NULL, value[VALUE_SIZE];
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (!to)
        return NULL;
    for (size_t i = 0; i < core_param_count; i++) {
        const struct param *p = &core_params[i];
        param_text(config, p, value, sizeof value);
        fprintf(to, "%s.%s=%s\n", p->section, p->key, value);
    }
    bool good = !ferror(to);
    if (fclose(to) == 0 && good)
        return text;
    free(text);
    return NULL;
}

int warm_state_take(struct checkpoint_warm *to, struct core *core, const struct core_config *config, struct error *err)
{
    *to = (struct checkpoint_warm){.core = parameters(config), .length = core_warm_bytes(core)};
    to->state = calloc(1, to->length + 1);
    if (!to->core || !to->state) {
        warm_state_free(to);
        return error_set(err, -ENOMEM, "out of memory for the state of the core");
    }
    core_put_warm(core, to->state);
    return 0;
}

void warm_state_free(struct checkpoint_warm *warm)
{
    free(warm->core);
    free(warm->state);
    *warm = (struct checkpoint_warm){0};
}

/* Reports the first line in which two parameter texts differ. */
static int refuse_other(const char *saved, const char *ours, struct error *err)
{
    for (;;) {
        size_t a = strcspn(saved, "\n"), b = strcspn(ours, "\n");
        if (a != b || memcmp(saved, ours, a) != 0)
            return error_set(err, -EINVAL,
                             "the checkpoint's caches and predictors are of another core: there %.*s, here %.*s",
                             a < VALUE_SIZE ? (int)a : VALUE_SIZE, saved, b < VALUE_SIZE ? (int)b : VALUE_SIZE, ours);
        if (saved[a] == 0 || ours[b] == 0)
            return error_set(err, -EINVAL, "the checkpoint's caches and predictors are of another version's core");
        saved += a + 1;
        ours += b + 1;
    }
}

int warm_state_use(const struct checkpoint *c, struct simulation *s, struct error *err)
{
    const struct checkpoint_warm *warm = c ? checkpoint_warm(c) : NULL;
    if (!warm)
        return 0;
    char *ours = parameters(s->core);
    int code = !ours                           ? error_set(err, -ENOMEM, "out of memory")
               : strcmp(warm->core, ours) == 0 ? 0
                                               : refuse_other(warm->core, ours, err);
    free(ours);
    s->state = warm->state;
    s->state_bytes = warm->length;
    return code;
}
