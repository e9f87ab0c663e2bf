/* One line on the terminal that says what a command is doing. It is redrawn in place.
 *
 * The guest writes to the same terminal. Invariants: the line is erased before anything else appears there; it is drawn
 * only at the start of a line, so not behind a prompt that waits for its answer. Processes that the guest forked and
 * jobs write too, so the state is in memory that all of them share, and whoever writes to the terminal holds its lock.
 * Drawing never waits for the lock: a line that cannot be drawn now is drawn later.
 *
 * The line is not drawn while another process group has the terminal, or while the guest has changed the terminal so
 * that it passes on single keys, as editors do. All functions accept NULL, which is a line that is never shown. */
#ifndef CYCLESCOPE_CMD_STATUS_LINE_H
#define CYCLESCOPE_CMD_STATUS_LINE_H

#include <stdio.h>

#include "guest/process.h"

struct status_line;

/* Returns NULL if the stream is not a terminal that obeys control sequences. */
struct status_line *status_line_new(FILE *to);
void status_line_free(struct status_line *l);

void status_line_draw(struct status_line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void status_line_clear(struct status_line *l);

/* Around what this process itself writes to the terminal while the line may be shown. `last` is the last byte that was
 * written; 0: none was. */
void status_line_hold(struct status_line *l);
void status_line_release(struct status_line *l, char last);

/* For process_config.console; NULL for NULL. */
const struct guest_console *status_line_console(const struct status_line *l);

#endif
