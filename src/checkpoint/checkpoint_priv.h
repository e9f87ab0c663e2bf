/* What a checkpoint begins and ends with. */
#ifndef CYCLESCOPE_CHECKPOINT_CHECKPOINT_PRIV_H
#define CYCLESCOPE_CHECKPOINT_CHECKPOINT_PRIV_H

#include "base/fields.h"
#include "checkpoint/checkpoint.h"

static const struct block_file_kind checkpoint_kind = {.magic = "CYSCPCKP", .version = 1, .noun = "checkpoint"};

enum { CHECKPOINT_END = 0x21444e45 /* "END!" */ };

/* How the process sees folders, and its limits; strings are allocated when reading. */
void checkpoint_config_fields(struct fields *f, struct process_config *config);
void checkpoint_config_free(struct process_config *config); /* what reading allocated */
/* Without a core nothing is warm; allocated when reading. */
void checkpoint_warm_fields(struct fields *f, struct checkpoint_warm *warm);

#endif
