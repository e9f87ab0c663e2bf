/* The configuration of a core: the parameters of param.def with their values.
 *
 * Values come from the defaults, then from a core file, then from single settings; later ones override earlier ones.
 * core_config_check tells whether the values fit together. A configuration that passed it can be simulated.
 *
 * A core file is an INI file: `key = value` in sections. A parameter `section.key` is the key `key` in [section]. `;`
 * and `#` begin comments. Before the first section a file may say `base = NAME`: it then changes the core of that name,
 * one of those that come with Cyclescope, instead of the defaults.
 *
 * The section [events] is different: its keys are names of PMU events, and a value lists the counters that can count
 * the event, such as `fp_instructions = 0,1`. Any counter can count an event without such a rule. This module stores
 * the names and does not check them; pmu/fit.h does. */
#ifndef CYCLESCOPE_CORE_CONFIG_H
#define CYCLESCOPE_CORE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Values of choices that belong to no other module. */
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
    CORE_COUNTERS = 29, /* most counters in a core: hpmcounter3 to 31 */
    COUNTER_RULES = 64, /* most rules in [events] */
    EVENT_NAME_SIZE = 40
};

/* Which counters can count an event. */
struct counter_rule {
    char event[EVENT_NAME_SIZE]; /* name as written */
    uint32_t counters;           /* bit per counter, from counter 0 on; at least one is set */
    uint32_t origin;             /* where the rule comes from, see core_config.origin */
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
    char name[64];                     /* name of the core: the file's name without folder and suffix */
    char file[128];                    /* name of the core file in messages */
    uint32_t origin[CORE_PARAM_COUNT]; /* where the value of core_params[i] comes from: 0, a line of the core file, or
                                          ORIGIN_SETTING + n; later origins are larger */
    uint32_t settings;                 /* number of core_config_set calls so far */
    uint32_t rule_count;
    struct counter_rule rule[COUNTER_RULES]; /* in the order given, one per event name */
};

/* An origin is 0 for the default or the core file's base, a line number of the core file, or from here on the number of
 * a setting. */
#define ORIGIN_SETTING (UINT32_C(1) << 31)

enum param_type { PARAM_COUNT, PARAM_SIZE, PARAM_FLAG, PARAM_CHOICE };

struct param {
    const char *section, *key;
    enum param_type type;
    size_t offset;             /* offset of its uint64_t in struct core_config */
    uint64_t least, most;      /* range of counts and sizes; choices use `choice` */
    uint64_t standard;         /* default; choices use standard_name */
    const char *standard_name; /* default of a choice; else NULL */
    /* Returns the i-th name of a choice, NULL after the last; NULL for other types. */
    const char *(*choice)(unsigned i);
    const char *help; /* one line of help */
};

extern const struct param core_params[]; /* in the order of param.def; a section may occur more than once */
extern const size_t core_param_count;

void core_config_default(struct core_config *c);
/* Reads the defaults and then a core file: the built-in core of that name if one exists, else the file at that path. */
int core_config_read(struct core_config *c, const char *name_or_path, struct error *err) MUST_CHECK;
/* The same as core_config_read from the text of a core file. `file` is its name in messages and gives the core its
 * name. */
int core_config_parse(struct core_config *c, const char *text, size_t length, const char *file,
                      struct error *err) MUST_CHECK;
/* Applies one setting `section.key=value`, as given with --set. On failure nothing has changed. */
int core_config_set(struct core_config *c, const char *setting, struct error *err) MUST_CHECK;
/* Checks that the values fit together. The message blames the latest of the values that do not. */
int core_config_check(const struct core_config *c, struct error *err) MUST_CHECK;

uint64_t param_value(const struct core_config *c, const struct param *p);
/* Writes the value as a core file would: 16K, yes, lru. */
void param_text(const struct core_config *c, const struct param *p, char *text, size_t size);
/* Write the default value, and the allowed values: 1..16, yes|no, lru|plru|random. */
void param_standard_text(const struct param *p, char *text, size_t size);
void param_range_text(const struct param *p, char *text, size_t size);

/* Writes a set of counters as a core file would: 0,1. */
void counters_text(uint32_t counters, char *text, size_t size);
/* Writes where a rule comes from, for messages: my.ini:7, --set events.loads=0, or core NAME. */
void rule_origin_text(const struct core_config *c, const struct counter_rule *r, char *text, size_t size);

#endif
