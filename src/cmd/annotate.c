/* cyclescope annotate: the instructions of a function with counts beside them. */
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/pager.h"
#include "cmd/profile_input.h"
#include "report/profile_annotate.h"
#include "report/profile_report.h"

struct annotate_options {
    struct profile_input input;
    bool all, help;
};

/* The function's absence is told before anything is printed. */
static int print_page(const struct annotate_options *o, struct profile_annotate *a, struct error *err)
{
    const struct profile_report head = {
        .names = a->names, .version = CYCLESCOPE_VERSION, .first = a->first, .last = a->last};
    struct pager pager;
    struct error ignored;
    pager_open(&pager, !o->input.no_pager);
    a->colour = pager.colour;
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
    if (code == 0 && function)
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
        {"all", OPTION_FLAG, &o.all, NULL, "every function with at least the limit, hottest first"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    struct error err;
    int first = options_parse(table, ROWS, argc, argv, &err), status = 0;
    int names = argc - first;
    if (first < 0) {
        status = command_fail("%s", err.text);
    } else if (o.help) {
        puts("usage: cyclescope annotate [options] [FILE] [FUNCTION]\n\n"
             "Shows the instructions of a function with the events of a profile beside them, and the source lines\n"
             "that they come from. The function is the hottest one unless it is named; FILE is\n" PROFILE_FILE_NAME
             " unless it is named; - is standard input.\n\noptions:");
        options_print(table, ROWS, stdout);
    } else if (names > 2) {
        status = command_fail("annotate takes a profile and a function, and options before them: '%s' is too much",
                              argv[first + 2]);
    } else if (names == 2 && o.all) {
        status =
            command_fail("--all and the function '%s' are different ways to choose: give one of them", argv[first + 1]);
    } else {
        status = annotate(&o, names > 0 ? argv[first] : PROFILE_FILE_NAME, names > 1 ? argv[first + 1] : NULL);
    }
    profile_input_free(&o.input);
    return status;
}
