#include "cmd/core_options.h"

#include <errno.h>

#include "pmu/machine_pmu.h"

void core_options_init(struct core_options *c)
{
    *c = (struct core_options){0};
}

int core_options_finish(struct core_options *c, struct error *err)
{
    struct simulation *s = &c->simulation;
    if (s->warm && s->skip_insns == 0)
        return error_set(err, -EINVAL, "--warm needs --skip N: only skipped instructions warm the core");
    int code = core_config_read(&c->config, c->core ? c->core : "eyerman2006", err);
    for (size_t i = 0; code == 0 && i < c->set.count; i++)
        code = core_config_set(&c->config, c->set.value[i], err);
    if (code == 0)
        code = core_config_check(&c->config, err);
    s->core = &c->config;
    s->machine_counters = &pmu_machine_counters;
    return code;
}

void core_options_free(struct core_options *c)
{
    option_list_free(&c->set);
}
