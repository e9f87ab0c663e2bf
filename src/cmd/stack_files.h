/* The output files of commands that write JSON, CSV and SVG, and their options. */
#ifndef CYCLESCOPE_CMD_STACK_FILES_H
#define CYCLESCOPE_CMD_STACK_FILES_H

#include "base/options.h"
#include "cmd/guest_run.h"

struct stack_files {
    const char *json_path, *csv_path, *svg_path; /* NULL, "-" or a file */
    struct output_file json, csv, svg;
};

/* Rows for a command's option table. */
#define STACK_FILE_ROWS(f)                                                                                             \
    {"json", OPTION_STRING, &(f)->json_path, "FILE", "write everything as JSON; - is standard output"},                \
        {"csv", OPTION_STRING, &(f)->csv_path, "FILE", "write the stacks as CSV; - is standard output"},               \
    {                                                                                                                  \
        "svg", OPTION_STRING, &(f)->svg_path, "FILE", "draw the stacks as SVG; - is standard output"                   \
    }

/* Opens the files of the options that were given. Returns 0 or a negative code. */
int stack_files_open(struct stack_files *f, const struct own_output *own, struct error *err) MUST_CHECK;
/* Writes `root` to the JSON file, if it is open, and closes all files. Returns `status`, or STATUS_OWN_ERROR if a file
 * could not be written. */
int stack_files_close(struct stack_files *f, const struct own_output *own, json_t *root, int status);

#endif
