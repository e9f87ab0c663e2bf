/* /proc/self and /dev as every program finds them. */
/* not for qemu: it serves fewer of them, and stat of /proc/self/exe is the host program there */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char text[1 << 16];

static int slurp(const char *path)
{
    int fd = open(path, O_RDONLY), total = 0;
    ssize_t n;
    if (fd < 0)
        return -1;
    while ((n = read(fd, text + total, sizeof text - 1 - (size_t)total)) > 0)
        total += (int)n;
    text[total] = '\0';
    close(fd);
    return total;
}

static void links(const char *program)
{
    char path[PATH_MAX], real[PATH_MAX], link[64];
    struct stat a, b;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    CHECK(n > 0);
    path[n > 0 ? n : 0] = '\0';
    CHECK(realpath(program, real) != NULL && strcmp(real, path) == 0);
    CHECK(stat("/proc/self/exe", &a) == 0 && stat(program, &b) == 0 && a.st_ino == b.st_ino);
    CHECK(slurp("/proc/self/exe") > 0 && memcmp(text, "\177ELF", 4) == 0);
    snprintf(link, sizeof link, "/proc/%d/exe", getpid());
    CHECK(readlink(link, real, sizeof real) == n && memcmp(real, path, (size_t)n) == 0);
    CHECK(chdir("/") == 0);
    CHECK(readlink("/proc/self/cwd", path, sizeof path) == 1 && path[0] == '/');
    snprintf(link, sizeof link, "%d", getpid());
    n = readlink("/proc/self", path, sizeof path);
    CHECK(n == (ssize_t)strlen(link) && memcmp(path, link, (size_t)n) == 0);
}

static void descriptors(void)
{
    char path[PATH_MAX], link[64];
    int fd = open("/dev/null", O_WRONLY), ends[2];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    CHECK(readlink(link, path, sizeof path) == 9 && memcmp(path, "/dev/null", 9) == 0);
    close(fd);
    CHECK(open(link, O_RDONLY) == -1 && errno == ENOENT);
    CHECK(pipe(ends) == 0);
    snprintf(link, sizeof link, "/dev/fd/%d", ends[1]);
    fd = open(link, O_WRONLY);
    CHECK(fd >= 0 && write(fd, "a", 1) == 1 && read(ends[0], path, 1) == 1 && path[0] == 'a');
    snprintf(link, sizeof link, "/proc/self/fd/%d", ends[1]);
    ssize_t n = readlink(link, path, sizeof path);
    CHECK(n > 6 && memcmp(path, "pipe:[", 6) == 0);
    close(fd);
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL);
    int seen = 0, strange = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        seen++;
        strange += fcntl(atoi(e->d_name), F_GETFD) < 0;
    }
    CHECK(seen >= 6 && strange == 0); /* 0 to 2, the pipe, and the folder itself */
    closedir(d);
    close(ends[0]);
    close(ends[1]);
}

static void texts(const char *program)
{
    CHECK(slurp("/proc/self/cmdline") == (int)strlen(program) + 1 && strcmp(text, program) == 0);
    CHECK(slurp("/proc/self/maps") > 0);
    uintptr_t here = (uintptr_t)&text, stack = (uintptr_t)&program;
    int found = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long start, end;
        char perms[5];
        CHECK(sscanf(line, "%lx-%lx %4s", &start, &end, perms) == 3 && start < end);
        found += start <= here && here < end && perms[1] == 'w';
        found += start <= stack && stack < end && strstr(line, "[stack]");
    }
    CHECK(found == 2);
    CHECK(slurp("/proc/self/stat") > 0 && atoi(text) == getpid() && strchr(text, ')') != NULL);
    CHECK(slurp("/proc/self/status") > 0 && strstr(text, "\nPid:\t"));
    CHECK(slurp("/proc/cpuinfo") > 0 && strstr(text, "processor\t: 0"));
    CHECK(slurp("/proc/meminfo") > 0 && strncmp(text, "MemTotal:", 9) == 0 && strstr(text, "MemAvailable:"));
    CHECK(slurp("/proc/sys/kernel/osrelease") > 0);
    CHECK(slurp("/sys/devices/system/cpu/online") > 0 && text[0] == '0');
    CHECK(open("/proc/self/maps", O_WRONLY) == -1);
}

/* The first thing in the environment, as the program found it. */
static void environment(void)
{
    extern char **environ;
    int length = slurp("/proc/self/environ");
    CHECK(environ[0] ? length > (int)strlen(environ[0]) && strcmp(text, environ[0]) == 0 : length == 0);
}

static void threads(void)
{
    char own[64];
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder != NULL);
    for (struct dirent *e; folder && (e = readdir(folder));)
        count += e->d_name[0] != '.' && CHECK(atoi(e->d_name) == gettid());
    CHECK(count == 1);
    if (folder)
        closedir(folder);
    snprintf(own, sizeof own, "/proc/self/task/%d/comm", gettid());
    CHECK(slurp(own) > 0);
    CHECK(access("/proc/self/task/1", F_OK) == -1 && errno == ENOENT);
}

static void devices(void)
{
    char a[64], b[64];
    int fd = open("/dev/urandom", O_RDONLY);
    memset(a, 0, sizeof a);
    CHECK(fd >= 0 && read(fd, a, 64) == 64 && read(fd, b, 64) == 64 && memcmp(a, b, 64) != 0);
    CHECK(read(fd, text, 60000) == 60000);
    close(fd);
    fd = open("/dev/zero", O_RDWR);
    CHECK(read(fd, a, 64) == 64 && a[0] == 0 && a[63] == 0 && write(fd, a, 64) == 64);
    close(fd);
    fd = open("/dev/full", O_WRONLY);
    CHECK(write(fd, a, 1) == -1 && errno == ENOSPC);
    close(fd);
    fd = open("/dev/null", O_RDWR);
    CHECK(read(fd, a, 64) == 0 && write(fd, a, 64) == 64);
    close(fd);
}

int main(int argc, char **argv)
{
    CHECK(argc == 1);
    texts(argv[0]);
    links(argv[0]);
    descriptors();
    environment();
    threads();
    devices();
    return check_result();
}
