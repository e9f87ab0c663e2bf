/* Output files that are written as a whole: reports, exports, drawings, checkpoints.
 *
 * A file gets its name when it is complete. Until then its contents are in a file without a name in the same folder
 * (O_TMPFILE), or in a file with a hidden temporary name if the file system does not support that. So an existing file
 * stays as it is if the program does not exist, the run fails, the disk is full or we are killed. A killed process
 * leaves nothing; where O_TMPFILE is not supported, it leaves the temporary file.
 *
 * A new file has the mode that open(2) gives with the umask. An existing file keeps its mode, and its owner and group
 * if we may set them; other hard links to it keep the old contents. A symbolic link stays: the file that it points to
 * is replaced.
 *
 * What has no name of its own, or cannot be replaced, is written directly: standard output (`-`), devices, pipes, and
 * descriptors of this process such as /dev/stdout. An existing file in a folder in which we cannot create files, or of
 * an owner that we cannot give to a new file, is overwritten from its start and cut to its length in the end: its old
 * contents are lost as soon as something is written.
 *
 * A stream, such as a profile of `record`, is useful even if it breaks off. Its temporary file has a visible name,
 * PATH.PID.partial, from the start, so that a killed process leaves it to its user. Otherwise it is an output file as
 * all others: two commands that write the same path do not damage each other, and the last one to end wins.
 *
 * Not for a file that is read and extended in place: `--keep` (phases/kept.h). Its name takes part in the checks of
 * struct output_names, however. */
#ifndef CYCLESCOPE_BASE_OUTPUT_FILE_H
#define CYCLESCOPE_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/* ---- files */

struct output_file {
    FILE *to;           /* NULL: the option was not given, or the file is closed */
    const char *option; /* for messages, such as "--json" */
    const char *path;   /* as the user wrote it; the string must outlive the file */
    bool shared;        /* `to` is a stream of the caller, which stays open */
    bool durable;       /* set by the caller: wait until contents and name are on the disk, before the old file goes */
    bool in_place;      /* an existing file, which cannot be replaced, is overwritten */
    bool stream;        /* the temporary file is visible */
    pid_t owner;        /* process that opened the file: its forked children neither complete nor remove it */
    char *target;       /* absolute path of the final name; NULL: written directly */
    char *temporary;    /* temporary name in the same folder; NULL: the file has no name yet */
};

/* Opens a file. `path` NULL: the option was not given, and `to` becomes NULL. `-` is the stream `standard`. The
 * descriptor gets a number of at least `lowest_fd`, if the limit on open files permits. The working folder may change
 * afterwards. Returns 0, or a negative errno code with the message "OPTION PATH: why". */
int output_file_open(struct output_file *f, const char *option, const char *path, FILE *standard, int lowest_fd,
                     struct error *err) MUST_CHECK;
/* The same for a stream. If the file must be overwritten in place, it is emptied at once. */
int output_file_open_stream(struct output_file *f, const char *option, const char *path, FILE *standard, int lowest_fd,
                            struct error *err) MUST_CHECK;
/* Completes the file: flushes it, closes it, gives it its name. Returns 0, also if there is no file. If anything failed
 * since the file was opened, removes the temporary file and returns a negative errno code with a message. */
int output_file_close(struct output_file *f, struct error *err) MUST_CHECK;
/* Closes the file, if it is open, and removes what was written, except what was written directly. */
void output_file_abort(struct output_file *f);

/* ---- names */

/* The files that one command reads and writes. It refuses an output that would destroy another file of the command. */
struct output_names {
    struct output_name *name;
    size_t count;
};

/* Notes a file that the command reads. `what` is for messages, such as "the program" or "--restore", and must outlive
 * `n`. Does nothing if there is no such file, or if `path` is NULL. */
void output_names_add_input(struct output_names *n, const char *what, const char *path);
/* Notes an output. Returns 0, or -EEXIST with a message if it is a plain file that an option before it writes or that
 * the command reads. `path` may be NULL. Several outputs may go to `-`, or to the same device. */
int output_names_add(struct output_names *n, const char *option, const char *path, struct error *err) MUST_CHECK;
void output_names_free(struct output_names *n);

#endif
