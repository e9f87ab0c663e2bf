/* Shared by the commands that read a profile: their options, and the loaded profile with its symbols. */
#ifndef CYCLESCOPE_CMD_PROFILE_INPUT_H
#define CYCLESCOPE_CMD_PROFILE_INPUT_H

#include "base/options.h"
#include "profile/profile_names.h"

#define PROFILE_FILE_NAME "cyclescope.prof" /* default name of a profile */

struct profile_input {
    const char *event, *limit; /* text of the options, or NULL */
    const char *sysroot;       /* of the option, or else as recorded in the profile; or NULL */
    bool no_pager;
    struct profile *profile;
    struct symbols *symbols;
    struct profile_names *names;
    unsigned first, last; /* numbers of the first and last event to show */
    double limit_percent; /* number in `limit` */
};

/* Rows for a command's option table. */
#define PROFILE_INPUT_ROWS(in)                                                                                         \
    {"event", OPTION_STRING, &(in)->event, "EVENT", "show only this event, by name or number"},                        \
        {"limit", OPTION_STRING, &(in)->limit, "PERCENT", "smallest share that has a row of its own (0.5)"},           \
        {"sysroot", OPTION_STRING, &(in)->sysroot, "DIR", "look for the program's files in DIR first (as recorded)"},  \
    {                                                                                                                  \
        "no-pager", OPTION_FLAG, &(in)->no_pager, NULL, "print to the terminal without a pager"                        \
    }

/* Checks the options, reads the profile `file` ("-": standard input) and looks up the symbols. `accesses`: also loads
 * the addresses of data accesses. `lines`: also looks up source lines. Returns 0 or a negative code. */
int profile_input_load(struct profile_input *in, const char *file, bool accesses, bool lines,
                       struct error *err) MUST_CHECK;
void profile_input_free(struct profile_input *in);

/* Returns 0 if the profile has samples in a function of this name, otherwise -ENOENT. */
int profile_input_check_function(const struct profile_input *in, const char *name, struct error *err) MUST_CHECK;

#endif
