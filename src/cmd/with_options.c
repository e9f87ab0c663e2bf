#include "cmd/with_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUANTUM_LEAST = 1000
}; /* cycles; data from memory must arrive while the program that needs it still has its turn */

void with_options_init(struct with_options *w)
{
    *w = (struct with_options){.quantum_cycles = 1000000};
}

/* ---- words */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Copies the next word to `*to`, without quotation marks and backslashes. Returns the end of the word in the line; NULL
 * if a quotation mark is not closed. */
static const char *copy_word(const char *from, char **to)
{
    char quote = 0;
    for (; *from && (quote || !is_blank(*from)); from++) {
        if (quote ? *from == quote : *from == '\'' || *from == '"') {
            quote = quote ? 0 : *from;
            continue;
        }
        bool escapes = *from == '\\' && quote != '\'' && (!quote || from[1] == '"' || from[1] == '\\');
        if (escapes && *++from == '\0')
            return NULL;
        *(*to)++ = *from;
    }
    *(*to)++ = '\0';
    return quote ? NULL : from;
}

char **split_words(const char *line, struct error *err)
{
    size_t length = strlen(line), most = length / 2 + 2, count = 0;
    char **words = malloc(most * sizeof *words + length + 1 + most);
    if (words == NULL) {
        error_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    char *to = (char *)(words + most);
    const char *from = line;
    for (;;) {
        while (is_blank(*from))
            from++;
        if (*from == '\0')
            break;
        words[count++] = to;
        if ((from = copy_word(from, &to)) == NULL) {
            error_set(err, -EINVAL, "a quotation mark is not closed: %s", line);
            free(words);
            return NULL;
        }
    }
    words[count] = NULL;
    return words;
}

/* ---- programs */

static int add_program(struct with_options *w, const struct process_config *first, const char *line, struct error *err)
{
    struct error why;
    char **argv = split_words(line, &why);
    if (argv == NULL)
        return error_set(err, -EINVAL, "--with: %s", why.text);
    w->argv[w->count] = argv;
    w->config[w->count] = *first;
    w->config[w->count++].argv = argv;
    return argv[0] ? 0 : error_set(err, -EINVAL, "--with needs a program: '%s' is empty", line);
}

int with_options_finish(struct with_options *w, const struct process_config *first, struct simulation *s,
                        struct error *err)
{
    if (w->quantum_cycles < QUANTUM_LEAST)
        return error_set(err, -EINVAL, "--quantum must be at least %d cycles", QUANTUM_LEAST);
    s->turn_cycles = w->quantum_cycles;
    if (w->with.count == 0)
        return 0;
    if (w->with.count >= CORE_SPACES)
        return error_set(err, -E2BIG, "--with: at most %d programs can share a core", CORE_SPACES);
    w->config = calloc(w->with.count + 1, sizeof *w->config);
    w->argv = calloc(w->with.count + 1, sizeof *w->argv);
    if (w->config == NULL || w->argv == NULL)
        return error_set(err, -ENOMEM, "out of memory");
    w->config[0] = *first;
    w->count = 1;
    int code = 0;
    for (size_t i = 0; code == 0 && i < w->with.count; i++)
        code = add_program(w, first, w->with.value[i], err);
    return code;
}

void with_options_free(struct with_options *w)
{
    for (unsigned i = 0; i < w->count; i++)
        free(w->argv[i]);
    free(w->argv);
    free(w->config);
    option_list_free(&w->with);
}
