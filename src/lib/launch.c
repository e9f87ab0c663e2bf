#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/version.h"
#include "lib/lib_priv.h"
#include "pmu/machine_pmu.h"

enum { DEFAULT_INTERVAL = 2000000, DEFAULT_QUANTUM = 1000000 };

/* Copies the caller's options. The caller may have been compiled with a header that has fewer or more members: missing
 * members get their defaults; members that this version does not know must be 0. */
static int take_options(struct cyclescope_options *to, const struct cyclescope_options *from, struct error *err)
{
    *to = cyclescope_defaults();
    if (from == NULL)
        return 0;
    const char *bytes = (const char *)from;
    for (size_t i = sizeof *to; i < from->size; i++)
        if (bytes[i] != 0)
            return error_set(err, -EINVAL, "an option is set that version %s of the library does not know",
                             CYCLESCOPE_VERSION);
    if (from->size < sizeof from->size)
        return error_set(err, -EINVAL, "the options were not made by cyclescope_defaults");
    memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    return 0;
}

static void set_default(uint64_t *value, uint64_t otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

static int check(struct cyclescope_options *o, struct error *err)
{
    struct stat st = {0};
    set_default(&o->memory_bytes, UINT64_C(8) << 30);
    set_default(&o->stack_bytes, UINT64_C(8) << 20);
    if (o->interval_cycles && o->interval_insns)
        return error_set(err, -EINVAL, "interval_cycles and interval_insns exclude each other");
    if (o->interval_insns == 0)
        set_default(&o->interval_cycles, DEFAULT_INTERVAL);
    if (o->sysroot && (stat(o->sysroot, &st) != 0 || !S_ISDIR(st.st_mode)))
        return error_set(err, -EINVAL, "sysroot %s: there is no such folder", o->sysroot);
    if (o->stack_bytes < 64 << 10 || o->stack_bytes > UINT64_C(64) << 30)
        return error_set(err, -EINVAL, "stack_bytes must be between 64 KiB and 64 GiB");
    if (o->warm && o->skip_insns == 0)
        return error_set(err, -EINVAL, "warm needs skip_insns: only skipped instructions warm the core");
    if (o->input < 0 || o->output < 0 || o->errors < 0)
        return error_set(err, -EBADF, "input, output and errors must be descriptors, or 0 for the caller's");
    return 0;
}

int launch_prepare(struct launch *l, char *const argv[], const struct cyclescope_options *options, struct error *err)
{
    struct cyclescope_options *o = &l->options;
    memset(l, 0, sizeof *l);
    int code = take_options(o, options, err);
    if (code == 0)
        code = check(o, err);
    if (code == 0 && (argv == NULL || argv[0] == NULL))
        code = error_set(err, -EINVAL, "no program was given");
    if (code == 0)
        code = core_config_read(&l->core, o->core ? o->core : "eyerman2006", err);
    for (const char *const *s = o->settings; code == 0 && s && *s; s++)
        code = core_config_set(&l->core, *s, err);
    if (code == 0)
        code = core_config_check(&l->core, err);
    l->simulation = (struct simulation){.core = &l->core,
                                        .skip_insns = o->skip_insns,
                                        .warm = o->warm != 0,
                                        .warmup_insns = o->warmup_insns,
                                        .max_insns = o->max_insns,
                                        .machine_counters = &pmu_machine_counters};
    /* The caller chooses the streams, and may answer at the other end of a pipe: reads must not wait for more. */
    l->guest = (struct process_config){.sysroot = o->sysroot,
                                       .host_streams = true,
                                       .seed = o->seed,
                                       .chdir = o->folder,
                                       .argv = argv,
                                       .envp = o->environment ? (char *const *)o->environment : guest_environment,
                                       .memory_limit_bytes = o->memory_bytes,
                                       .stack_limit_bytes = o->stack_bytes,
                                       .quantum_insns = DEFAULT_QUANTUM};
    return code;
}
