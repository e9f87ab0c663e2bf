/* cyclescope report: prints a profile as tables, and writes it in the formats of other tools. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/output_file.h"
#include "cmd/command.h"
#include "cmd/pager.h"
#include "cmd/profile_input.h"
#include "cmd/terminal.h"
#include "report/profile_export.h"
#include "report/profile_report.h"

enum { LINE_BYTES = 64 };

struct report_options {
    struct profile_input input;
    const char *by, *sort, *function;
    const char *json_path, *csv_path, *export_path[PROFILE_EXPORTS]; /* NULL, "-" or a file */
    uint64_t line_bytes;
    bool children, quiet, help;
};

/* ---- what to show */

static int choose_by(const struct report_options *o, enum profile_by *by, struct error *err)
{
    static const char *const names[PROFILE_BYS] = {
        [PROFILE_BY_FUNCTION] = "function", [PROFILE_BY_LINE] = "line", [PROFILE_BY_INSN] = "insn",
        [PROFILE_BY_MODULE] = "module",     [PROFILE_BY_TREE] = "tree", [PROFILE_BY_DATA] = "data"};
    *by = PROFILE_BY_FUNCTION;
    if (o->by == NULL)
        return 0;
    for (unsigned i = 0; i < PROFILE_BYS; i++) {
        if (strcmp(o->by, names[i]) == 0) {
            *by = (enum profile_by)i;
            return 0;
        }
    }
    return error_set(err, -EINVAL, "--by %s: reports are by function, line, insn, tree, module or data", o->by);
}

static int check(const struct report_options *o, enum profile_by by, struct error *err)
{
    if (o->function && by == PROFILE_BY_MODULE)
        return error_set(err, -EINVAL, "--function has no meaning with --by module");
    if (o->children && by == PROFILE_BY_DATA)
        return error_set(err, -EINVAL, "--children has no meaning with --by data");
    if (o->line_bytes == 0 || (o->line_bytes & (o->line_bytes - 1)) != 0)
        return error_set(err, -EINVAL, "--line needs a power of two such as 64, not %llu",
                         (unsigned long long)o->line_bytes);
    return 0;
}

/* Returns true if the report needs source lines. Looking them up takes time, so it is done only then. */
static bool needs_lines(const struct report_options *o, enum profile_by by)
{
    bool lines = by == PROFILE_BY_LINE || (by == PROFILE_BY_INSN && (o->json_path || o->csv_path));
    for (unsigned i = 0; i < PROFILE_EXPORTS; i++)
        lines |= o->export_path[i] && profile_exports[i].lines;
    return lines;
}

static int choose_sort(const struct report_options *o, struct profile_report *r, struct error *err)
{
    r->sort = r->first;
    if (o->sort == NULL)
        return 0;
    int event = profile_find_event(o->input.profile, "--sort", o->sort, err);
    if (event < 0)
        return event;
    r->sort = (unsigned)event;
    return 0;
}

static int load(struct report_options *o, const char *file, struct profile_report *r, struct error *err)
{
    struct profile_input *in = &o->input;
    int code = choose_by(o, &r->by, err);
    if (code == 0)
        code = check(o, r->by, err);
    if (code == 0)
        code = profile_input_load(in, file, r->by == PROFILE_BY_DATA, needs_lines(o, r->by), err);
    if (code == 0 && o->function)
        code = profile_input_check_function(in, o->function, err);
    if (code == 0 && r->by == PROFILE_BY_DATA && in->profile->accesses == 0)
        code = error_set(err, -EINVAL, "%s has no data addresses: `record --data` records them", file);
    r->names = in->names;
    r->first = in->first;
    r->last = in->last;
    r->limit_percent = in->limit_percent;
    if (code == 0)
        code = choose_sort(o, r, err);
    if (r->by == PROFILE_BY_TREE) /* a tree shows one event */
        r->first = r->last = o->input.event ? r->first : r->sort;
    return code;
}

/* ---- files */

typedef int write_file(const struct report_options *o, const struct profile_report *r, unsigned number, FILE *to,
                       struct error *err);

static int write_json(const struct report_options *o, const struct profile_report *r, unsigned number, FILE *to,
                      struct error *err)
{
    (void)o, (void)number;
    return profile_report_json(r, to, err);
}

static int write_csv(const struct report_options *o, const struct profile_report *r, unsigned number, FILE *to,
                     struct error *err)
{
    (void)o, (void)number;
    return profile_report_csv(r, to, err);
}

static int write_export(const struct report_options *o, const struct profile_report *r, unsigned number, FILE *to,
                        struct error *err)
{
    return profile_exports[number].write(r->names, o->input.first, o->input.last, r->version, to, err);
}

static int write_to(const struct report_options *o, const struct profile_report *r, const char *name, const char *path,
                    write_file *write, unsigned number, struct error *err)
{
    struct output_file file;
    char option[32];
    snprintf(option, sizeof option, "--%s", name);
    int code = output_file_open(&file, option, path, stdout, 0, err);
    if (code != 0 || file.to == NULL)
        return code;
    code = write(o, r, number, file.to, err);
    if (code == 0)
        return output_file_close(&file, err);
    output_file_abort(&file);
    return code;
}

/* Checks that no file that is written is the profile, or written twice. */
static int check_names(const struct report_options *o, const char *file, struct error *err)
{
    struct output_names names = {0};
    char option[PROFILE_EXPORTS][32];
    output_names_add_input(&names, "the profile", file);
    int code = output_names_add(&names, "--json", o->json_path, err);
    if (code == 0)
        code = output_names_add(&names, "--csv", o->csv_path, err);
    for (unsigned i = 0; code == 0 && i < PROFILE_EXPORTS; i++) {
        snprintf(option[i], sizeof option[i], "--%s", profile_exports[i].name);
        code = output_names_add(&names, option[i], o->export_path[i], err);
    }
    output_names_free(&names);
    return code;
}

static int write_files(const struct report_options *o, const struct profile_report *r, struct error *err)
{
    int code = write_to(o, r, "json", o->json_path, write_json, 0, err);
    if (code == 0)
        code = write_to(o, r, "csv", o->csv_path, write_csv, 0, err);
    for (unsigned i = 0; code == 0 && i < PROFILE_EXPORTS; i++)
        code = write_to(o, r, profile_exports[i].name, o->export_path[i], write_export, i, err);
    return code;
}

static bool is_standard(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* Returns false if no page is printed: with --quiet, or if a file goes to standard output. */
static bool has_page(const struct report_options *o)
{
    bool standard = is_standard(o->json_path) || is_standard(o->csv_path);
    for (unsigned i = 0; i < PROFILE_EXPORTS; i++)
        standard |= is_standard(o->export_path[i]);
    return !standard && !o->quiet;
}

/* ---- the command */

static int print_page(const struct report_options *o, struct profile_report *r, struct error *err)
{
    struct pager pager;
    struct error ignored;
    pager_open(&pager, !o->input.no_pager);
    r->columns = terminal_columns(stdout);
    int code = profile_report_print(r, pager.to, pager.color, err);
    int closed = pager_close(&pager, code ? &ignored : err);
    return code ? code : closed;
}

static int report(struct report_options *o, const char *file)
{
    struct error err;
    struct profile_report r = {
        .version = CYCLESCOPE_VERSION, .children = o->children, .function = o->function, .line_bytes = o->line_bytes};
    int code = check_names(o, file, &err);
    if (code == 0)
        code = load(o, file, &r, &err);
    if (code == 0)
        code = write_files(o, &r, &err);
    if (code == 0 && has_page(o))
        code = print_page(o, &r, &err);
    return code == 0 ? 0 : command_fail("%s", err.text);
}

#define EXPORT_ROW(o, i)                                                                                               \
    {                                                                                                                  \
        profile_exports[i].name, OPTION_STRING, &(o)->export_path[i], "FILE", profile_exports[i].help                  \
    }

int command_report(int argc, char **argv)
{
    struct report_options o = {.line_bytes = LINE_BYTES};
    const struct option table[] = {
        {"by", OPTION_STRING, &o.by, "WHAT", "a row per function (default), line, insn, tree, module or data"},
        PROFILE_INPUT_ROWS(&o.input),
        {"sort", OPTION_STRING, &o.sort, "EVENT", "sort by this event (the first event shown)"},
        {"children", OPTION_FLAG, &o.children, NULL, "also show counts that include called functions"},
        {"function", OPTION_STRING, &o.function, "NAME", "show only this function"},
        {"cache-line", OPTION_SIZE, &o.line_bytes, "BYTES", "with --by data: size of a cache line (64)"},
        {"json", OPTION_STRING, &o.json_path, "FILE", "write all rows as JSON; - is standard output (for all files)"},
        {"csv", OPTION_STRING, &o.csv_path, "FILE", "write all rows as CSV"},
        EXPORT_ROW(&o, 0),
        EXPORT_ROW(&o, 1),
        EXPORT_ROW(&o, 2),
        EXPORT_ROW(&o, 3),
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print nothing but errors"},
        {"h,help", OPTION_FLAG, &o.help, NULL, "print this help"},
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (!command_parse(
            table, ROWS, argc, argv, &o.help,
            "usage: cyclescope report [options] [FILE]\n\n"
            "Shows a profile that `cyclescope record` wrote: where events happened, with shares and counts.\n"
            "The default FILE is " PROFILE_FILE_NAME "; - is standard input.\n\noptions:",
            &first, &status))
        return status;
    if (argc - first > 1)
        return command_fail("report takes one profile, after the options: remove '%s'", argv[first + 1]);
    status = report(&o, argc > first ? argv[first] : PROFILE_FILE_NAME);
    profile_input_free(&o.input);
    return status;
}
