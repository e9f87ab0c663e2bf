#include "cmd/status_line.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/parallel.h"
#include "cmd/terminal.h"

#define CLEAR "\r\033[K"

struct status_line {
    pthread_mutex_t lock;         /* held while anybody writes to the terminal */
    int fd;                       /* the terminal; a descriptor that the guest cannot use */
    dev_t device;                 /* its device number */
    bool shown;                   /* our line is on the terminal */
    bool begun;                   /* somebody else has begun a line there and not ended it */
    struct guest_console console; /* the functions that the guest calls */
};

/* ---- the lock */

/* A process may be killed while it holds the lock. What it left is erased with our next line. */
static void take_over(struct status_line *l, int code)
{
    if (code == EOWNERDEAD)
        pthread_mutex_consistent(&l->lock);
}

static bool make_lock(struct status_line *l)
{
    pthread_mutexattr_t kind;
    if (pthread_mutexattr_init(&kind) != 0)
        return false;
    bool made = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) == 0 &&
                pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) == 0 &&
                pthread_mutex_init(&l->lock, &kind) == 0;
    pthread_mutexattr_destroy(&kind);
    return made;
}

static void put(const struct status_line *l, const char *text, size_t bytes)
{
    (void)!write(l->fd, text, bytes); /* a terminal that has gone needs no line */
}

static void erase(struct status_line *l)
{
    if (l->shown)
        put(l, CLEAR, strlen(CLEAR));
    l->shown = false;
}

void status_line_hold(struct status_line *l)
{
    if (l == NULL)
        return;
    take_over(l, pthread_mutex_lock(&l->lock));
    erase(l);
}

void status_line_release(struct status_line *l, char last)
{
    if (l == NULL)
        return;
    if (last)
        l->begun = last != '\n';
    pthread_mutex_unlock(&l->lock);
}

/* ---- the guest */

/* /dev/tty is another name of the terminal, with a device number of its own. */
static bool is_terminal(const struct status_line *l, int fd)
{
    struct stat s;
    return fstat(fd, &s) == 0 && S_ISCHR(s.st_mode) && (s.st_rdev == l->device || s.st_rdev == makedev(5, 0));
}

static bool guest_begins(void *context, int fd)
{
    struct status_line *l = context;
    if (!is_terminal(l, fd))
        return false;
    status_line_hold(l);
    return true;
}

static void guest_ends(void *context, char last)
{
    status_line_release(context, last);
}

const struct guest_console *status_line_console(const struct status_line *l)
{
    return l ? &l->console : NULL;
}

/* ---- the line */

struct status_line *status_line_new(FILE *to)
{
    struct stat s;
    if (!terminal_obeys(to) || fstat(fileno(to), &s) != 0)
        return NULL;
    struct status_line *l = shared_memory(sizeof *l);
    if (l == NULL)
        return NULL;
    l->fd = fileno(to);
    l->device = s.st_rdev;
    l->console = (struct guest_console){guest_begins, guest_ends, l};
    if (make_lock(l))
        return l;
    munmap(l, sizeof *l);
    return NULL;
}

void status_line_free(struct status_line *l)
{
    if (l)
        munmap(l, sizeof *l);
}

static bool may_draw(const struct status_line *l)
{
    struct termios settings;
    pid_t group = tcgetpgrp(l->fd); /* negative if it is not our controlling terminal */
    return !l->begun && (group < 0 || group == getpgrp()) && tcgetattr(l->fd, &settings) == 0 &&
           (settings.c_lflag & ICANON);
}

/* A longer line would be continued on the next one, and only the last of them could be erased. */
static size_t most_bytes(const struct status_line *l)
{
    struct winsize w;
    return ioctl(l->fd, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col - 1u : 79;
}

void status_line_draw(struct status_line *l, const char *format, ...)
{
    char text[256] = CLEAR;
    const size_t before = strlen(CLEAR), most = sizeof text - before - 1;
    va_list arguments;
    if (l == NULL)
        return;
    int code = pthread_mutex_trylock(&l->lock);
    if (code != 0 && code != EOWNERDEAD)
        return;
    take_over(l, code);
    if (may_draw(l)) {
        va_start(arguments, format);
        int made = vsnprintf(text + before, most + 1, format, arguments);
        va_end(arguments);
        size_t bytes = made < 0 ? 0 : (size_t)made < most ? (size_t)made : most;
        put(l, text, before + (bytes < most_bytes(l) ? bytes : most_bytes(l)));
        l->shown = true;
    } else {
        erase(l);
    }
    pthread_mutex_unlock(&l->lock);
}

void status_line_clear(struct status_line *l)
{
    status_line_hold(l);
    status_line_release(l, '\0');
}
