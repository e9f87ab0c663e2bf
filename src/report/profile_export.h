/* Export of profiles in the formats of other tools. */
#ifndef CYCLESCOPE_REPORT_PROFILE_EXPORT_H
#define CYCLESCOPE_REPORT_PROFILE_EXPORT_H

#include <stdio.h>

#include "profile/profile_names.h"

struct profile_export {
    const char *name; /* of the command line option */
    const char *help; /* of the option */
    bool lines;       /* the format needs names that were created with source lines */
    /* Writes events `first` to `last`, both included; a format with room for one event writes `first` only. 0, or a
     * negative code with a message. The caller checks `to` for write errors. */
    MUST_CHECK int (*write)(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                            struct error *err);
};

enum { PROFILE_EXPORTS = 4 };
extern const struct profile_export profile_exports[PROFILE_EXPORTS];

/* One function per format, each in its own export_*.c. */
int export_folded(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                  struct error *err) MUST_CHECK;
int export_callgrind(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                     struct error *err) MUST_CHECK;
int export_speedscope(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                      struct error *err) MUST_CHECK;
int export_pprof(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                 struct error *err) MUST_CHECK;

#endif
