/* cyclescope list: lists the names that options take: cores, parameters, events and others. */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "core/config.h"
#include "core/cores.h"
#include "sampler/estimate.h"
#include "pmu/event.h"
#include "pmu/machine_pmu.h"
#include "report/counts.h"
#include "stacks/stacks.h"

/* ---- rows */

enum { MEANING_LEAST = 24, MEANING_INDENT = 6, GAP = 2 };

/* Prints the meaning of a name behind its other columns, which end at `column`, and ends the row. If there is little
 * room, it has lines of its own. `used` is how many characters of the row are printed. */
static void print_meaning(int used, int column, const char *text)
{
    int columns = (int)terminal_columns(stdout), indent = column + GAP;
    bool below = columns - indent < MEANING_LEAST;
    if (below) {
        indent = MEANING_INDENT;
        putchar('\n');
    }
    printf("%*s", below ? indent : indent - used, "");
    used = indent;
    for (const char *word = text, *end; *word; word = end + strspn(end, " ")) {
        end = word + strcspn(word, " ");
        int length = (int)(end - word);
        bool fits = used + 1 + length <= columns;
        if (word > text)
            used = fits ? used + printf(" ") : printf("\n%*s", indent, "") - 1;
        used += printf("%.*s", length, word);
    }
    putchar('\n');
}

/* ---- params */

/* The columns of a parameter as text. */
struct row {
    char name[48], range[128], standard[32]; /* section.key, allowed values, default */
};

static struct row row_of(const struct param *p)
{
    struct row r;
    snprintf(r.name, sizeof r.name, "%s.%s", p->section, p->key);
    param_range_text(p, r.range, sizeof r.range);
    param_standard_text(p, r.standard, sizeof r.standard);
    return r;
}

/* Returns the larger of `width` and the length of `text`. */
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
                print_meaning(printf("%-*s  %-*s  %s", name, r.name, range, r.range, r.standard),
                              name + range + standard + 2 * GAP, p->help);
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
        print_meaning(printf("%s", name), width, summary);
    }
}

/* ---- counts */

static void list_counts(void)
{
    int width = 0;
    for (size_t i = 0; i < count_row_count; i++)
        width = wider(width, count_rows[i].name);
    for (size_t i = 0; i < count_row_count; i++)
        print_meaning(printf("%s", count_rows[i].name), width, count_rows[i].help);
}

/* ---- events */

enum {
    PATTERN_MOST = 128, /* longest pattern, with its zero */
    SHOWN_WHOLE = 5     /* events are shown with their sub-events if no more than this many match */
};

/* Copies a name with '-' for every '_': our names have '_', perf's names have '-', and a pattern may have either. */
static void copy_with_dashes(char to[PATTERN_MOST], const char *text)
{
    snprintf(to, PATTERN_MOST, "%s", text);
    for (char *c = to; *c; c++)
        *c = *c == '_' ? '-' : *c;
}

static bool name_matches(const char *name, const char *pattern)
{
    char name_copy[PATTERN_MOST], pattern_copy[PATTERN_MOST];
    if (name == NULL)
        return false;
    copy_with_dashes(name_copy, name);
    copy_with_dashes(pattern_copy, pattern);
    return strcasestr(name_copy, pattern_copy) || fnmatch(pattern_copy, name_copy, FNM_CASEFOLD) == 0;
}

static bool matches(const struct event *e, const char *pattern)
{
    return name_matches(e->name, pattern) || name_matches(e->alias, pattern) ||
           strcasestr(event_category_name(e->category), pattern) || strcasestr(e->help, pattern);
}

static const char *unit_name(const struct event *e)
{
    switch (e->unit) {
    case UNIT_OCCURRENCES: return "times";
    case UNIT_CYCLES: return "cycles";
    case UNIT_VALUE: return "value";
    }
    return "";
}

/* Returns the paths on which an event can be counted, the default first. */
static const char *path_names(const struct event *e)
{
    if (e->paths == (PATH_RETIRED | PATH_SPEC))
        return e->standard == PATH_RETIRED ? "retired, spec" : "spec, retired";
    return e->paths == PATH_RETIRED ? "retired" : e->paths == PATH_SPEC ? "spec" : "-";
}

static void print_event(const struct event *e, int name_width, int alias_width, bool whole)
{
    int width = 0;
    int columns = printf("  %-*s %-*s %-6s %-13s %3u", name_width, e->name, alias_width, e->alias ? e->alias : "-",
                         unit_name(e), path_names(e), event_number(e));
    print_meaning(columns, columns, e->help);
    if (!whole || e->mask == NULL)
        return;
    for (unsigned i = 0; i < EVENT_MASK_BITS && e->mask[i].name; i++)
        width = wider(width, e->mask[i].name);
    for (unsigned i = 0; i < EVENT_MASK_BITS && e->mask[i].name; i++)
        print_meaning(printf("    :%s", e->mask[i].name), width + 5, e->mask[i].help);
}

/* Prints the events that match, by category. Returns their number. */
static size_t print_events(const char *pattern)
{
    size_t count = 0;
    int name_width = 0, alias_width = 0;
    for (const struct event *e = events; e < events + event_count; e++) {
        if (!matches(e, pattern))
            continue;
        count++;
        name_width = wider(name_width, e->name);
        alias_width = wider(alias_width, e->alias ? e->alias : "-");
    }
    const struct event *named = event_find(pattern, strlen(pattern)), *before = NULL;
    for (unsigned c = 0; c < CATEGORIES; c++) {
        for (const struct event *e = events; e < events + event_count; e++) {
            if (e->category != c || !matches(e, pattern))
                continue;
            if (before == NULL || before->category != c)
                printf("%s%s\n", before ? "\n" : "", event_category_name(e->category));
            before = e;
            print_event(e, name_width, alias_width, count <= SHOWN_WHOLE || e == named);
        }
    }
    return count;
}

static void list_events(void)
{
    print_events("");
}

static int search_events(const char *pattern)
{
    if (strlen(pattern) < PATTERN_MOST && print_events(pattern) > 0)
        return 0;
    const char *meant = event_suggest(pattern, strlen(pattern));
    if (meant)
        return command_fail("no event matches '%s': did you mean '%s'?", pattern, meant);
    return command_fail("no event matches '%s': `cyclescope list events` lists all", pattern);
}

/* ---- methods */

static void list_methods(void)
{
    int width = 0;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        width = wider(width, stack_rows[k].name);
    for (unsigned k = 0; k < STACK_KINDS; k++)
        print_meaning(printf("%-*s  %s", width, stack_rows[k].name, stack_rows[k].view ? "--stage" : "--method"),
                      width + GAP + (int)strlen("--method"), stack_rows[k].help);
}

/* ---- estimators */

static void list_estimators(void)
{
    int width = 0;
    for (size_t i = 0; i < estimator_count; i++)
        width = wider(width, estimators[i].name);
    for (size_t i = 0; i < estimator_count; i++)
        print_meaning(printf("%s", estimators[i].name), width, estimators[i].help);
}

/* ---- what-ifs */

static void list_what_ifs(void)
{
    struct what_if_name n;
    int width = 0;
    for (unsigned i = 0; what_if_name(i, &n); i++)
        width = wider(width, n.name);
    for (unsigned i = 0; what_if_name(i, &n); i++)
        print_meaning(printf("%s", n.name), width, n.meaning);
}

static const struct kind {
    const char *name;
    void (*list)(void);
    int (*search)(const char *pattern); /* lists what matches, returns the exit status; NULL: takes no pattern */
    const char *summary;                /* one line for --help */
} kinds[] = {
    {"cores", list_cores, NULL, "cores that come with Cyclescope, for --core"},
    {"counts", list_counts, NULL, "counts of every simulation, by their names in the JSON of stat"},
    {"estimators", list_estimators, NULL,
     "ways to estimate totals of multiplexed events, for --estimator; the first is the default"},
    {"events", list_events, search_events,
     "events for -e: name, perf's name, unit, paths, number in mhpmevent, meaning"},
    {"methods", list_methods, NULL, "accounting methods and stages, for --method and --stage of stack"},
    {"params", list_params, NULL, "parameters of a core, for core files and --set: name, values, default, meaning"},
    {"what-ifs", list_what_ifs, NULL, "what --what-if of stack can change: names and meanings"},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static void print_help(const struct option *table, size_t rows)
{
    puts("usage: cyclescope list KIND\n       cyclescope list events PATTERN\n\n"
         "Lists the names that options take. With a PATTERN, lists the events that have it in name or description.\n\n"
         "kinds:");
    for (size_t i = 0; i < KIND_COUNT; i++)
        printf("  %-22s %s\n", kinds[i].name, kinds[i].summary);
    puts("\noptions:");
    options_print(table, rows, stdout);
}

static int list(const struct kind *k, const char *pattern)
{
    int status = 0;
    if (pattern)
        status = k->search(pattern);
    else
        k->list();
    return fflush(stdout) == 0 ? status : command_fail("list %s: standard output cannot be written", k->name);
}

int command_list(int argc, char **argv)
{
    bool help = false;
    const struct option table[] = {{"h,help", OPTION_FLAG, &help, NULL, "print this help"}};
    char names[128] = "";
    const struct kind *kind = NULL;
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
        if (argc > first && strcmp(argv[first], kinds[i].name) == 0)
            kind = &kinds[i];
    }
    if (argc == first)
        return command_fail("list needs a kind: %s", names);
    if (kind == NULL)
        return command_fail("there is no list of '%s': kinds are %s", argv[first], names);
    int patterns = argc - first - 1;
    if (patterns > (kind->search ? 1 : 0))
        return command_fail("list %s takes %s", kind->name, kind->search ? "one pattern" : "no pattern");
    return list(kind, patterns ? argv[first + 1] : NULL);
}
