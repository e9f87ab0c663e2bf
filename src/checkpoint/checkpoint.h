/* Checkpoints: a guest process in a file, from which it goes on as if nothing had happened.
 *
 * What is saved and what cannot be is in guest/state.h. The file is one of blocks (base/block_file.h): versioned,
 * compressed, each block with checksums, all numbers little-endian. It is written and read from front to end, so that
 * it can go through a pipe. It comes to stand under its name when it is complete and on the disk, and not before.
 *
 * A checkpoint is to be trusted as a program is: whoever restores it runs it, with the folders that it asks for. */
#ifndef CYCLESCOPE_CHECKPOINT_CHECKPOINT_H
#define CYCLESCOPE_CHECKPOINT_CHECKPOINT_H

#include "guest/process.h"

/* Caches, TLBs and predictors of a simulated core, if they were kept warm. Opaque here: the commands know cores. */
struct checkpoint_warm {
    char *core;      /* the parameters of the core, a line each: SECTION.KEY=VALUE */
    void *state;     /* as core_put_warm leaves it */
    uint64_t length; /* of the state */
};

/* ---- writing */

struct checkpoint_file;

/* Makes the file, without a name until it is complete, or, where there are no such files, under a hidden one. `-` is
 * standard output; what is no plain file (a device, a named pipe) is written to as it is. To be called before the guest
 * begins, whose reach it must be out of. */
struct checkpoint_file *checkpoint_create(const char *path, struct error *err) MUST_CHECK;
/* `warm` may be NULL. The process may go on afterwards. 0, or a negative code and a sentence. */
int checkpoint_write(struct checkpoint_file *file, struct process *p, const struct checkpoint_warm *warm,
                     struct error *err) MUST_CHECK;
/* Takes away what was not written completely; `file` may be NULL. */
void checkpoint_close(struct checkpoint_file *file);

/* ---- reading */

struct checkpoint;

/* Reads how the process was configured. `-` is standard input. */
struct checkpoint *checkpoint_open(const char *path, struct error *err) MUST_CHECK;
/* To be changed, if at all, before the process is made; of an argument list nothing is known. */
struct process_config *checkpoint_config(struct checkpoint *c);
/* Makes the process, once; it needs the checkpoint as long as it lives. Takes over all descriptors below FD_PRIVATE,
 * even if it fails. */
struct process *checkpoint_restore(struct checkpoint *c, struct error *err) MUST_CHECK;
/* What was warm, or NULL; behind the process in the file, so it is known once that was made. */
const struct checkpoint_warm *checkpoint_warm(const struct checkpoint *c);
void checkpoint_free(struct checkpoint *c);

#endif
