/* A copied process: continues a run from some point in a forked host process, to measure a window of it. The original
 * process runs on and must not notice the copy, so the copy has no effect outside of itself.
 *
 * Files are read through descriptors of the copy's own. Every file that the copy has open or opens for writing is
 * replaced by a memory file, also where it is mapped, and where it is mapped and could be made writable. Pipes,
 * eventfds and epoll descriptors that the guest has made for itself are made again with their contents. Every other
 * descriptor (a terminal, a socket, a pipe of the caller) is borrowed: its number holds an O_PATH descriptor, with
 * which nothing can be done. It can be queried, and what write and writev send to it is discarded.
 *
 * Each row of syscall.def says what a copy may do with the call. Calls that change names, owners, modes or times of
 * files change nothing, and most return what the original's would. A call that only the run itself can make ends the
 * copy; process_spoiled returns the reason. A filter in the host's kernel (copy_filter.c) is a second line of defense.
 *
 * Limits: the copy does not see its own changes of names (a file that it renamed, removed or created), and it sees
 * changes that the original makes to files that the copy has not opened yet. Input that only one of the two processes
 * can receive (from a terminal, a pipe, a socket), waiting for it, another transfer on such a descriptor, and the
 * network end the copy. A process cannot be copied while the run has other processes, nor with --host-time. */
#ifndef CYCLESCOPE_GUEST_PROCESS_COPY_H
#define CYCLESCOPE_GUEST_PROCESS_COPY_H

#include "guest/process.h"

/* Forks a host process with a copy of `p`, and waits until the copy is independent. Call it between two instructions of
 * the guest. Returns the id of the host process; wait for it with __WALL, since its end sends no signal. In the copy it
 * returns 0: `*code` is 0, or a negative errno with a message in `err`, and then the copy must exit. Returns a negative
 * code with a message if the host cannot fork. The copy is killed when the thread that forked it ends. */
int process_fork_copy(struct process *p, int *code, struct error *err) MUST_CHECK;

/* Forks a host process that sends no signal to its parent when it ends, since the parent would take SIGCHLD for the end
 * of a guest's child, and that is killed when its parent ends. Wait for the process with __WALL. Returns as fork does.
 */
int fork_silently(void);

/* Makes `p` a copy. Call in a host process that was just forked, between two instructions of the guest; the original
 * must wait until this returns. Returns 0, or a negative errno with a message in `err`; the caller must exit then. */
int process_become_copy(struct process *p, struct error *err) MUST_CHECK;
/* Whether the copy has done, since it was forked, what would change files by name or start a process in the run itself.
 * If not, the run changes nothing that copies of it could see, but for what it writes to descriptors that it was given.
 */
bool process_copy_acted(const struct process *p);
/* Returns why the copy had to end, as a sentence that starts with "it", or NULL if it did not. */
const char *process_spoiled(const struct process *p);

#endif
