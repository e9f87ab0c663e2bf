#include "base/array.h"

#include <stdlib.h>

void *array_grow(void *array, size_t count, size_t *room, size_t element_bytes)
{
    if (count < *room)
        return array;
    size_t new_room = *room ? 2 * *room : 16;
    void *grown = reallocarray(array, new_room, element_bytes);
    if (grown)
        *room = new_room;
    return grown;
}
