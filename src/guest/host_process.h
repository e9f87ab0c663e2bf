/* Settings and exit of the host process that runs a guest. */
#ifndef CYCLESCOPE_GUEST_HOST_PROCESS_H
#define CYCLESCOPE_GUEST_HOST_PROCESS_H

struct process;

/* Makes this process the first that the host's kernel kills when memory runs out, so that a guest that allocates
 * without limit does not take down other processes. */
void prefer_oom_kill(void);

/* Ends the host process of a forked guest process with the guest's exit code or signal. Its parent waits for it through
 * the host's wait calls. */
_Noreturn void end_as_child(const struct process *p);

#endif
