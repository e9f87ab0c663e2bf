/* What the commands that run a guest share: output that the guest cannot touch, and how its death is told.
 *
 * The guest's descriptors are the host's with the same numbers, and its working folder is ours. So everything that we
 * write later is opened before the guest begins, with descriptors that are out of its reach. */
#ifndef CYCLESCOPE_CMD_GUEST_RUN_H
#define CYCLESCOPE_CMD_GUEST_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "guest/host_process.h"
#include "guest/process.h"

/* Where our own lines go: duplicates that the guest cannot close. */
struct own_output {
    FILE *out, *err;
};

void own_output_open(struct own_output *own);
unsigned own_columns(const struct own_output *own); /* of the terminal that `err` is; 100 if it is none */

/* A file that an option names, written when the guest has ended. */
struct own_file {
    FILE *to;           /* NULL: the option was not given */
    const char *option; /* for messages: --json */
    const char *path;
    bool shared; /* with own_output: it stays open */
};

/* No path: no file. `-` is standard output. 0 or a negative code. */
int own_file_open(struct own_file *f, const struct own_output *own, const char *option, const char *path,
                  struct error *err) MUST_CHECK;
/* Whether all that was written got there; -EIO with a sentence if not. Without a file it always did. */
int own_file_close(struct own_file *f, struct error *err) MUST_CHECK;

/* Writes the document if the option was given, closes the file, and gives the document back to jansson, which may be
 * NULL: there were names that are not UTF-8. */
int own_file_write_json(struct own_file *f, json_t *root, struct error *err) MUST_CHECK;

/* Prints our sentence past what the guest did to standard error; returns the exit status for it. */
int own_fail(const struct own_output *own, const struct error *err);

/* Says which signal killed the guest, if one did and if that needs words. */
void tell_death(const struct own_output *own, const struct process *p);
void tell_death_by(const struct own_output *own, const char *program, int signal); /* 0: none did */

double now_seconds(void);

#endif
