#include <stdlib.h>

#include "checkpoint/checkpoint_priv.h"

enum { MAX_BINDS = 4096, MAX_WARM_BYTES = 1 << 30 };

static void bind_fields(struct fields *f, struct guest_bind *bind)
{
    char *path = (char *)bind->path;
    field_string(f, &path);
    bind->path = path;
    field_bool(f, &bind->readonly);
    fields_check(f, path != NULL, "a bound folder has no name");
}

static void binds_fields(struct fields *f, struct process_config *config)
{
    struct guest_bind *binds = (struct guest_bind *)config->binds;
    uint64_t count = config->bind_count;
    field_u64(f, &count);
    if (f->from) {
        bool possible = fields_check(f, count <= MAX_BINDS, "it has too many bound folders");
        binds = possible ? calloc(count + 1, sizeof *binds) : NULL;
        config->binds = binds;
        config->bind_count = binds ? count : 0;
        fields_check(f, !possible || binds, "it needs more memory than is available");
    }
    for (size_t i = 0; i < config->bind_count && fields_good(f); i++)
        bind_fields(f, &binds[i]);
}

void checkpoint_config_fields(struct fields *f, struct process_config *config)
{
    char *sysroot = (char *)config->sysroot;
    field_string(f, &sysroot);
    config->sysroot = sysroot;
    field_bool(f, &config->isolate);
    binds_fields(f, config);
    field_bool(f, &config->allow_net);
    field_bool(f, &config->write_sysroot);
    field_bool(f, &config->host_user);
    field_bool(f, &config->host_streams);
    field_u64(f, &config->seed);
    field_u64(f, &config->memory_limit_bytes);
    field_u64(f, &config->stack_limit_bytes);
    field_u64(f, &config->quantum_insns);
    fields_check(f, config->quantum_insns >= 1 && config->quantum_insns <= INT64_MAX / 1024,
                 "its quantum has an impossible length");
    fields_check(f, config->stack_limit_bytes >= 64 << 10 && config->stack_limit_bytes <= UINT64_C(64) << 30,
                 "its stack has an impossible size");
}

void checkpoint_warm_fields(struct fields *f, struct checkpoint_warm *warm)
{
    field_string(f, &warm->core);
    if (warm->core)
        field_block(f, &warm->state, &warm->length, MAX_WARM_BYTES);
}

void checkpoint_config_free(struct process_config *config)
{
    for (size_t i = 0; i < config->bind_count; i++)
        free((char *)config->binds[i].path);
    free((struct guest_bind *)config->binds);
    free((char *)config->sysroot);
}
