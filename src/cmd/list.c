/* cyclescope list: what there is to choose from. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "cmd/command.h"
#include "core/config.h"
#include "core/cores.h"
#include "report/counts.h"
#include "stacks/stacks.h"

/* ---- params */

/* A parameter's columns as text. */
struct row {
    char name[48], range[128], standard[32];
};

static struct row row_of(const struct param *p)
{
    struct row r;
    snprintf(r.name, sizeof r.name, "%s.%s", p->section, p->key);
    param_range_text(p, r.range, sizeof r.range);
    param_standard_text(p, r.standard, sizeof r.standard);
    return r;
}

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static bool first_of_section(const struct param *p)
{
    for (const struct param *before = core_params; before < p; before++)
        if (strcmp(before->section, p->section) == 0)
            return false;
    return true;
}

static void list_params(void)
{
    const struct param *end = core_params + core_param_count;
    int name = 0, range = 0, standard = 0;
    for (const struct param *p = core_params; p < end; p++) {
        struct row r = row_of(p);
        name = wider(name, r.name);
        range = wider(range, r.range);
        standard = wider(standard, r.standard);
    }
    for (const struct param *first = core_params; first < end; first++) {
        if (!first_of_section(first))
            continue;
        if (first != core_params)
            putchar('\n');
        for (const struct param *p = first; p < end; p++) {
            struct row r = row_of(p);
            if (strcmp(p->section, first->section) == 0)
                printf("%-*s  %-*s  %-*s  %s\n", name, r.name, range, r.range, standard, r.standard, p->help);
        }
    }
}

/* ---- cores */

static void list_cores(void)
{
    const char *name;
    char summary[160];
    int width = 0;
    for (unsigned i = 0; (name = core_name(i)) != NULL; i++)
        width = wider(width, name);
    for (unsigned i = 0; (name = core_name(i)) != NULL; i++) {
        core_summary(core_text(name), summary, sizeof summary);
        printf("%-*s  %s\n", width, name, summary);
    }
}

/* ---- events */

static void list_events(void)
{
    int width = 0;
    for (size_t i = 0; i < count_row_count; i++)
        width = wider(width, count_rows[i].name);
    for (size_t i = 0; i < count_row_count; i++)
        printf("%-*s  %s\n", width, count_rows[i].name, count_rows[i].help);
}

/* ---- methods */

static void list_methods(void)
{
    int width = 0;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        width = wider(width, stack_rows[k].name);
    for (unsigned k = 0; k < STACK_KINDS; k++)
        printf("%-*s  %-8s  %s\n", width, stack_rows[k].name, stack_rows[k].view ? "--stage" : "--method",
               stack_rows[k].help);
}

static const struct kind {
    const char *name;
    void (*list)(void);
    const char *summary;
} kinds[] = {
    {"cores", list_cores, "cores that come with Cyclescope, for --core"},
    {"events", list_events, "what a simulated core counts, as named in the JSON of stat"},
    {"methods", list_methods, "ways to account for cycles, for --method and --stage of stack"},
    {"params", list_params, "parameters of a core, for core files and --set: name, values, default, meaning"},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static void print_help(const struct option *table, size_t rows)
{
    puts("usage: cyclescope list KIND\n\nPrints what there is to choose from.\n\nkinds:");
    for (size_t i = 0; i < KIND_COUNT; i++)
        printf("  %-22s %s\n", kinds[i].name, kinds[i].summary);
    puts("\noptions:");
    options_print(table, rows, stdout);
}

int command_list(int argc, char **argv)
{
    bool help = false;
    const struct option table[] = {{"help", OPTION_FLAG, &help, NULL, "print this"}};
    char names[128] = "";
    struct error err;
    int first = options_parse(table, 1, argc, argv, &err);
    if (first < 0)
        return command_fail("%s", err.text);
    if (help) {
        print_help(table, 1);
        return 0;
    }
    for (size_t i = 0; i < KIND_COUNT; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", kinds[i].name);
        if (argc == first + 1 && strcmp(argv[first], kinds[i].name) == 0) {
            kinds[i].list();
            return fflush(stdout) == 0 ? 0 : command_fail("list %s: standard output cannot be written", argv[first]);
        }
    }
    if (argc == first)
        return command_fail("list needs what to list: %s", names);
    if (argc > first + 1)
        return command_fail("list takes one kind at a time: %s", names);
    return command_fail("there is no list of '%s': lists are %s", argv[first], names);
}
