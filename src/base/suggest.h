/* Finds the known name that is most similar to an unknown one, for "did you mean" messages. The caller offers known
 * names one by one. Similarity is edit distance; upper and lower case are the same. */
#ifndef CYCLESCOPE_BASE_SUGGEST_H
#define CYCLESCOPE_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { SUGGEST_NAME_MOST = 64 }; /* longer names are never suggested, and get no suggestion */

struct suggestion {
    const char *wanted; /* the unknown name */
    size_t length;      /* its length in bytes */
    unsigned distance;  /* of the best name so far: letters to insert, delete or replace */
};

/* Starts a search. `most` is the largest distance at which a name is still suggested. */
struct suggestion suggest_for(const char *wanted, size_t length, unsigned most);
/* Returns true if this name is nearer than all names offered before it. */
bool suggest_offer(struct suggestion *s, const char *name) __attribute__((warn_unused_result));

#endif
