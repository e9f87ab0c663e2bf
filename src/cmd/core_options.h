/* The options of all commands that simulate a core. They fill in a struct simulation. */
#ifndef CYCLESCOPE_CMD_CORE_OPTIONS_H
#define CYCLESCOPE_CMD_CORE_OPTIONS_H

#include "base/options.h"
#include "sim/simulate.h"

struct core_options {
    const char *core;             /* --core: name of a core, or a core file; NULL: the default core */
    struct option_list set;       /* --set: section.key=value */
    struct core_config config;    /* the core with its settings; set by core_options_finish */
    struct simulation simulation; /* of `config`; the other options are stored in it directly */
};

void core_options_init(struct core_options *c);

/* Rows for a command's option table. */
#define CORE_OPTION_ROWS(c)                                                                                            \
    {"core", OPTION_STRING, &(c)->core, "NAME|FILE", "core to simulate (eyerman2006); see `list cores`"},              \
        {"set", OPTION_LIST, &(c)->set, "KEY=VALUE", "set a parameter of the core; see `list params`"},                \
        {"skip", OPTION_COUNT, &(c)->simulation.skip_insns, "N",                                                       \
         "first run N instructions at full speed, without the core"},                                                  \
        {"warm", OPTION_FLAG, &(c)->simulation.warm, NULL,                                                             \
         "with --skip: skipped instructions warm caches and predictors"},                                              \
        {"warmup", OPTION_COUNT, &(c)->simulation.warmup_insns, "N", "then simulate N instructions without counting"}, \
        {"firmware", OPTION_STRING, &(c)->simulation.firmware, "FILE",                                                 \
         "run this firmware in machine mode on the core"},                                                             \
        {"max-insns", OPTION_COUNT, &(c)->simulation.max_insns, "N",                                                   \
         "stop after N counted instructions (0: no limit)"},                                                           \
    {                                                                                                                  \
        "step", OPTION_FLAG, &(c)->simulation.step, NULL, "simulate every idle cycle by itself (slower, same counts)"  \
    }

/* Reads the core, applies the settings and checks the result. Returns 0 or a negative code. */
int core_options_finish(struct core_options *c, struct error *err) MUST_CHECK;
void core_options_free(struct core_options *c);

#endif
