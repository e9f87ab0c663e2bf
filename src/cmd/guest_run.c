#include "cmd/guest_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "guest/files.h"

/* ---- output */

static FILE *private_stream(int fd, FILE *otherwise)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, FD_PRIVATE);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "w");
    return stream ? stream : otherwise;
}

void own_output_open(struct own_output *own)
{
    *own = (struct own_output){private_stream(STDOUT_FILENO, stdout), private_stream(STDERR_FILENO, stderr)};
}

unsigned own_columns(const struct own_output *own)
{
    struct winsize w;
    return ioctl(fileno(own->err), TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 100;
}

int own_file_open(struct own_file *f, const struct own_output *own, const char *option, const char *path,
                  struct error *err)
{
    *f = (struct own_file){.option = option, .path = path};
    if (path == NULL)
        return 0;
    if (strcmp(path, "-") == 0) {
        f->to = own->out;
        f->shared = true;
        return 0;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set(err, -errno, "%s %s: %s", option, path, strerror(errno));
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_PRIVATE);
    if (high >= 0) { /* else the limit on open files is too low for any guest, which process_new says */
        close(fd);
        fd = high;
    }
    f->to = fdopen(fd, "w");
    if (f->to == NULL) {
        close(fd);
        return error_set(err, -ENOMEM, "%s %s: out of memory", option, path);
    }
    return 0;
}

int own_file_close(struct own_file *f, struct error *err)
{
    FILE *to = f->to;
    if (to == NULL)
        return 0;
    f->to = NULL;
    bool failed = ferror(to);
    errno = failed ? EIO : 0;
    if ((f->shared ? fflush(to) : fclose(to)) != 0)
        failed = true;
    return failed ? error_set(err, -EIO, "%s %s: %s", f->option, f->path, strerror(errno ? errno : EIO)) : 0;
}

int own_file_write_json(struct own_file *f, json_t *root, struct error *err)
{
    int code = 0;
    if (f->to != NULL && root == NULL)
        code = error_set(err, -EILSEQ, "%s %s: the program's name is not valid UTF-8", f->option, f->path);
    else if (f->to != NULL &&
             (json_dumpf(root, f->to, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0 || fputc('\n', f->to) == EOF))
        code = error_set(err, -EIO, "%s %s: %s", f->option, f->path, strerror(errno));
    json_decref(root);
    struct error ignored;
    int closed = own_file_close(f, code ? &ignored : err);
    return code ? code : closed;
}

int own_fail(const struct own_output *own, const struct error *err)
{
    fprintf(own->err, "cyclescope: %s\n", err->text);
    fflush(own->err);
    return STATUS_OWN_ERROR;
}

/* ---- the guest */

/* As in a shell: what the user or the reader of the output did needs no words. */
static bool dies_quietly(int number)
{
    return number == SIGINT || number == SIGPIPE;
}

void tell_death_by(const struct own_output *own, const char *program, int signal)
{
    if (signal && !dies_quietly(signal))
        fprintf(own->err, "cyclescope: %s was killed by SIG%s\n", program, sigabbrev_np(signal));
}

void tell_death(const struct own_output *own, const struct process *p)
{
    tell_death_by(own, process_program(p), process_signal(p));
}

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
