/* Warm caches, TLBs and predictors in checkpoints: those of a core, for a core of the same parameters. */
#ifndef CYCLESCOPE_CMD_WARM_STATE_H
#define CYCLESCOPE_CMD_WARM_STATE_H

#include "checkpoint/checkpoint.h"
#include "cmd/core_options.h"

/* Of a core that warming has come to an end on; to be freed. 0 or -ENOMEM. */
int warm_state_take(struct checkpoint_warm *to, struct core *core, const struct core_config *config,
                    struct error *err) MUST_CHECK;
void warm_state_free(struct checkpoint_warm *warm);

/* The simulation begins with what is warm in the checkpoint, if anything is; `c` may be NULL. Refuses another core, and
 * names the first parameter that differs. */
int warm_state_use(const struct checkpoint *c, struct simulation *s, struct error *err) MUST_CHECK;

#endif
