#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "cmd/command.h"

static const struct command commands[] = {
    {"run", command_run, "run a RISC-V Linux program at full speed"},
    {"stack", command_stack, "where the cycles go: the CPI stack on a simulated core"},
    {"validate", command_validate, "accounting methods against the simulation reference, with errors"},
    {"stat", command_stat, "count what happens on a simulated core; draw its pipeline"},
    {"stalls", command_stalls, "what keeps instructions from retiring, over time and by source"},
    {"phases", command_phases, "how a program behaves over time, and which parts stand for all of it"},
    {"record", command_record, "sample a program on a simulated core, and write a profile"},
    {"report", command_report, "a profile by function, line, instruction, call tree or data"},
    {"annotate", command_annotate, "a profile beside the code and its source"},
    {"checkpoint", command_checkpoint, "save a program at an instruction; run, stat and stack --restore go on from it"},
    {"list", command_list, "print what there is to choose from: cores, parameters"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

int command_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("cyclescope: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return STATUS_OWN_ERROR;
}

bool command_begins(const struct option *table, size_t rows, int argc, char **argv, const bool *help, const char *usage,
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

static void print_help(FILE *to)
{
    fputs("usage: cyclescope COMMAND [options] [--] PROGRAM [ARGUMENTS]\n\n"
          "Where do the cycles go? Cyclescope runs RISC-V Linux programs and tells.\n\ncommands:\n",
          to);
    for (unsigned i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-22s %s\n", commands[i].name, commands[i].summary);
    fputs("\n`cyclescope COMMAND --help` lists a command's options; `cyclescope --version` tells the version.\n", to);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STATUS_OWN_ERROR;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("cyclescope " CYCLESCOPE_VERSION);
        return 0;
    }
    for (unsigned i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    return command_fail("'%s' is not a command: `cyclescope --help` lists them", argv[1]);
}
