/* The options of every command that simulates a core, and the simulation that they make. */
#ifndef CYCLESCOPE_CMD_CORE_OPTIONS_H
#define CYCLESCOPE_CMD_CORE_OPTIONS_H

#include "base/options.h"
#include "core/simulate.h"

struct core_options {
    const char *core;             /* a name or a file; NULL: the default core */
    struct option_list set;       /* section.key=value */
    struct core_config config;    /* made from the above, checked */
    struct simulation simulation; /* of it; the other options go there at once */
};

void core_options_init(struct core_options *c);

/* Rows for a command's option table. */
#define CORE_OPTION_ROWS(c)                                                                                            \
    {"core", OPTION_STRING, &(c)->core, "NAME|FILE", "the core to simulate (eyerman2006); `list cores` has them"},     \
        {"set", OPTION_LIST, &(c)->set, "KEY=VALUE", "change a parameter of the core; `list params` has them"},        \
        {"skip", OPTION_COUNT, &(c)->simulation.skip_insns, "N", "run N instructions at full speed first"},            \
        {"warm", OPTION_FLAG, &(c)->simulation.warm, NULL, "with --skip: caches and predictors see what is skipped"},  \
        {"warmup", OPTION_COUNT, &(c)->simulation.warmup_insns, "N", "then simulate N instructions uncounted"},        \
        {"firmware", OPTION_STRING, &(c)->simulation.firmware, "FILE", "run this in machine mode beside the program"}, \
        {"max-insns", OPTION_COUNT, &(c)->simulation.max_insns, "N", "stop after N counted instructions (0: never)"},  \
    {                                                                                                                  \
        "step", OPTION_FLAG, &(c)->simulation.step, NULL, "simulate idle cycles one by one (slow; same counts)"        \
    }

/* Reads and checks the core. 0 or a negative code. */
int core_options_finish(struct core_options *c, struct error *err) MUST_CHECK;
void core_options_free(struct core_options *c);

#endif
