#include "base/clean_text.h"

#include <stdint.h>

/* Bytes of the character that begins here, 0 if it is none: too long, a surrogate, too large or broken off. */
static unsigned character(const unsigned char *s)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    uint32_t code = n > 1 ? s[0] & (0x7fu >> n) : s[0];
    for (unsigned i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    return n == 0 || code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

void clean_text(char *text)
{
    for (unsigned char *s = (unsigned char *)text; *s;) {
        unsigned n = character(s);
        if (n == 0 || *s < 0x20 || *s == 0x7f) {
            *s = '?';
            n = 1;
        }
        s += n;
    }
}
