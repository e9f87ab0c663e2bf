/* Arrays that grow. */
#ifndef CYCLESCOPE_BASE_ARRAY_H
#define CYCLESCOPE_BASE_ARRAY_H

#include <stddef.h>

#include "base/error.h"

/* Makes room for one more element after the first `count`. Doubles the array when it is full. `*room` is the capacity
 * in elements. Returns the array, which may have moved; or NULL if out of memory, and then the old array is unchanged.
 */
void *array_grow(void *array, size_t count, size_t *room, size_t element_bytes) MUST_CHECK;

#endif
