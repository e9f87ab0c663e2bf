/* For guest programs that check themselves: CHECK what must hold, and return check_result() from main. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int check_failures;

/* Prints the place and the condition if it does not hold, and goes on. */
#define CHECK(condition) check_that((condition) ? 1 : 0, __FILE__, __LINE__, #condition)

static inline int check_that(int holds, const char *file, int line, const char *condition)
{
    if (!holds) {
        fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
        check_failures++;
    }
    return holds;
}

static inline int check_result(void)
{
    return check_failures == 0 ? 0 : 1;
}

#endif
