/* Blocks of memory that together are the state of something: whoever hands it on visits them all. */
#ifndef CYCLESCOPE_BASE_STATE_H
#define CYCLESCOPE_BASE_STATE_H

#include <stddef.h>

typedef void state_visitor(void *context, void *block, size_t bytes);

#endif
