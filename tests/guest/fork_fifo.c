/* A named pipe whose two ends are opened by different processes: each waits for the other, neither holds it up. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char *const name = "named-pipe";

/* The child comes second if it sleeps first. */
static void writer_is_child(useconds_t pause)
{
    char text[8] = "";
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        usleep(pause);
        int fd = open(name, O_WRONLY);
        _exit(fd >= 0 && write(fd, "abc", 3) == 3 ? 0 : 1);
    }
    int fd = open(name, O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof text) == 3 && strcmp(text, "abc") == 0);
    CHECK(read(fd, text, sizeof text) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(fd);
}

static void reader_is_child(useconds_t pause)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        char text[8] = "";
        usleep(pause);
        int fd = open(name, O_RDONLY);
        _exit(fd >= 0 && read(fd, text, sizeof text) == 3 ? 0 : 1);
    }
    int fd = open(name, O_WRONLY);
    CHECK(fd >= 0 && write(fd, "abc", 3) == 3);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(fd);
}

int main(void)
{
    CHECK(mkfifo(name, 0600) == 0);
    writer_is_child(0);
    writer_is_child(2000);
    reader_is_child(0);
    reader_is_child(2000);
    CHECK(unlink(name) == 0);
    return check_result();
}
