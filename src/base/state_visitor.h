/* The callback of functions that visit the state of an object: they call it for each block of memory that the state
 * consists of. The blocks contain no pointers and nothing that follows from the configuration. So the state can be
 * copied to another object with the same configuration, also through a file. */
#ifndef CYCLESCOPE_BASE_STATE_VISITOR_H
#define CYCLESCOPE_BASE_STATE_VISITOR_H

#include <stddef.h>

typedef void state_visitor(void *context, void *block, size_t bytes);

#endif
