/* Listing folders: sorted by name, positions, rewinding, small buffers. */
/* not for qemu: the order of names is the host's there */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { COUNT = 300 };

static void sorted(DIR *d)
{
    char last[256] = "";
    int count = 0;
    struct dirent *e;
    while ((e = readdir(d)) != NULL) {
        if (count < 2) {
            CHECK(strcmp(e->d_name, count == 0 ? "." : "..") == 0 && e->d_type == DT_DIR);
        } else {
            CHECK(strcmp(last, e->d_name) < 0);
            CHECK(e->d_type == (e->d_name[0] == 'd' ? DT_DIR : DT_REG) && e->d_ino != 0);
            strcpy(last, e->d_name);
        }
        count++;
    }
    CHECK(count == COUNT + 3);
}

static void positions(DIR *d)
{
    rewinddir(d);
    for (int i = 0; i < 100; i++)
        readdir(d);
    long at = telldir(d);
    char name[256];
    strcpy(name, readdir(d)->d_name);
    readdir(d);
    seekdir(d, at);
    CHECK(strcmp(readdir(d)->d_name, name) == 0);
    rewinddir(d);
    CHECK(strcmp(readdir(d)->d_name, ".") == 0);
    CHECK(mknod("f999", S_IFREG | 0600, 0) == 0);
    rewinddir(d);
    int found = 0;
    struct dirent *e;
    while ((e = readdir(d)) != NULL)
        found |= strcmp(e->d_name, "f999") == 0;
    CHECK(found && unlink("f999") == 0);
}

static void raw(void)
{
    char buffer[64];
    int fd = open(".", O_RDONLY | O_DIRECTORY), total = 0;
    long n;
    CHECK(syscall(SYS_getdents64, fd, buffer, 10) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_getdents64, fd, 1, sizeof buffer) == -1 && errno == EFAULT);
    while ((n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        total += (int)(n / 24);
    CHECK(n == 0 && total == COUNT + 3);
    int copy = dup(fd);
    CHECK(syscall(SYS_getdents64, copy, buffer, sizeof buffer) == 0 && lseek(copy, 0, SEEK_SET) == 0);
    CHECK(syscall(SYS_getdents64, fd, buffer, sizeof buffer) == 48);
    CHECK(syscall(SYS_getdents64, copy, buffer, sizeof buffer) == 48 && memcmp(buffer + 19, "f000", 5) != 0);
    close(copy);
    close(fd);
    fd = open("f000", O_RDONLY);
    CHECK(syscall(SYS_getdents64, fd, buffer, sizeof buffer) == -1 && errno == ENOTDIR);
    close(fd);
    CHECK(syscall(SYS_getdents64, 77, buffer, sizeof buffer) == -1 && errno == EBADF);
}

int main(void)
{
    char folder[] = "folders-XXXXXX", name[16];
    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "f%03d", i * 7 % COUNT);
        CHECK(mknod(name, S_IFREG | 0600, 0) == 0);
    }
    CHECK(mkdir("dir", 0700) == 0);
    DIR *d = opendir(".");
    CHECK(d != NULL);
    sorted(d);
    positions(d);
    closedir(d);
    raw();
    return check_result();
}
