/* Shared by the files of the core's configuration: parsing values, and finding parameters by name. */
#ifndef CYCLESCOPE_CORE_CONFIG_PRIV_H
#define CYCLESCOPE_CORE_CONFIG_PRIV_H

#include "core/config.h"

/* Both return NULL if no parameter matches. `offset` is that of its field in struct core_config. */
const struct param *param_find(const char *section, const char *key);
const struct param *param_at(size_t offset);

/* Sets the parameter from text. `where` begins the error message: my.ini:7, or --set and the setting. */
int param_parse(struct core_config *c, const struct param *p, const char *text, const char *where,
                struct error *err) MUST_CHECK;

/* Adds the rule that only these counters count the event, in place of an earlier rule for it. `where` begins the error
 * message. */
int rule_parse(struct core_config *c, const char *event, const char *text, const char *where, uint32_t origin,
               struct error *err) MUST_CHECK;
const struct counter_rule *rule_find(const struct core_config *c, const char *event); /* NULL: no rule */

/* Write the end of a message about an unknown name: the most similar known name, or the command that lists all
 * names. */
void suggest_param(const char *name, char *text, size_t size);
void suggest_section(const char *name, char *text, size_t size);

#endif
