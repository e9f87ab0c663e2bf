/* Strings of JSON documents. */
#ifndef CYCLESCOPE_REPORT_JSON_TEXT_H
#define CYCLESCOPE_REPORT_JSON_TEXT_H

#include <jansson.h>

/* A string for text that comes from outside, such as a path, which need not be UTF-8 (utf8_copy). NULL text: null. NULL
 * if out of memory. */
json_t *text_json(const char *text);
/* An array of the strings in `bytes` bytes, each with a terminating zero. NULL strings: null. */
json_t *texts_json(const char *strings, size_t bytes);

#endif
