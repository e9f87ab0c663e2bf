#include "cmd/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/terminal.h"

static bool is_installed(const char *program)
{
    const char *path = getenv("PATH");
    char file[4096];
    for (const char *at = path ? path : ""; *at; at += *at == ':') {
        size_t length = strcspn(at, ":");
        int n = snprintf(file, sizeof file, "%.*s/%s", (int)length, at, program);
        if (n > 0 && (size_t)n < sizeof file && access(file, X_OK) == 0)
            return true;
        at += length;
    }
    return false;
}

/* Returns the command of the pager, or NULL for none. */
static const char *choose(void)
{
    const char *command = getenv("PAGER");
    if (command == NULL)
        return is_installed("less") ? "less -FRX" : NULL;
    return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

void pager_open(struct pager *p, bool wanted)
{
    bool terminal = isatty(STDOUT_FILENO);
    *p = (struct pager){
        .to = stdout, .color = terminal_shows_colors(stdout), .command = terminal && wanted ? choose() : NULL};
    if (p->command == NULL)
        return;
    fflush(stdout);
    setenv("LESS", "FRX", 0); /* lets a `less` from $PAGER show colors */
    FILE *pipe = popen(p->command, "we");
    if (pipe == NULL) {
        p->command = NULL;
        return;
    }
    p->to = pipe;
    signal(SIGPIPE, SIG_IGN);
}

int pager_close(struct pager *p, struct error *err)
{
    if (p->command == NULL)
        return fflush(p->to) == 0 && !ferror(p->to)
                   ? 0
                   : error_set(err, -EIO, "standard output cannot be written: %s", strerror(errno ? errno : EIO));
    int status = pclose(p->to);
    signal(SIGPIPE, SIG_DFL);
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return error_set(err, -ENOENT, "cannot run the pager '%s': correct $PAGER, or use --no-pager", p->command);
    return 0;
}
