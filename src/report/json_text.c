#include "report/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/clean_text.h"

json_t *text_json(const char *text)
{
    char *copy = text ? utf8_copy(text) : NULL;
    json_t *value = text ? json_string(copy) : json_null();
    free(copy);
    return value;
}

json_t *texts_json(const char *strings, size_t bytes)
{
    json_t *array = strings ? json_array() : json_null();
    for (size_t at = 0; strings && at < bytes; at += strlen(strings + at) + 1)
        json_array_append_new(array, text_json(strings + at));
    return array;
}
