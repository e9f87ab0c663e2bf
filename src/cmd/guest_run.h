/* Shared by commands that run a guest: output files that the guest cannot touch, and messages about its death.
 *
 * The guest uses the host process's descriptors with the same numbers, and its working folder. So a command opens all
 * its output files before the guest starts, with descriptor numbers that the guest cannot use. */
#ifndef CYCLESCOPE_CMD_GUEST_RUN_H
#define CYCLESCOPE_CMD_GUEST_RUN_H

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "base/output_file.h"
#include "cmd/status_line.h"
#include "guest/host_process.h"
#include "guest/process.h"

/* Standard output and standard error of the command itself: duplicates that the guest cannot close. Copies share
 * `files` and `line`. */
struct own_output {
    FILE *out, *err;
    struct status_line *line; /* on the terminal that `err` is; NULL if it is none */
    struct own_files *files;  /* names of input and output files, and the output files that are open */
};

void own_output_open(struct own_output *own);
/* Removes the output files that were not closed: they are incomplete. Existing files with their names stay. */
void own_output_close(struct own_output *own);

/* Notes a file that the command reads, so that no output can replace it. `what` is for messages. `path` may be NULL. */
void own_input(const struct own_output *own, const char *what, const char *path);
/* The same for a program: every file that its name can mean with this sysroot, folder and PATH, files that its
 * arguments name, and files that its standard streams are redirected from or to. */
void own_input_program(const struct own_output *own, const struct process_config *config);

/* Opens an output file that an option names: before the guest starts, so that a mistake is reported at once. It gets
 * its name in output_file_close. `path` NULL: the option was not given, and `to` becomes NULL; "-": standard output.
 * `f` must not move until it is closed, or until own_output_close. Returns 0 or a negative code; also if another option
 * of the command writes or reads the same file. */
int own_file_open(struct output_file *f, const struct own_output *own, const char *option, const char *path,
                  struct error *err) MUST_CHECK;
/* The check of own_file_open alone, for a file that is opened later, or by another module. */
int own_file_check(const struct own_output *own, const char *option, const char *path, struct error *err) MUST_CHECK;
/* Opens a stream, whose first part survives if we are killed (output_file_open_stream). The name was checked by
 * own_file_check. `*to` is another stream on the same file, for a writer that closes it; `f` is closed after that. */
int own_stream_open(struct output_file *f, FILE **to, const struct own_output *own, const char *option,
                    const char *path, struct error *err) MUST_CHECK;

/* Opens the file for the page (-o); `path` NULL: the page goes to standard error. */
int own_page_open(const struct own_output *own, const char *path, struct error *err) MUST_CHECK;
FILE *own_page(const struct own_output *own);       /* where the page goes */
unsigned own_columns(const struct own_output *own); /* its width (terminal_columns) */
/* Completes the file of the page, if there is one; without a page, an existing file stays. Returns `status`, or
 * STATUS_OWN_ERROR if it cannot be written. */
int own_page_close(const struct own_output *own, int status);

#define PAGE_OPTION_ROW(path)                                                                                          \
    {                                                                                                                  \
        "o,output", OPTION_STRING, path, "FILE", "print the page to FILE instead of standard error"                    \
    }

/* Writes a JSON document if the option was given, closes the file and releases `root`. `root` is NULL if there
 * was no memory for it: that is an error if the option was given. */
int own_file_write_json(struct output_file *f, json_t *root, struct error *err) MUST_CHECK;

/* Prints "cyclescope: " and the message to our own standard error. Returns STATUS_OWN_ERROR. */
int own_fail(const struct own_output *own, const struct error *err);

/* The same for an error because of which a run has no results. `interrupted` is the signal that ended the run early:
 * the status is then 128 + signal. 0: no signal; the status is STATUS_OWN_ERROR. */
int own_fail_interrupted(const struct own_output *own, int interrupted, const struct error *err);

/* Print which signal killed the guest, unless no signal did, or it is SIGINT or SIGPIPE. `signal` 0: none. */
void report_death(const struct own_output *own, const struct process *p);
void report_death_by(const struct own_output *own, const char *program, int signal);

double now_seconds(void); /* monotonic clock */

#endif
