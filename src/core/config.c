/* The table of parameters; their values and their texts. */
#include "core/config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/options.h"
#include "branch/branch.h"
#include "core/config_priv.h"
#include "memsys/memsys.h"

static const char *name_in(const char *const *names, size_t count, unsigned i)
{
    return i < count ? names[i] : NULL;
}

#define NAMES(function, ...)                                                                                           \
    static const char *function(unsigned i)                                                                            \
    {                                                                                                                  \
        static const char *const names[] = {__VA_ARGS__};                                                              \
        return name_in(names, sizeof names / sizeof names[0], i);                                                      \
    }
NAMES(issue_order_name, [ISSUE_OUT_OF_ORDER] = "out_of_order", [ISSUE_IN_ORDER] = "in_order",
      [ISSUE_IN_ORDER_SERIAL] = "in_order_serial")
NAMES(branch_unit_name, [BRANCH_ON_ALU] = "alu", [BRANCH_ON_BRANCH] = "branch")
NAMES(store_unit_name, [STORE_ON_LOAD] = "load", [STORE_ON_STORE] = "store")
NAMES(fpmul_unit_name, [FPMUL_ON_FPMULDIV] = "fpmuldiv", [FPMUL_ON_FPU] = "fpu")

const struct param core_params[CORE_PARAM_COUNT] = {
#define AT(section, key) offsetof(struct core_config, section##_##key)
#define COUNT(section, key, standard, least, most, help)                                                               \
    {#section, #key, PARAM_COUNT, AT(section, key), least, most, standard, NULL, NULL, help},
#define SIZE(section, key, standard, least, most, help)                                                                \
    {#section, #key, PARAM_SIZE, AT(section, key), least, most, standard, NULL, NULL, help},
#define FLAG(section, key, standard, help)                                                                             \
    {#section, #key, PARAM_FLAG, AT(section, key), 0, 1, standard, NULL, NULL, help},
#define CHOICE(section, key, names, standard, help)                                                                    \
    {#section, #key, PARAM_CHOICE, AT(section, key), 0, 0, 0, standard, names, help},
#include "core/param.def"
#undef AT
#undef COUNT
#undef SIZE
#undef FLAG
#undef CHOICE
};

const size_t core_param_count = CORE_PARAM_COUNT;

const struct param *param_find(const char *section, const char *key)
{
    for (size_t i = 0; i < core_param_count; i++)
        if (strcmp(core_params[i].section, section) == 0 && strcmp(core_params[i].key, key) == 0)
            return &core_params[i];
    return NULL;
}

const struct param *param_at(size_t offset)
{
    for (size_t i = 0; i < core_param_count; i++)
        if (core_params[i].offset == offset)
            return &core_params[i];
    return NULL;
}

/* ---- values */

uint64_t param_value(const struct core_config *c, const struct param *p)
{
    uint64_t value;
    memcpy(&value, (const char *)c + p->offset, sizeof value);
    return value;
}

static void store(struct core_config *c, const struct param *p, uint64_t value)
{
    memcpy((char *)c + p->offset, &value, sizeof value);
}

static bool choice_of(const struct param *p, const char *name, uint64_t *value)
{
    const char *known;
    for (unsigned i = 0; (known = p->choice(i)) != NULL; i++) {
        if (strcmp(known, name) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

void core_config_default(struct core_config *c)
{
    *c = (struct core_config){.name = "default"};
    for (size_t i = 0; i < core_param_count; i++) {
        const struct param *p = &core_params[i];
        uint64_t value = p->standard;
        bool known = p->type != PARAM_CHOICE || choice_of(p, p->standard_name, &value);
        assert(known);
        (void)known;
        store(c, p, value);
    }
}

/* ---- text */

static void size_text(uint64_t bytes, char *text, size_t size)
{
    static const char suffixes[] = "KMG";
    unsigned power = 0;
    while (power < 3 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        power++;
    }
    snprintf(text, size, "%" PRIu64 "%.*s", bytes, power != 0, suffixes + (power ? power - 1 : 0));
}

static void value_text(const struct param *p, uint64_t value, char *text, size_t size)
{
    const char *name;
    switch (p->type) {
    case PARAM_COUNT: snprintf(text, size, "%" PRIu64, value); break;
    case PARAM_SIZE: size_text(value, text, size); break;
    case PARAM_FLAG: snprintf(text, size, "%s", value ? "yes" : "no"); break;
    case PARAM_CHOICE:
        name = value <= UINT_MAX ? p->choice((unsigned)value) : NULL;
        snprintf(text, size, "%s", name ? name : "?");
        break;
    }
}

void param_text(const struct core_config *c, const struct param *p, char *text, size_t size)
{
    value_text(p, param_value(c, p), text, size);
}

void param_standard_text(const struct param *p, char *text, size_t size)
{
    if (p->type == PARAM_CHOICE)
        snprintf(text, size, "%s", p->standard_name);
    else
        value_text(p, p->standard, text, size);
}

/* Lists the names of a choice, with `last` before the last name and `between` before the others. */
static void choices_text(const struct param *p, const char *between, const char *last, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; p->choice(i) && used < size; i++) {
        const char *before = i == 0 ? "" : p->choice(i + 1) ? between : last;
        used += (size_t)snprintf(text + used, size - used, "%s%s", before, p->choice(i));
    }
}

void param_range_text(const struct param *p, char *text, size_t size)
{
    char least[32], most[32];
    if (p->type == PARAM_FLAG) {
        snprintf(text, size, "yes|no");
    } else if (p->type == PARAM_CHOICE) {
        choices_text(p, "|", "|", text, size);
    } else {
        value_text(p, p->least, least, sizeof least);
        value_text(p, p->most, most, sizeof most);
        snprintf(text, size, "%s..%s", least, most);
    }
}

/* ---- values from text */

static bool parse_plain(const char *text, uint64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static bool parse_flag(const char *text, uint64_t *value)
{
    static const char *const words[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i % 2;
            return true;
        }
    }
    return false;
}

int param_parse(struct core_config *c, const struct param *p, const char *text, const char *where, struct error *err)
{
    uint64_t value = 0;
    bool good = false;
    char wanted[160], most[32];
    switch (p->type) {
    case PARAM_COUNT:
        good = parse_plain(text, &value);
        snprintf(wanted, sizeof wanted, "a number");
        break;
    case PARAM_SIZE:
        good = parse_size(text, &value) == 0;
        snprintf(wanted, sizeof wanted, "a size such as 32K");
        break;
    case PARAM_FLAG:
        good = parse_flag(text, &value);
        snprintf(wanted, sizeof wanted, "yes or no");
        break;
    case PARAM_CHOICE:
        good = choice_of(p, text, &value);
        choices_text(p, ", ", " or ", wanted, sizeof wanted);
        break;
    }
    if (!good)
        return error_set(err, -EINVAL, "%s: %s.%s must be %s, not '%.40s'", where, p->section, p->key, wanted, text);
    if (p->type != PARAM_CHOICE && (value < p->least || value > p->most)) {
        value_text(p, p->least, wanted, sizeof wanted);
        value_text(p, p->most, most, sizeof most);
        return error_set(err, -EINVAL, "%s: %s.%s must lie between %s and %s", where, p->section, p->key, wanted, most);
    }
    store(c, p, value);
    return 0;
}

/* ---- rules: which counters can count an event */

const struct counter_rule *rule_find(const struct core_config *c, const char *event)
{
    for (uint32_t i = 0; i < c->rule_count; i++)
        if (strcasecmp(c->rule[i].event, event) == 0)
            return &c->rule[i];
    return NULL;
}

/* Parses a list of counter numbers with commas. Returns false if the text is not such a list. */
static bool parse_counters(const char *text, uint32_t *counters)
{
    for (*counters = 0;; text++) {
        char *end;
        while (isspace((unsigned char)*text))
            text++;
        if (!isdigit((unsigned char)*text))
            return false;
        unsigned long number = strtoul(text, &end, 10);
        if (number >= CORE_COUNTERS)
            return false;
        *counters |= UINT32_C(1) << number;
        while (isspace((unsigned char)*end))
            end++;
        if (*end != ',')
            return *end == '\0';
        text = end;
    }
}

int rule_parse(struct core_config *c, const char *event, const char *text, const char *where, uint32_t origin,
               struct error *err)
{
    const struct counter_rule *before = rule_find(c, event);
    struct counter_rule rule = {.origin = origin};
    size_t length = strlen(event);
    if (length == 0 || length >= sizeof rule.event)
        return error_set(err, -EINVAL, "%s: there is no event '%.40s'; `cyclescope list events` names all", where,
                         event);
    memcpy(rule.event, event, length);
    if (!parse_counters(text, &rule.counters))
        return error_set(err, -EINVAL,
                         "%s: events.%s must be numbers of counters from 0 to %d, such as 0,1, not '%.40s'", where,
                         event, CORE_COUNTERS - 1, text);
    if (before == NULL && c->rule_count == COUNTER_RULES)
        return error_set(err, -EINVAL, "%s: [events] has room for %d events", where, COUNTER_RULES);
    if (before) {
        size_t i = (size_t)(before - c->rule);
        memmove(&c->rule[i], &c->rule[i + 1], (--c->rule_count - i) * sizeof *c->rule);
    }
    c->rule[c->rule_count++] = rule;
    return 0;
}

void counters_text(uint32_t counters, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < 32 && used < size; i++)
        if (counters >> i & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%u", used ? "," : "", i);
}

void rule_origin_text(const struct core_config *c, const struct counter_rule *r, char *text, size_t size)
{
    char counters[96];
    counters_text(r->counters, counters, sizeof counters);
    if (r->origin >= ORIGIN_SETTING)
        snprintf(text, size, "--set events.%s=%s", r->event, counters);
    else if (r->origin != 0)
        snprintf(text, size, "%s:%u", c->file, r->origin);
    else
        snprintf(text, size, "core %s", c->name);
}
