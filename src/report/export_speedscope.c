/* Export in the file format of speedscope (https://www.speedscope.app/file-format-schema.json): one "sampled" profile
 * per event, with one sample per call path, weighted by the weight of the path. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "report/profile_export.h"
#include "profile/profile_tree.h"

/* Writes `value` and releases it. -ENOMEM if it is NULL. */
static int put_value(json_t *value, FILE *to, struct error *err)
{
    if (value == NULL)
        return error_set(err, -ENOMEM, "out of memory for a profile");
    json_dumpf(value, to, JSON_ENCODE_ANY | JSON_COMPACT);
    json_decref(value);
    return 0;
}

static int put_frames(const struct profile_names *n, FILE *to, struct error *err)
{
    for (size_t i = 0; i < n->functions; i++) {
        const struct profile_function *f = &n->function[i];
        json_t *frame = json_pack("{s:s, s:s}", "name", f->name, "file", f->file ? f->file : f->module);
        if (f->file)
            json_object_set_new(frame, "line", json_integer(f->line));
        fputs(i ? ",\n" : "\n", to);
        int code = put_value(frame, to, err);
        if (code != 0)
            return code;
    }
    return 0;
}

static void put_samples(const struct profile_tree *t, FILE *to)
{
    uint32_t path[PROFILE_FRAMES_MOST + 1];
    const char *between = "";
    for (uint32_t i = profile_tree_next(t, 0); i; i = profile_tree_next(t, i)) {
        if (t->node[i].self.weight == 0)
            continue;
        size_t depth = profile_tree_path(t, i, path);
        fprintf(to, "%s\n[", between);
        for (size_t k = 0; k < depth; k++)
            fprintf(to, "%s%" PRIu32, k ? "," : "", path[k]);
        fputc(']', to);
        between = ",";
    }
}

static void put_weights(const struct profile_tree *t, FILE *to)
{
    const char *between = "";
    for (uint32_t i = profile_tree_next(t, 0); i; i = profile_tree_next(t, i)) {
        if (t->node[i].self.weight == 0)
            continue;
        fprintf(to, "%s\n%" PRIu64, between, t->node[i].self.weight);
        between = ",";
    }
}

static int put_event(const struct profile_names *n, unsigned event, FILE *to, struct error *err)
{
    const struct profile_counted *e = &n->profile->event[event];
    struct profile_tree t;
    int code = profile_tree_make(&t, n, event, NULL, err);
    if (code != 0)
        return code;
    fputs("{\"type\":\"sampled\",\"name\":", to);
    code = put_value(json_string(e->name), to, err);
    fprintf(to, ",\"unit\":\"none\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[", e->weight);
    put_samples(&t, to);
    fputs("],\"weights\":[", to);
    put_weights(&t, to);
    fputs("]}", to);
    profile_tree_free(&t);
    return code;
}

int export_speedscope(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                      struct error *err)
{
    const char *program = profile_info_of(n->profile, "program");
    fprintf(to, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"cyclescope %s\",\n",
            version);
    fputs("\"name\":", to);
    int code = put_value(json_string(program ? program : "cyclescope"), to, err);
    fputs(",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[", to);
    if (code == 0)
        code = put_frames(n, to, err);
    fputs("]},\n\"profiles\":[", to);
    for (unsigned e = first; code == 0 && e <= last; e++) {
        fputs(e > first ? ",\n" : "\n", to);
        code = put_event(n, e, to, err);
    }
    fputs("]}\n", to);
    return code;
}
