/* What the commands that read a profile share: their options, and the profile with its names. */
#ifndef CYCLESCOPE_CMD_PROFILE_INPUT_H
#define CYCLESCOPE_CMD_PROFILE_INPUT_H

#include "base/options.h"
#include "report/profile_names.h"

#define PROFILE_FILE_NAME "cyclescope.prof" /* unless a file is named */

struct profile_input {
    const char *event, *limit; /* as given, or NULL */
    const char *sysroot;       /* as given, or else as recorded; or NULL */
    bool no_pager;
    struct profile *profile;
    struct symbols *symbols;
    struct profile_names *names;
    unsigned first, last; /* events to be shown, both included */
    double limit_percent;
};

/* Rows for a command's option table. */
#define PROFILE_INPUT_ROWS(in)                                                                                         \
    {"event", OPTION_STRING, &(in)->event, "EVENT", "only this event, by name or number"},                             \
        {"limit", OPTION_STRING, &(in)->limit, "PERCENT", "least share that is shown by itself (0.5)"},                \
        {"sysroot", OPTION_STRING, &(in)->sysroot, "DIR", "look for the program's files here first (as recorded)"},    \
    {                                                                                                                  \
        "no-pager", OPTION_FLAG, &(in)->no_pager, NULL, "print on the terminal without a pager"                        \
    }

/* Reads the file (`-`: standard input), finds the events and, with `lines` or not, the names. */
int profile_input_load(struct profile_input *in, const char *file, bool accesses, bool lines,
                       struct error *err) MUST_CHECK;
void profile_input_free(struct profile_input *in);

/* Whether a function of this name has a place in the profile; -ENOENT with a sentence if not. */
int profile_input_check_function(const struct profile_input *in, const char *name, struct error *err) MUST_CHECK;

#endif
