/* cyclescope annotate: prints the instructions of a function with the counts of a profile beside them. */
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/pager.h"
#include "cmd/profile_input.h"
#include "cmd/terminal.h"
#include "report/profile_annotate.h"
#include "report/profile_report.h"

struct annotate_options {
    struct profile_input input;
    bool all, help;
};

static int print_page(const struct annotate_options *o, struct profile_annotate *a, struct error *err)
{
    const struct profile_report head = {.names = a->names,
                                        .version = CYCLESCOPE_VERSION,
                                        .first = a->first,
                                        .last = a->last,
                                        .columns = terminal_columns(stdout)};
    struct pager pager;
    struct error ignored;
    pager_open(&pager, !o->input.no_pager);
    a->color = pager.color;
    a->columns = head.columns;
    profile_report_head(&head, false, pager.to);
    int code = profile_annotate_print(a, pager.to, err);
    int closed = pager_close(&pager, code ? &ignored : err);
    return code ? code : closed;
}

static int annotate(struct annotate_options *o, const char *file, const char *function)
{
    struct error err;
    struct source_text source = {.sysroot = o->input.sysroot};
    int code = profile_input_load(&o->input, file, false, true, &err);
    if (code == 0 && function) /* before anything is printed */
        code = profile_input_check_function(&o->input, function, &err);
    if (code == 0) {
        struct profile_annotate a = {.names = o->input.names,
                                     .source = &source,
                                     .first = o->input.first,
                                     .last = o->input.last,
                                     .function = function,
                                     .all = o->all,
                                     .limit_percent = o->input.limit_percent};
        code = print_page(o, &a, &err);
    }
    source_text_free(&source);
    return code == 0 ? 0 : command_fail("%s", err.text);
}

int command_annotate(int argc, char **argv)
{
    struct annotate_options o = {0};
    const struct option table[] = {
        PROFILE_INPUT_ROWS(&o.input),
        {"all", OPTION_FLAG, &o.all, NULL, "show all functions with at least the share of --limit, hottest first"},
        {"h,help", OPTION_FLAG, &o.help, NULL, "print this help"},
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (!command_parse(
            table, ROWS, argc, argv, &o.help,
            "usage: cyclescope annotate [options] [FILE] [FUNCTION]\n\n"
            "Shows the instructions of a function with the events of a profile beside them, and their source lines.\n"
            "The default function is the hottest one. The default FILE is " PROFILE_FILE_NAME
            "; - is standard input.\n\noptions:",
            &first, &status))
        return status;
    int names = argc - first;
    if (names > 2)
        return command_fail("annotate takes a profile and a function, after the options: remove '%s'", argv[first + 2]);
    if (names == 2 && o.all)
        return command_fail("--all and the function '%s' exclude each other: give one of them", argv[first + 1]);
    status = annotate(&o, names > 0 ? argv[first] : PROFILE_FILE_NAME, names > 1 ? argv[first + 1] : NULL);
    profile_input_free(&o.input);
    return status;
}
