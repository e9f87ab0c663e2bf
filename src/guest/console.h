/* The guest's use of the terminal that Cyclescope itself writes to.
 *
 * A command may keep a line on that terminal which it redraws in place. Everything that the guest writes there, and
 * what a user types for it, passes through here, so that the command can take its line away first. Without
 * process_config.console, and in copies, which write to no terminal, these functions do nothing. */
#ifndef CYCLESCOPE_GUEST_CONSOLE_H
#define CYCLESCOPE_GUEST_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct process;

/* Call before a write to `fd`. If it returns true, `fd` is that terminal, and console_end must follow the write. */
bool console_begin(const struct process *p, int fd);
/* `last` is the last byte that was written; 0: none was. */
void console_end(const struct process *p, char last);
/* The last of the first `bytes` bytes in the buffers; 0 if there are none. */
char console_last(const struct iovec *iov, int count, int64_t bytes);

/* Call before a read from `fd` that may wait for the user, and after it. `last` is the last byte that was read. */
void console_await_input(const struct process *p, int fd);
void console_note_input(const struct process *p, int fd, char last);

#endif
