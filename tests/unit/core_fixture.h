/* Cores for tests, by what is different about them. */
#ifndef CYCLESCOPE_TESTS_CORE_FIXTURE_H
#define CYCLESCOPE_TESTS_CORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/config.h"

/* A core by its settings, with spaces between them. */
static inline void make_core(struct core_config *c, const char *settings)
{
    struct error err;
    core_config_default(c);
    while (*settings) {
        char one[96];
        size_t length = strcspn(settings, " ");
        snprintf(one, sizeof one, "%.*s", (int)length, settings);
        if (core_config_set(c, one, &err) != 0)
            fail_msg("%s", err.text);
        settings += length + strspn(settings + length, " ");
    }
}

#endif
