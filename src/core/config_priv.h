/* What the files of the core's configuration share: values from text, and parameters by name. */
#ifndef CYCLESCOPE_CORE_CONFIG_PRIV_H
#define CYCLESCOPE_CORE_CONFIG_PRIV_H

#include "core/config.h"

/* NULL if there is none. */
const struct param *param_find(const char *section, const char *key);
const struct param *param_at(size_t offset);

/* Sets the parameter from text. A message begins with `where`: my.ini:7, or --set and what follows. */
int param_parse(struct core_config *c, const struct param *p, const char *text, const char *where,
                struct error *err) MUST_CHECK;

/* Lets only these counters count an event, whatever a rule of that name said before. A message begins with `where`. */
int rule_parse(struct core_config *c, const char *event, const char *text, const char *where, uint32_t origin,
               struct error *err) MUST_CHECK;
const struct counter_rule *rule_find(const struct core_config *c, const char *event); /* NULL if there is none */

/* The end of a sentence about a name that does not exist: what it might have been, or where to find what exists. */
void suggest_param(const char *name, char *text, size_t size);
void suggest_section(const char *name, char *text, size_t size);

#endif
