/* Blocks of memory that together are the state of something: whoever hands it on visits them all. They hold neither
 * pointers nor what its configuration says, so that another of the same configuration can take them over, even from a
 * file. */
#ifndef CYCLESCOPE_BASE_STATE_H
#define CYCLESCOPE_BASE_STATE_H

#include <stddef.h>

typedef void state_visitor(void *context, void *block, size_t bytes);

#endif
