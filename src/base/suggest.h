/* What an unknown name might have been: the nearest of the names that are offered one by one, whatever their case. */
#ifndef CYCLESCOPE_BASE_SUGGEST_H
#define CYCLESCOPE_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { SUGGEST_NAME_MOST = 64 }; /* longer names are never suggested, nor is anything for them */

struct suggestion {
    const char *wanted; /* the unknown name */
    size_t length;
    unsigned distance; /* of the best so far: letters to insert, delete or replace */
};

/* `most` is the largest distance at which a name may still have been meant. */
struct suggestion suggest_for(const char *wanted, size_t length, unsigned most);
/* Whether this name is nearer than all before it. */
bool suggest_offer(struct suggestion *s, const char *name) __attribute__((warn_unused_result));

#endif
