#include "cmd/guest_run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clean_text.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "guest/files.h"

/* ---- output */

/* Returns a stream on a duplicate of `fd` that the guest cannot use; `otherwise` if that fails. */
static FILE *private_stream(int fd, FILE *otherwise)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, FD_PRIVATE);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "w");
    return stream ? stream : otherwise;
}

enum { OPEN_MOST = 16 };

struct own_files {
    struct output_names names;
    struct output_file *open[OPEN_MOST];
    unsigned count;          /* of `open` */
    struct output_file page; /* of -o; closed: standard error */
};

void own_output_open(struct own_output *own)
{
    *own = (struct own_output){private_stream(STDOUT_FILENO, stdout), private_stream(STDERR_FILENO, stderr), NULL,
                               calloc(1, sizeof *own->files)};
    own->line = status_line_new(own->err);
}

void own_output_close(struct own_output *own)
{
    status_line_free(own->line);
    own->line = NULL;
    if (own->files == NULL)
        return;
    for (unsigned i = 0; i < own->files->count; i++)
        output_file_abort(own->files->open[i]);
    output_names_free(&own->files->names);
    free(own->files);
    own->files = NULL;
}

void own_input(const struct own_output *own, const char *what, const char *path)
{
    if (own->files)
        output_names_add_input(&own->files->names, what, path);
}

/* Notes every host file that a path of the guest can mean: with the sysroot, without it, and in the guest's folder. */
static void note_guest_file(const struct own_output *own, const struct process_config *config, const char *what,
                            const char *name)
{
    const char *folder = name[0] == '/' ? config->sysroot : config->chdir;
    char *path = NULL;
    if (folder && asprintf(&path, "%s/%s", folder, name) >= 0) {
        own_input(own, what, path);
        free(path);
    }
    if (folder == NULL || folder == config->sysroot)
        own_input(own, what, name);
}

/* Notes the files that the name of a program without a slash can mean in the guest's PATH. */
static void note_searched(const struct own_output *own, const struct process_config *config, const char *name)
{
    const char *folders = NULL;
    char *path = NULL;
    for (char *const *e = config->envp; folders == NULL && e && *e; e++)
        folders = strncmp(*e, "PATH=", 5) == 0 ? *e + 5 : NULL;
    for (; folders && *folders; folders += *folders == ':') {
        int length = (int)strcspn(folders, ":");
        if (asprintf(&path, "%.*s/%s", length ? length : 1, length ? folders : ".", name) >= 0) {
            note_guest_file(own, config, "the program", path);
            free(path);
        }
        folders += length;
    }
}

void own_input_program(const struct own_output *own, const struct process_config *config)
{
    if (strchr(config->argv[0], '/'))
        note_guest_file(own, config, "the program", config->argv[0]);
    else
        note_searched(own, config, config->argv[0]);
    for (char *const *a = config->argv + 1; *a; a++)
        note_guest_file(own, config, "the program's argument", *a);
    own_input(own, "standard input", "/dev/stdin");
    own_input(own, "standard output", "/dev/stdout");
    own_input(own, "standard error", "/dev/stderr");
}

int own_file_check(const struct own_output *own, const char *option, const char *path, struct error *err)
{
    return own->files ? output_names_add(&own->files->names, option, path, err)
                      : error_set(err, -ENOMEM, "out of memory");
}

/* Notes a file that was opened, so that own_output_close removes it if it is still open then. */
static void note_open(const struct own_output *own, struct output_file *f)
{
    assert(own->files->count < OPEN_MOST);
    own->files->open[own->files->count++] = f;
}

int own_file_open(struct output_file *f, const struct own_output *own, const char *option, const char *path,
                  struct error *err)
{
    *f = (struct output_file){0};
    int code = own_file_check(own, option, path, err);
    if (code == 0)
        code = output_file_open(f, option, path, own->out, FD_PRIVATE, err);
    if (code == 0 && f->to)
        note_open(own, f);
    return code;
}

int own_stream_open(struct output_file *f, FILE **to, const struct own_output *own, const char *option,
                    const char *path, struct error *err)
{
    int code = output_file_open_stream(f, option, path, own->out, FD_PRIVATE, err);
    if (code != 0)
        return code;
    note_open(own, f);
    *to = private_stream(fileno(f->to), NULL);
    return *to ? 0 : error_set(err, -errno, "%s %s: %s", option, path, strerror(errno));
}

int own_page_open(const struct own_output *own, const char *path, struct error *err)
{
    return own->files ? own_file_open(&own->files->page, own, "--output", path, err)
                      : error_set(err, -ENOMEM, "out of memory");
}

FILE *own_page(const struct own_output *own)
{
    return own->files && own->files->page.to ? own->files->page.to : own->err;
}

unsigned own_columns(const struct own_output *own)
{
    return terminal_columns(own_page(own));
}

int own_page_close(const struct own_output *own, int status)
{
    struct error err;
    struct output_file *page = own->files ? &own->files->page : NULL;
    if (page == NULL || page->to == NULL)
        return status;
    if (!page->shared && ftell(page->to) == 0) /* the run failed before its page, or is quiet */
        output_file_abort(page);
    return output_file_close(page, &err) == 0 ? status : own_fail(own, &err);
}

int own_file_write_json(struct output_file *f, json_t *root, struct error *err)
{
    int code = 0;
    if (f->to != NULL && root == NULL)
        code = error_set(err, -ENOMEM, "%s %s: out of memory", f->option, f->path);
    else if (f->to != NULL &&
             (json_dumpf(root, f->to, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0 || fputc('\n', f->to) == EOF))
        code = error_set(err, -EIO, "%s %s: %s", f->option, f->path, strerror(errno));
    json_decref(root);
    if (code == 0)
        return output_file_close(f, err);
    output_file_abort(f);
    return code;
}

int own_fail(const struct own_output *own, const struct error *err)
{
    status_line_clear(own->line);
    fprintf(own->err, "cyclescope: %s\n", err->text);
    fflush(own->err);
    return STATUS_OWN_ERROR;
}

int own_fail_interrupted(const struct own_output *own, int interrupted, const struct error *err)
{
    int status = own_fail(own, err);
    return interrupted ? 128 + interrupted : status;
}

/* ---- the guest */

/* As in a shell: a guest that the user interrupted, or that lost the reader of its output, needs no message. */
static bool dies_quietly(int number)
{
    return number == SIGINT || number == SIGPIPE;
}

void report_death_by(const struct own_output *own, const char *program, int signal)
{
    const char *name = sigabbrev_np(signal); /* NULL for real-time signals */
    if (signal == 0 || dies_quietly(signal))
        return;
    fputs("cyclescope: ", own->err);
    clean_print(program, own->err);
    if (name)
        fprintf(own->err, " was killed by SIG%s\n", name);
    else
        fprintf(own->err, " was killed by signal %d\n", signal);
}

void report_death(const struct own_output *own, const struct process *p)
{
    report_death_by(own, process_program(p), process_signal(p));
}

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
