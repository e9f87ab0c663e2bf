/* What a host process that runs a guest does about itself. */
#ifndef CYCLESCOPE_GUEST_HOST_PROCESS_H
#define CYCLESCOPE_GUEST_HOST_PROCESS_H

struct process;

/* A guest that allocates without end must not take others down: this process shall be the first that the kernel kills.
 */
void offer_to_be_killed_first(void);

/* A forked guest process ends as the guest ended, since its parent waits for it through the host. */
_Noreturn void end_as_child(const struct process *p);

#endif
