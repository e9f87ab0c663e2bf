#include "report/profile_export.h"

const struct profile_export profile_exports[PROFILE_EXPORTS] = {
    {"folded", "write folded stacks of one event, for flame graphs", false, export_folded},
    {"callgrind", "write for callgrind_annotate and KCachegrind", true, export_callgrind},
    {"speedscope", "write for speedscope.app, as JSON", true, export_speedscope},
    {"pprof", "write for pprof, compressed", true, export_pprof},
};
