#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clean_text.h"
#include "base/options.h"
#include "base/suggest.h"
#include "cmd/command.h"
#include "guest/files.h"

static int command_help(int argc, char **argv);

static const struct command commands[] = {
    {"run", command_run, "run a RISC-V Linux program at full speed", NULL},
    {"stack", command_stack, "show where the cycles go: the CPI stack of a program on a simulated core", NULL},
    {"validate", command_validate, "compare accounting methods with simulation, and the sampler with exact counts",
     validate_subjects},
    {"stat", command_stat, "count events on a simulated core; draw its pipeline", NULL},
    {"stalls", command_stalls, "show over time which stalls keep instructions from retiring", NULL},
    {"phases", command_phases, "find the phases of a program, and the points that represent the whole run", NULL},
    {"record", command_record, "sample a program on a simulated core and write a profile", NULL},
    {"report", command_report, "show a profile by function, line, instruction, call tree or data", NULL},
    {"annotate", command_annotate, "show a profile beside the instructions and source lines of a function", NULL},
    {"checkpoint", command_checkpoint, "save a program after N instructions; --restore continues from there", NULL},
    {"list", command_list, "list names that options take: cores, counts, estimators, events, methods, params", NULL},
    {"help", command_help, "print this help, or the help of a command", NULL},
    {NULL, NULL, NULL, NULL},
};

int command_fail(const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    clean_lines(text);
    fprintf(stderr, "cyclescope: %s\n", text);
    return STATUS_OWN_ERROR;
}

bool command_parse(const struct option *table, size_t rows, int argc, char **argv, const bool *help, const char *usage,
                   int *first, int *status)
{
    struct error err;
    *status = 0;
    *first = options_parse(table, rows, argc, argv, &err);
    if (*first < 0) {
        *status = command_fail("%s", err.text);
    } else if (*help) {
        puts(usage);
        options_print(table, rows, stdout);
    }
    return *first >= 0 && !*help;
}

const struct command *command_find(const struct command *table, const char *name)
{
    for (const struct command *c = table; c->name; c++)
        if (strcmp(name, c->name) == 0)
            return c;
    return NULL;
}

/* Prints that the table has no row of this name, which the user wrote, and the most similar one that it has. `what`
 * says what the rows are, `all` which command line lists them. Returns STATUS_OWN_ERROR. */
static int fail_unknown(const struct command *table, const char *name, const char *what, const char *all)
{
    struct suggestion s = suggest_for(name, strlen(name), 1 + (unsigned)strlen(name) / 4);
    const char *meant = NULL;
    for (const struct command *c = table; c->name; c++)
        if (suggest_offer(&s, c->name))
            meant = c->name;
    if (meant)
        return command_fail("'%s' is not %s: did you mean '%s'?", name, what, meant);
    return command_fail("'%s' is not %s: `cyclescope %s` lists all", name, what, all);
}

static int fail_unknown_command(const char *name)
{
    static const struct command options[] = {
        {"--help", NULL, NULL, NULL}, {"--version", NULL, NULL, NULL}, {NULL, NULL, NULL, NULL}};
    return name[0] == '-' ? fail_unknown(options, name, "an option", "help")
                          : fail_unknown(commands, name, "a command", "help");
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static void print_help(FILE *to)
{
    fputs("usage: cyclescope COMMAND [options] [--] PROGRAM [ARGUMENTS]\n"
          "       cyclescope help [COMMAND]\n\n"
          "Where do the cycles go? Cyclescope runs RISC-V Linux programs on a simulated core and shows it.\n\n"
          "commands:\n",
          to);
    for (const struct command *c = commands; c->name; c++)
        fprintf(to, "  %-22s %s\n", c->name, c->summary);
    fputs("\noptions:\n"
          "  -h, --help             print this help; after a command, the help of the command\n"
          "  -V, --version          print the version\n",
          to);
}

/* cyclescope help [COMMAND [SUBJECT]] */
static int command_help(int argc, char **argv)
{
    char flag[] = "--help", *help[] = {flag, NULL};
    if (argc == 0 || is_help(argv[0])) {
        print_help(stdout);
        return 0;
    }
    const struct command *command = command_find(commands, argv[0]);
    if (command == NULL)
        return fail_unknown_command(argv[0]);
    const struct command *named = command;
    if (argc > 1 && command->subjects) {
        char what[64], all[64];
        snprintf(what, sizeof what, "a subject of %s", command->name);
        snprintf(all, sizeof all, "help %s", command->name);
        named = command_find(command->subjects, argv[1]);
        if (named == NULL)
            return fail_unknown(command->subjects, argv[1], what, all);
    }
    int words = named == command ? 1 : 2;
    if (argc > words)
        return command_fail("help takes a command such as `help %s`: remove '%s'", command->name, argv[words]);
    return named->run(1, help);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STATUS_OWN_ERROR;
    }
    if (is_help(argv[1])) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("cyclescope " CYCLESCOPE_VERSION);
        return 0;
    }
    const struct command *command = command_find(commands, argv[1]);
    files_raise_host_limit();
    return command ? command->run(argc - 2, argv + 2) : fail_unknown_command(argv[1]);
}
