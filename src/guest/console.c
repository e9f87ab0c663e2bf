#include "guest/console.h"

#include <termios.h>

#include "guest/process_priv.h"

bool console_begin(const struct process *p, int fd)
{
    const struct guest_console *c = p->config.console;
    return c && !p->copy && c->begin(c->context, fd);
}

void console_end(const struct process *p, char last)
{
    p->config.console->end(p->config.console->context, last);
}

char console_last(const struct iovec *iov, int count, int64_t bytes)
{
    for (int i = 0; i < count && bytes > 0; i++) {
        if ((uint64_t)bytes <= iov[i].iov_len)
            return ((const char *)iov[i].iov_base)[bytes - 1];
        bytes -= (int64_t)iov[i].iov_len;
    }
    return '\0';
}

void console_await_input(const struct process *p, int fd)
{
    if (console_begin(p, fd))
        console_end(p, '\0');
}

/* The terminal shows what is typed if it echoes. The line break at its end then moves the cursor to a new line. */
void console_note_input(const struct process *p, int fd, char last)
{
    struct termios settings;
    if (p->config.console == NULL || tcgetattr(fd, &settings) != 0 || !(settings.c_lflag & ECHO))
        return;
    if (console_begin(p, fd))
        console_end(p, last);
}
