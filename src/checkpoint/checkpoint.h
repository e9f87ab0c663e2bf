/* Checkpoints: a guest process saved in a file. A restored process continues as if it had not been interrupted.
 *
 * guest/state.h lists what is saved and what cannot be. A checkpoint is a block file (base/block_file.h): versioned,
 * compressed, with checksums in every block and all numbers little-endian. It is written and read sequentially, so it
 * can go through a pipe. A plain file gets its name only after it is complete and on disk.
 *
 * Trust a checkpoint as you would trust a program: restoring it runs the program, with access to the folders that the
 * checkpoint names. */
#ifndef CYCLESCOPE_CHECKPOINT_CHECKPOINT_H
#define CYCLESCOPE_CHECKPOINT_CHECKPOINT_H

#include "guest/process.h"

/* Warm state (caches, TLBs, predictors) of a simulated core, if it was kept warm. Opaque to this module: the commands
 * interpret it. */
struct checkpoint_warm {
    char *core;      /* parameters of the core, one SECTION.KEY=VALUE per line */
    void *state;     /* bytes written by core_put_warm */
    uint64_t length; /* bytes at `state` */
};

/* ---- writing */

struct checkpoint_file;

/* Creates the output file as base/output_file.h describes: a plain file gets its name when it is complete. `-` is
 * standard output. Call this before the guest starts, so that the guest cannot reach the descriptor. Returns NULL with
 * `err` set on failure; free with checkpoint_close. */
struct checkpoint_file *checkpoint_create(const char *path, struct error *err) MUST_CHECK;
/* Writes the whole checkpoint, once, and gives the file its name. `warm` may be NULL. The process may continue
 * afterwards. Returns 0, or a negative code with a message in `err`. */
int checkpoint_write(struct checkpoint_file *file, struct process *p, const struct checkpoint_warm *warm,
                     struct error *err) MUST_CHECK;
/* Frees `file`, which may be NULL, and removes an incomplete temporary file. */
void checkpoint_close(struct checkpoint_file *file);

/* ---- reading */

struct checkpoint;

/* Opens a checkpoint and reads the configuration of its process. `-` is standard input. NULL with `err` set on
 * failure. */
struct checkpoint *checkpoint_open(const char *path, struct error *err) MUST_CHECK;
/* Configuration that checkpoint_restore will use. The caller may change it before that call. It has no argument list:
 * a checkpoint does not contain one. */
struct process_config *checkpoint_config(struct checkpoint *c);
/* Creates the process; may be called once. The process needs the checkpoint for as long as it lives. Takes over all
 * descriptors below FD_PRIVATE, even on failure. NULL with `err` set on failure. */
struct process *checkpoint_restore(struct checkpoint *c, struct error *err) MUST_CHECK;
/* Warm state, or NULL if the checkpoint has none. It follows the process in the file, so it is available only after
 * checkpoint_restore. Owned by `c`. */
const struct checkpoint_warm *checkpoint_warm(const struct checkpoint *c);
void checkpoint_free(struct checkpoint *c);

#endif
