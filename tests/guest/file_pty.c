/* Pseudo-terminals: a session leader takes one as its controlling terminal, and its keys send signals. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t interrupts;

static void note(int sig)
{
    interrupts += sig == SIGINT;
}

/* Reads a line from the terminal's master side. */
static int read_line(int fd, char *line, size_t size)
{
    size_t used = 0;
    while (used + 1 < size && read(fd, line + used, 1) == 1)
        if (line[used++] == '\n')
            break;
    line[used] = 0;
    return (int)used;
}

static int run_child(int slave)
{
    struct sigaction action = {.sa_handler = note};
    char word[16] = "";
    sigaction(SIGINT, &action, NULL);
    CHECK(setsid() == getpid());
    CHECK(open("/dev/tty", O_RDWR) == -1 && errno == ENXIO);
    CHECK(ioctl(slave, TIOCSCTTY, 0) == 0);
    CHECK(tcgetpgrp(slave) == getpid());
    int tty = open("/dev/tty", O_RDWR);
    CHECK(tty >= 0 && write(tty, "ready\n", 6) == 6);
    CHECK(read(tty, word, sizeof word) == 4 && memcmp(word, "key\n", 4) == 0);
    CHECK(write(tty, "wait\n", 5) == 5);
    CHECK(read(tty, word, sizeof word) == -1 && errno == EINTR && interrupts == 1);
    return check_result();
}

/* Opening a terminal makes it the controlling one of a session leader that has none, unless O_NOCTTY is given. Under
 * --isolate terminals have no names. */
static void test_opening(void)
{
    char name[64];
    int master = posix_openpt(O_RDWR | O_NOCTTY), status = -1;
    CHECK(master >= 0 && unlockpt(master) == 0 && ptsname_r(master, name, sizeof name) == 0);
    if (access(name, R_OK) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        CHECK(setsid() == getpid());
        int quiet = open(name, O_RDWR | O_NOCTTY);
        CHECK(quiet >= 0 && tcgetpgrp(quiet) == -1 && errno == ENOTTY);
        int loud = open(name, O_RDWR);
        CHECK(loud >= 0 && tcgetpgrp(loud) == getpid());
        _exit(check_result());
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(master);
}

int main(void)
{
    test_opening();
    int master = posix_openpt(O_RDWR | O_NOCTTY), status = -1;
    char line[64];
    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
    CHECK(slave >= 0 && isatty(slave));
    struct termios modes;
    CHECK(tcgetattr(slave, &modes) == 0);
    modes.c_lflag &= ~(tcflag_t)ECHO;
    modes.c_oflag = 0;
    CHECK(tcsetattr(slave, TCSANOW, &modes) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(master);
        _exit(run_child(slave));
    }
    close(slave);
    CHECK(read_line(master, line, sizeof line) == 6 && strcmp(line, "ready\n") == 0);
    CHECK(write(master, "key\n", 4) == 4);
    CHECK(read_line(master, line, sizeof line) == 5 && strcmp(line, "wait\n") == 0);
    CHECK(write(master, "\003", 1) == 1); /* the key of SIGINT */
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(read(master, line, 1) == -1 && errno == EIO);
    return check_result();
}
