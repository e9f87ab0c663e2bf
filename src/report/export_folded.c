/* Export as folded stacks: one line `main;foo;bar 123` per call path, outermost function first. */
#include <inttypes.h>

#include "report/profile_export.h"
#include "profile/profile_tree.h"

/* Replaces `;`, which separates frames. */
static void put_frame(const char *name, FILE *to)
{
    for (; *name; name++)
        fputc(*name == ';' ? ':' : *name, to);
}

int export_folded(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                  struct error *err)
{
    (void)last, (void)version;
    uint32_t path[PROFILE_FRAMES_MOST + 1];
    struct profile_tree t;
    int code = profile_tree_make(&t, n, first, NULL, err);
    if (code != 0)
        return code;
    for (uint32_t i = profile_tree_next(&t, 0); i; i = profile_tree_next(&t, i)) {
        if (t.node[i].self.weight == 0)
            continue;
        size_t depth = profile_tree_path(&t, i, path);
        for (size_t k = 0; k < depth; k++) {
            if (k)
                fputc(';', to);
            put_frame(n->function[path[k]].name, to);
        }
        fprintf(to, " %" PRIu64 "\n", t.node[i].self.weight);
    }
    profile_tree_free(&t);
    return 0;
}
