/* cyclescope run: a program at full speed. */
#include <jansson.h>
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "emulate/emulate.h"

struct run_options {
    struct guest_options guest;
    const char *count; /* NULL: do not; "": to standard error; else a file */
    const char *json;  /* NULL, "-" or a file */
    bool quiet;
    bool help;
};

struct run_output {
    struct own_output own;
    struct own_file count, json;
};

struct run_result {
    const char *program;
    int status;
    uint64_t instructions; /* since the program began */
    uint64_t before;       /* those of them that a checkpoint was taken after */
    double seconds;
};

static double mips(const struct run_result *r)
{
    return r->seconds > 0 ? (double)(r->instructions - r->before) / r->seconds / 1e6 : 0;
}

static int open_output(struct run_output *to, const struct run_options *o, struct error *err)
{
    const char *count = o->count && *o->count ? o->count : NULL;
    int code = own_file_open(&to->count, &to->own, "--count", count, err);
    if (code == 0 && o->count && count == NULL) {
        to->count.to = to->own.err;
        to->count.shared = true;
    }
    return code ? code : own_file_open(&to->json, &to->own, "--json", o->json, err);
}

static int print_count(struct own_file *f, const struct run_result *r, struct error *err)
{
    if (f->to)
        fprintf(f->to, "cyclescope: %llu instructions, %.3f seconds, %.1f MIPS\n", (unsigned long long)r->instructions,
                r->seconds, mips(r));
    return own_file_close(f, err);
}

static int print_json(struct own_file *f, const struct run_result *r, struct error *err)
{
    json_t *root = json_pack("{s:s, s:s, s:s, s:i, s:I, s:{s:f, s:f}}", "command", "run", "version", CYCLESCOPE_VERSION,
                             "program", r->program, "exit_status", r->status, "instructions",
                             (json_int_t)r->instructions, "host", "seconds", r->seconds, "mips", mips(r));
    return own_file_write_json(f, root, err);
}

static int run_process(const struct run_options *o, struct run_output *to, struct process *p)
{
    struct error err;
    double start = now_seconds();
    uint64_t before = process_total_insns(p);
    if (emulate_process(p, &interpreter, NULL, &err) != 0)
        return own_fail(&to->own, &err);
    if (process_is_child(p))
        end_as_child(p);
    struct run_result result = {.program = process_program(p),
                                .status = process_status(p),
                                .instructions = process_total_insns(p),
                                .before = before,
                                .seconds = now_seconds() - start};
    if (!o->quiet)
        tell_death(&to->own, p);
    int status = process_loader_failed(p) ? STATUS_OWN_ERROR : result.status;
    if (print_count(&to->count, &result, &err) != 0)
        status = own_fail(&to->own, &err);
    if (print_json(&to->json, &result, &err) != 0)
        status = own_fail(&to->own, &err);
    fflush(to->own.err);
    return status;
}

int command_run(int argc, char **argv)
{
    struct run_options o = {0};
    guest_options_init(&o.guest);
    const struct option table[] = {
        {"count", OPTION_OPTIONAL, &o.count, "FILE", "print instructions, seconds and MIPS (to FILE)"},
        {"json", OPTION_STRING, &o.json, "FILE", "write the figures as JSON; - is standard output"},
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "say nothing when the program dies"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        RESTORE_OPTION_ROW(&o.guest),
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    struct error err;
    int first = options_parse(table, ROWS, argc, argv, &err);
    if (first < 0)
        return command_fail("%s", err.text);
    if (o.help) {
        puts("usage: cyclescope run [options] [--] PROGRAM [ARGUMENTS]\n\n"
             "Runs a 64-bit RISC-V Linux program, static or dynamic, and passes its exit status through\n"
             "(128 + n for death by signal n, 125 for an error of Cyclescope's own).\n\noptions:");
        options_print(table, ROWS, stdout);
        return 0;
    }
    struct run_output to = {0};
    own_output_open(&to.own);
    offer_to_be_killed_first();
    struct process *p = NULL;
    if (guest_options_finish(&o.guest, argv + first, &err) == 0 && open_output(&to, &o, &err) == 0)
        p = guest_options_start(&o.guest, &err);
    int status = p ? run_process(&o, &to, p) : own_fail(&to.own, &err);
    process_free(p);
    guest_options_free(&o.guest);
    return status;
}
