#include "cmd/profile_input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_limit(struct profile_input *in, struct error *err)
{
    char *end;
    in->limit_percent = 0.5;
    if (in->limit == NULL)
        return 0;
    in->limit_percent = strtod(in->limit, &end);
    if (end == in->limit || *end != '\0' || !isfinite(in->limit_percent) || in->limit_percent < 0 ||
        in->limit_percent > 100)
        return error_set(err, -EINVAL, "--limit needs a percentage from 0 to 100, not '%s'", in->limit);
    return 0;
}

static int read_profile(struct profile_input *in, const char *file, bool accesses, struct error *err)
{
    bool standard = strcmp(file, "-") == 0;
    FILE *from = standard ? stdin : fopen(file, "rbe");
    if (from == NULL)
        return error_set(err, -errno, "%s: %s%s", file, strerror(errno),
                         errno == ENOENT ? "; the first argument is a profile, which `record` writes" : "");
    in->profile = profile_load(from, standard ? "standard input" : file, accesses, err);
    if (!standard)
        fclose(from);
    return in->profile ? 0 : -EINVAL;
}

static int choose_events(struct profile_input *in, struct error *err)
{
    in->first = 0;
    in->last = (unsigned)in->profile->events - 1;
    if (in->event == NULL)
        return 0;
    int event = profile_find_event(in->profile, "--event", in->event, err);
    if (event < 0)
        return event;
    in->first = in->last = (unsigned)event;
    return 0;
}

int profile_input_load(struct profile_input *in, const char *file, bool accesses, bool lines, struct error *err)
{
    int code = read_limit(in, err);
    if (code == 0 && in->sysroot && access(in->sysroot, F_OK) != 0)
        code = error_set(err, -errno, "--sysroot %s: %s", in->sysroot, strerror(errno));
    if (code == 0)
        code = read_profile(in, file, accesses, err);
    if (code == 0)
        code = choose_events(in, err);
    /* Without --sysroot, use the sysroot that the program was recorded with. */
    const char *recorded = code == 0 ? profile_info_of(in->profile, "sysroot") : NULL;
    if (in->sysroot == NULL && recorded && *recorded)
        in->sysroot = recorded;
    if (code == 0 && (in->symbols = profile_symbols(in->profile, in->sysroot, err)) == NULL)
        code = -ENOMEM;
    if (code == 0 && (in->names = profile_names_new(in->profile, in->symbols, lines, err)) == NULL)
        code = -ENOMEM;
    return code;
}

void profile_input_free(struct profile_input *in)
{
    profile_names_free(in->names);
    symbols_free(in->symbols);
    profile_free(in->profile);
    in->names = NULL;
    in->symbols = NULL;
    in->profile = NULL;
}

int profile_input_check_function(const struct profile_input *in, const char *name, struct error *err)
{
    for (size_t i = 0; i < in->names->functions; i++)
        if (profile_function_is(&in->names->function[i], name))
            return 0;
    return error_set(err, -ENOENT, "the profile has no samples in a function '%s'; `report` lists its functions", name);
}
