/* Parts of a checkpoint other than the process itself: configuration, warm state, end mark. */
#ifndef CYCLESCOPE_CHECKPOINT_CHECKPOINT_PRIV_H
#define CYCLESCOPE_CHECKPOINT_CHECKPOINT_PRIV_H

#include "base/fields.h"
#include "checkpoint/checkpoint.h"

static const struct block_file_kind checkpoint_kind = {.magic = "CYSCPCKP", .version = 2, .noun = "checkpoint"};

enum { CHECKPOINT_END = 0x21444e45 /* "END!" */ };

/* Sysroot, binds, limits and seed of a process. Strings that are read are allocated: see checkpoint_config_free. */
void checkpoint_config_fields(struct fields *f, struct process_config *config);
void checkpoint_config_free(struct process_config *config); /* frees what reading allocated */
/* Warm state; `warm->core` is NULL if there is none. Reading allocates both fields with malloc. */
void checkpoint_warm_fields(struct fields *f, struct checkpoint_warm *warm);

#endif
