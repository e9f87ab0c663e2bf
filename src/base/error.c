#include "base/error.h"

#include <stdio.h>

#include "base/clean_text.h"

int error_set(struct error *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    clean_lines(err->text);
    return code;
}
