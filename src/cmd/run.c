/* cyclescope run: runs a program at full speed, without a simulated core. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cmd/program_command.h"
#include "emulate/emulate.h"
#include "report/json_text.h"

struct run_options {
    struct program_options common;
    const char *summary; /* NULL: not given; "": to standard error; otherwise a file */
    const char *json;    /* NULL, "-" or a file */
    struct output_file summary_file, json_file;
};

struct run_result {
    const char *program;
    const char *arguments; /* each with a terminating zero */
    size_t argument_bytes;
    int status;
    int interrupted;       /* signal from outside that ended the run early, or 0 */
    uint64_t instructions; /* since the program began */
    uint64_t before;       /* of these, instructions before the checkpoint that the run continued from */
    double seconds;
};

static double mips(const struct run_result *r)
{
    return r->seconds > 0 ? (double)(r->instructions - r->before) / r->seconds / 1e6 : 0;
}

static int open_output(void *options, const struct own_output *own, struct error *err)
{
    struct run_options *o = options;
    const char *path = o->summary && *o->summary ? o->summary : NULL;
    int code = own_file_open(&o->summary_file, own, "--summary", path, err);
    if (code == 0 && o->summary && path == NULL) {
        o->summary_file = (struct output_file){.to = own->err, .option = "--summary", .path = "", .shared = true};
    }
    return code ? code : own_file_open(&o->json_file, own, "--json", o->json, err);
}

static int print_summary(struct output_file *f, const struct run_result *r, struct error *err)
{
    if (f->to)
        fprintf(f->to, "cyclescope: %llu instructions, %.3f seconds, %.1f MIPS%s%s\n",
                (unsigned long long)r->instructions, r->seconds, mips(r), r->interrupted ? ", interrupted by SIG" : "",
                r->interrupted ? sigabbrev_np(r->interrupted) : "");
    return output_file_close(f, err);
}

static int print_json(struct output_file *f, const struct run_result *r, struct error *err)
{
    json_t *root =
        json_pack("{s:s, s:s, s:o, s:o, s:i, s:b, s:I, s:{s:f, s:f}}", "command", "run", "version", CYCLESCOPE_VERSION,
                  "program", text_json(r->program), "argv", texts_json(r->arguments, r->argument_bytes), "exit_status",
                  r->status, "interrupted", r->interrupted != 0, "instructions", (json_int_t)r->instructions, "host",
                  "seconds", r->seconds, "mips", mips(r));
    return own_file_write_json(f, root, err);
}

static int run_process(void *options, const struct own_output *own, struct process *p)
{
    struct run_options *o = options;
    struct error err;
    double start = now_seconds();
    uint64_t before = process_total_insns(p);
    if (emulate_process(p, &interpreter, NULL, &err) != 0)
        return own_fail(own, &err);
    if (process_is_child(p))
        end_as_child(p);
    struct run_result result = {.program = process_program(p),
                                .status = process_status(p),
                                .interrupted = process_interruption(p),
                                .instructions = process_total_insns(p),
                                .before = before,
                                .seconds = now_seconds() - start};
    result.arguments = process_arguments(p, &result.argument_bytes);
    if (!o->common.quiet)
        report_death(own, p);
    int status = process_loader_failed(p) ? STATUS_OWN_ERROR : result.status;
    if (print_summary(&o->summary_file, &result, &err) != 0)
        status = own_fail(own, &err);
    if (print_json(&o->json_file, &result, &err) != 0)
        status = own_fail(own, &err);
    fflush(own->err);
    return status;
}

int command_run(int argc, char **argv)
{
    struct run_options o = {0};
    program_options_init(&o.common);
    const struct option table[] = {
        {"summary", OPTION_OPTIONAL, &o.summary, "FILE",
         "print instructions, seconds and MIPS to standard error, or to FILE"},
        {"json", OPTION_STRING, &o.json, "FILE", "write instructions, seconds and MIPS as JSON; - is standard output"},
        {"quiet", OPTION_FLAG, &o.common.quiet, NULL, "do not report a signal that kills the program"},
        {"h,help", OPTION_FLAG, &o.common.help, NULL, "print this help"},
        RESTORE_OPTION_ROW(&o.common.guest),
        GUEST_OPTION_ROWS(&o.common.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    static const struct program_steps steps = {.open = open_output, .run = run_process};
    int first, status;
    if (command_parse(table, ROWS, argc, argv, &o.common.help,
                      "usage: cyclescope run [options] [--] PROGRAM [ARGUMENTS]\n\n"
                      "Runs a 64-bit RISC-V Linux program, static or dynamic, at full speed. Exits with the program's\n"
                      "exit status (128 + n: killed by signal n, 125: error of Cyclescope).\n\noptions:",
                      &first, &status))
        status = run_program(&o.common, argv + first, &steps, &o);
    program_options_free(&o.common);
    return status;
}
