/* The description of a core: the parameters of param.def with their values.
 *
 * Values come from the defaults, then from a core file, then from single settings, later ones over earlier ones.
 * core_config_check says whether they make sense together; a config that passed can be simulated.
 *
 * A core file is an INI file: `key = value` in sections named like the part of a parameter before its dot; `;` and `#`
 * begin comments. Before the first section there may be `base = NAME`: the file then changes that core, one of those
 * that come with Cyclescope, instead of the defaults.
 *
 * The section [events] has keys of its own: names of events of the PMU, each with the numbers of the counters that can
 * count it, such as `fp-instructions = 0,1`. An event without such a rule can be counted by any. This module keeps the
 * names and does not know whether there are such events: pmu/fit.h says. */
#ifndef CYCLESCOPE_CORE_CONFIG_H
#define CYCLESCOPE_CORE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Values of the choices that belong to no other module. */
enum issue_order { ISSUE_OUT_OF_ORDER, ISSUE_IN_ORDER, ISSUE_IN_ORDER_SERIAL };
enum branch_on { BRANCH_ON_ALU, BRANCH_ON_BRANCH };
enum store_on { STORE_ON_LOAD, STORE_ON_STORE };
enum fpmul_on { FPMUL_ON_FPMULDIV, FPMUL_ON_FPU };

enum {
    CORE_PARAM_COUNT = 0
#define COUNT(...)  +1
#define SIZE(...)   +1
#define FLAG(...)   +1
#define CHOICE(...) +1
#include "core/param.def"
#undef COUNT
#undef SIZE
#undef FLAG
#undef CHOICE
};

enum {
    CORE_COUNTERS = 29, /* most counters of a core: hpmcounter3 to 31 */
    COUNTER_RULES = 64, /* most rules of [events] */
    EVENT_NAME_SIZE = 40
};

/* Which counters can count an event. */
struct counter_rule {
    char event[EVENT_NAME_SIZE]; /* as it was written */
    uint32_t counters;           /* a bit for each, from counter 0 on: at least one */
    uint32_t origin;             /* see core_config.origin */
};

struct core_config {
#define COUNT(section, key, ...)  uint64_t section##_##key;
#define SIZE(section, key, ...)   uint64_t section##_##key;
#define FLAG(section, key, ...)   uint64_t section##_##key;
#define CHOICE(section, key, ...) uint64_t section##_##key;
#include "core/param.def"
#undef COUNT
#undef SIZE
#undef FLAG
#undef CHOICE
    char name[64];                     /* of the core: the file's name without folder and suffix */
    char file[128];                    /* the core file, as messages call it */
    uint32_t origin[CORE_PARAM_COUNT]; /* where the value of core_params[i] comes from, later origins being larger */
    uint32_t settings;                 /* number of core_config_set so far */
    uint32_t rule_count;
    struct counter_rule rule[COUNTER_RULES]; /* in the order in which they were given, one of each name */
};

/* Values of `origin` besides the line of the core file: 0 is the default or the file's base; from here on settings. */
#define ORIGIN_SETTING (UINT32_C(1) << 31)

enum param_type { PARAM_COUNT, PARAM_SIZE, PARAM_FLAG, PARAM_CHOICE };

struct param {
    const char *section, *key;
    enum param_type type;
    size_t offset;                     /* of its uint64_t in struct core_config */
    uint64_t least, most;              /* of counts and sizes; of a choice see `choice` */
    uint64_t standard;                 /* the default; of a choice see standard_name */
    const char *standard_name;         /* default of a choice, or NULL */
    const char *(*choice)(unsigned i); /* names of a choice, NULL behind the last; or NULL */
    const char *help;                  /* one line */
};

extern const struct param core_params[]; /* in the order of param.def: a section may occur more than once */
extern const size_t core_param_count;

void core_config_default(struct core_config *c);
/* The defaults and over them a core file: by path, or by the name of one that comes with Cyclescope. A name is one of
 * the latter if it can be. */
int core_config_read(struct core_config *c, const char *name_or_path, struct error *err) MUST_CHECK;
/* The same from the text of a core file; messages call it `file`, and it gives the core its name. */
int core_config_parse(struct core_config *c, const char *text, size_t length, const char *file,
                      struct error *err) MUST_CHECK;
/* `section.key=value`, as after --set. If it fails, nothing has changed. */
int core_config_set(struct core_config *c, const char *setting, struct error *err) MUST_CHECK;
/* Blames the latest of the values that do not fit together. */
int core_config_check(const struct core_config *c, struct error *err) MUST_CHECK;

uint64_t param_value(const struct core_config *c, const struct param *p);
/* The value as a core file would write it: 16K, yes, lru. */
void param_text(const struct core_config *c, const struct param *p, char *text, size_t size);
/* The default, and what else is allowed, likewise: 1..16, yes|no, lru|plru|random. */
void param_standard_text(const struct param *p, char *text, size_t size);
void param_range_text(const struct param *p, char *text, size_t size);

/* The counters of a rule, or any others, as a core file would write them: 0,1. */
void counters_text(uint32_t counters, char *text, size_t size);
/* Where a rule comes from, as messages call it: my.ini:7, --set events.loads=0, or the core. */
void rule_origin_text(const struct core_config *c, const struct counter_rule *r, char *text, size_t size);

#endif
