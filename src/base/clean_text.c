#include "base/clean_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the length in bytes of the UTF-8 character at `s`, or 0 if it is not valid: an overlong encoding, a
 * surrogate, a code above U+10FFFF, or a sequence that breaks off. */
static unsigned character_bytes(const unsigned char *s)
{
    static const uint32_t smallest_code[] = {0, 0, 0x80, 0x800, 0x10000}; /* by length; less is overlong */
    unsigned n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    uint32_t code = n > 1 ? s[0] & (0x7fu >> n) : s[0];
    for (unsigned i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    return n == 0 || code < smallest_code[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

/* Returns the length of the character at `s` if it can be shown; 0 if it must be replaced. */
static unsigned shown_bytes(const unsigned char *s)
{
    bool control = *s < 0x20 || *s == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
    return control ? 0 : character_bytes(s);
}

/* The bytes to replace at `s`, which cannot be shown: a whole control character, or one invalid byte. */
static unsigned bad_bytes(const unsigned char *s)
{
    unsigned n = character_bytes(s);
    return n ? n : 1;
}

static void clean(char *text, bool keep_lines)
{
    unsigned char *to = (unsigned char *)text;
    for (const unsigned char *s = to; *s;) {
        unsigned n = keep_lines && *s == '\n' ? 1 : shown_bytes(s);
        if (n == 0) {
            s += bad_bytes(s);
            *to++ = '?';
        }
        for (; n > 0; n--)
            *to++ = *s++;
    }
    *to = '\0';
}

void clean_text(char *text)
{
    clean(text, false);
}

void clean_lines(char *text)
{
    clean(text, true);
}

void clean_print(const char *text, FILE *to)
{
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        unsigned n = shown_bytes(s);
        if (n == 0)
            fputc('?', to);
        else
            fwrite(s, 1, n, to);
        s += n ? n : bad_bytes(s);
    }
}

char *utf8_copy(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    char *copy = malloc(3 * strlen(text) + 1), *to = copy;
    for (const unsigned char *s = (const unsigned char *)text; copy && *s;) {
        unsigned n = *s < 0x20 ? 1 : shown_bytes(s);
        memcpy(to, n ? (const char *)s : replacement, n ? n : 3);
        to += n ? n : 3;
        s += n ? n : bad_bytes(s);
    }
    if (copy)
        *to = '\0';
    return copy;
}
