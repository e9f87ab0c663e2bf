#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

static int parse_number(const char *text, uint64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return -EINVAL;
    errno = 0;
    *number = strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
    return errno != 0 || *end != '\0' ? -EINVAL : 0;
}

/* Parses a number with an optional suffix K, M, G or T, which stands for a power of `thousand` (1000 or 1024). */
static int parse_suffixed(const char *text, uint64_t thousand, uint64_t *number)
{
    static const char suffixes[] = "KMGT";
    char digits[32];
    size_t length = strlen(text);
    uint64_t factor = 1;
    if (length == 0 || length >= sizeof digits)
        return -EINVAL;
    memcpy(digits, text, length + 1);
    const char *suffix = strchr(suffixes, toupper((unsigned char)digits[length - 1]));
    if (suffix && *suffix) {
        for (const char *s = suffixes; s <= suffix; s++)
            factor *= thousand;
        digits[length - 1] = '\0';
    }
    if (parse_number(digits, number) != 0 || __builtin_mul_overflow(*number, factor, number))
        return -EINVAL;
    return 0;
}

int parse_count(const char *text, uint64_t *count)
{
    return parse_suffixed(text, 1000, count);
}

int parse_size(const char *text, uint64_t *bytes)
{
    return parse_suffixed(text, 1024, bytes);
}

static void list_add(struct option_list *list, const char *value)
{
    list->value = realloc(list->value, (list->count + 1) * sizeof *list->value);
    if (list->value == NULL)
        abort();
    list->value[list->count++] = value;
}

void option_list_free(struct option_list *list)
{
    free(list->value);
    *list = (struct option_list){0};
}

static char letter_of(const struct option *o)
{
    return o->name[1] == ',' ? o->name[0] : '\0';
}

static const char *name_of(const struct option *o)
{
    return letter_of(o) ? o->name + 2 : o->name;
}

static const struct option *find(const struct option *table, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(name_of(&table[i])) == length && memcmp(name_of(&table[i]), name, length) == 0)
            return &table[i];
    return NULL;
}

static const struct option *find_letter(const struct option *table, size_t count, char letter)
{
    for (size_t i = 0; i < count; i++)
        if (letter && letter_of(&table[i]) == letter)
            return &table[i];
    return NULL;
}

/* Returns the most similar option, for the error message; if none is similar, the one that shares the longest prefix.
 */
static const char *nearest(const struct option *table, size_t count, const char *name, size_t length)
{
    struct suggestion s = suggest_for(name, length, 1 + (unsigned)length / 4);
    const char *best = "help", *similar = NULL;
    size_t best_shared = 0;
    for (size_t i = 0; i < count; i++)
        if (suggest_offer(&s, name_of(&table[i])))
            similar = name_of(&table[i]);
    if (similar)
        return similar;
    for (size_t i = 0; i < count; i++) {
        size_t shared = 0;
        while (shared < length && name_of(&table[i])[shared] == name[shared])
            shared++;
        if (shared > best_shared) {
            best_shared = shared;
            best = name_of(&table[i]);
        }
    }
    return best;
}

static int set(const struct option *o, const char *value, struct error *err)
{
    switch (o->kind) {
    case OPTION_FLAG: *(bool *)o->to = true; return 0;
    case OPTION_STRING:
    case OPTION_OPTIONAL: *(const char **)o->to = value; return 0;
    case OPTION_LIST: list_add(o->to, value); return 0;
    case OPTION_NUMBER:
        if (parse_number(value, o->to) != 0)
            return error_set(err, -EINVAL, "--%s needs a number, not '%s'", name_of(o), value);
        return 0;
    case OPTION_COUNT:
    case OPTION_POSITIVE:
        if (parse_count(value, o->to) != 0)
            return error_set(err, -EINVAL, "--%s needs a number such as 500 or 2M, not '%s'", name_of(o), value);
        if (o->kind == OPTION_POSITIVE && *(const uint64_t *)o->to == 0)
            return error_set(err, -EINVAL, "--%s must be at least 1", name_of(o));
        return 0;
    case OPTION_SIZE:
        if (parse_size(value, o->to) != 0)
            return error_set(err, -EINVAL, "--%s needs a size such as 64M, not '%s'", name_of(o), value);
        return 0;
    }
    return -EINVAL;
}

int options_parse(const struct option *table, size_t count, int argc, char **argv, struct error *err)
{
    int i = 0;
    for (; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1;
        bool is_long = argv[i][1] == '-';
        const char *name = argv[i] + (is_long ? 2 : 1);
        const char *given = is_long ? strchr(name, '=') : name[1] ? name : NULL; /* the value begins at given + 1 */
        size_t length = given && is_long ? (size_t)(given - name) : strlen(name);
        const struct option *o = is_long ? find(table, count, name, length) : find_letter(table, count, name[0]);
        if (o == NULL)
            return error_set(err, -EINVAL, "unknown option '%.*s': did you mean --%s? (--help lists all)",
                             (int)(name + length - argv[i]), argv[i], nearest(table, count, name, length));
        const char *value = given ? given + 1 : "";
        if (o->kind == OPTION_FLAG && given)
            return error_set(err, -EINVAL, "--%s takes no value", name_of(o));
        if (o->kind != OPTION_FLAG && o->kind != OPTION_OPTIONAL && !given) {
            if (i + 1 == argc)
                return error_set(err, -EINVAL, "--%s needs a value: --%s %s", name_of(o), name_of(o), o->metavar);
            value = argv[++i];
        }
        int code = set(o, value, err);
        if (code != 0)
            return code;
    }
    return i;
}

void options_print(const struct option *table, size_t count, FILE *to)
{
    for (size_t i = 0; i < count; i++) {
        char left[64], letter[5] = "";
        if (letter_of(&table[i]))
            snprintf(letter, sizeof letter, "-%c, ", letter_of(&table[i]));
        const char *before = table[i].kind == OPTION_OPTIONAL ? "[=" : table[i].metavar ? " " : "";
        snprintf(left, sizeof left, "%s--%s%s%s%s", letter, name_of(&table[i]), before,
                 table[i].metavar ? table[i].metavar : "", table[i].kind == OPTION_OPTIONAL ? "]" : "");
        fprintf(to, "  %-22s %s\n", left, table[i].help);
    }
}
