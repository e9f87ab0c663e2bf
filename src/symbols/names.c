/* Readable names: demangled, without version, and preferred among aliases. */
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbols_priv.h"

/* Symbol tables append versions: memcpy@@GLIBC_2.27. */
static size_t unversioned_length(const char *name)
{
    size_t length = strcspn(name, "@");
    return length ? length : strlen(name);
}

const char *symbol_name(struct symbol *s)
{
    if (s->ready)
        return s->name;
    s->ready = true;
    size_t length = unversioned_length(s->name);
    const char *suffix = s->plt ? "@plt" : "";
    char *plain = strndup(s->name, length), *shown = NULL;
    if (plain == NULL)
        return s->name;
    char *demangled = plain[0] == '_' ? cplus_demangle(plain, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO) : NULL;
    if (demangled == NULL && !s->plt && s->name[length] == '\0') {
        free(plain);
        return s->name;
    }
    if (asprintf(&shown, "%s%s", demangled ? demangled : plain, suffix) >= 0) {
        s->name = shown;
        s->owned = true;
    }
    free(demangled);
    free(plain);
    return s->name;
}

/* $x, $d and $xrv64... are mapping symbols, which separate code from data; labels with .L are the compiler's. */
bool name_is_real(const char *name)
{
    if (name[0] == '$' && (name[1] == 'x' || name[1] == 'd'))
        return !(name[2] == '\0' || name[2] == '.' || (name[1] == 'x' && name[2] == 'r' && name[3] == 'v'));
    return name[0] != '\0' && !(name[0] == '.' && name[1] == 'L');
}

int name_compare(const char *a, const char *b)
{
    size_t x = strspn(a, "_"), y = strspn(b, "_");
    if (x == y) {
        x = unversioned_length(a);
        y = unversioned_length(b);
    }
    return x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}
