/* Warm caches, TLBs and predictors in checkpoints. The state of one core fits only a core with the same parameters. */
#ifndef CYCLESCOPE_SIM_WARM_STATE_H
#define CYCLESCOPE_SIM_WARM_STATE_H

#include "checkpoint/checkpoint.h"
#include "sim/simulate.h"

/* Copies the warm state out of a core; warm_state_free frees the copy. Branches that the warmer still has in flight are
 * not part of it: call warm_settle first. 0 or -ENOMEM. */
int warm_state_take(struct checkpoint_warm *to, struct core *core, const struct core_config *config,
                    struct error *err) MUST_CHECK;
void warm_state_free(struct checkpoint_warm *warm);

/* Makes the simulation start with the checkpoint's warm state, if it has any; `c` may be NULL. `s->state` points into
 * the checkpoint, which must outlive the simulation. -EINVAL if the state belongs to another core: the message names
 * the first parameter that differs. */
int warm_state_use(const struct checkpoint *c, struct simulation *s, struct error *err) MUST_CHECK;

#endif
