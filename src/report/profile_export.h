/* Profiles in the formats of other tools. */
#ifndef CYCLESCOPE_REPORT_PROFILE_EXPORT_H
#define CYCLESCOPE_REPORT_PROFILE_EXPORT_H

#include <stdio.h>

#include "report/profile_names.h"

struct profile_export {
    const char *name; /* of the option */
    const char *help;
    bool lines; /* names must have been made with lines */
    /* 0 or a negative code with a sentence; errors of `to` are the caller's to see. Events from `first` to `last`, both
     * included; a format that holds one has the first. */
    int (*write)(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                 struct error *err) MUST_CHECK;
};

enum { PROFILE_EXPORTS = 4 };
extern const struct profile_export profile_exports[PROFILE_EXPORTS];

/* The formats, one file each. */
int export_folded(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                  struct error *err) MUST_CHECK;
int export_callgrind(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                     struct error *err) MUST_CHECK;
int export_speedscope(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                      struct error *err) MUST_CHECK;
int export_pprof(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                 struct error *err) MUST_CHECK;

#endif
