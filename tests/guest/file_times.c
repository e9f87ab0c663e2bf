/* Times, inode numbers and sizes of files: they agree with the clock and with each other. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define TICK_NS 100000000 /* a kernel's files may be this much behind its clock */

static int64_t ns(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return ns(t);
}

static struct stat status(const char *path)
{
    struct stat st;
    memset(&st, 0, sizeof st);
    CHECK(lstat(path, &st) == 0);
    return st;
}

static int is_now(struct timespec t, int64_t before)
{
    return ns(t) >= before - TICK_NS && ns(t) <= now();
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 2 * TICK_NS}, NULL);
}

static void put(const char *path, int flags)
{
    int fd = open(path, flags | O_WRONLY, 0644);
    CHECK(fd >= 0 && write(fd, "text", 4) == 4 && close(fd) == 0);
}

static void changes(void)
{
    int64_t before = now();
    put("file", O_CREAT);
    struct stat st = status("file"), folder = status(".");
    CHECK(is_now(st.st_mtim, before) && is_now(st.st_ctim, before) && is_now(st.st_atim, before));
    CHECK(is_now(folder.st_mtim, before));
    nap();
    before = now();
    put("file", O_APPEND);
    CHECK(is_now(status("file").st_mtim, before) && ns(status(".").st_mtim) == ns(folder.st_mtim));
    nap();
    before = now();
    struct stat old = status("file");
    CHECK(chmod("file", 0600) == 0 && ns(status("file").st_mtim) == ns(old.st_mtim) &&
          is_now(status("file").st_ctim, before));
    CHECK(mkdir("folder", 0755) == 0 && is_now(status("folder").st_mtim, before) &&
          is_now(status(".").st_mtim, before));
    nap();
    before = now();
    CHECK(truncate("file", 1) == 0 && is_now(status("file").st_mtim, before));
    put("folder/inner", O_CREAT);
    CHECK(is_now(status("folder").st_mtim, before));
    nap();
    before = now();
    CHECK(unlink("folder/inner") == 0 && is_now(status("folder").st_mtim, before));
}

static void set_by_the_program(void)
{
    struct timespec times[2] = {{1000, 1}, {2000, 2}};
    int64_t before = now();
    CHECK(utimensat(AT_FDCWD, "file", times, 0) == 0);
    struct stat st = status("file");
    CHECK(ns(st.st_atim) == ns(times[0]) && ns(st.st_mtim) == ns(times[1]) && is_now(st.st_ctim, before));
    times[0].tv_nsec = UTIME_NOW;
    times[1].tv_nsec = UTIME_OMIT;
    CHECK(utimensat(AT_FDCWD, "file", times, 0) == 0);
    st = status("file");
    CHECK(is_now(st.st_atim, before) && st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 2);
    int fd = open("file", O_RDONLY);
    CHECK(futimens(fd, NULL) == 0 && is_now(status("file").st_mtim, before) && close(fd) == 0);
}

static void nothing_is_of_the_future(void)
{
    static const char *const paths[] = {"/", "/etc", "/proc/self/exe", "/proc/self/maps", "/dev/null", "."};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct stat st;
        CHECK(stat(paths[i], &st) == 0 && ns(st.st_mtim) <= now() && ns(st.st_ctim) <= now() &&
              ns(st.st_atim) <= now());
    }
}

static void numbers(void)
{
    struct stat a, b;
    struct statx sx;
    put("other", O_CREAT);
    CHECK(link("file", "same") == 0);
    a = status("file");
    CHECK(status("same").st_ino == a.st_ino && status("same").st_dev == a.st_dev && status("same").st_nlink == 2);
    CHECK(status("other").st_ino != a.st_ino && a.st_ino != 0);
    int fd = open("same", O_RDONLY);
    CHECK(fstat(fd, &b) == 0 && b.st_ino == a.st_ino && ns(b.st_mtim) == ns(a.st_mtim) && close(fd) == 0);
    CHECK(statx(AT_FDCWD, "same", 0, STATX_BASIC_STATS, &sx) == 0 && sx.stx_ino == a.st_ino && sx.stx_size == 1);
    CHECK(rename("same", "moved") == 0 && status("moved").st_ino == a.st_ino);
    DIR *folder = opendir(".");
    int seen = 0;
    for (struct dirent *d; (d = readdir(folder)) != NULL;)
        if (strcmp(d->d_name, "..") != 0)
            seen += status(d->d_name).st_ino == d->d_ino ? 1 : 100;
    CHECK(seen == 5 && closedir(folder) == 0); /* . file folder moved other */
    struct statfs fs;
    CHECK(statfs(".", &fs) == 0 && fs.f_bsize > 0 && fs.f_bavail <= fs.f_blocks && fs.f_namelen >= 255);
}

int main(void)
{
    changes();
    set_by_the_program();
    nothing_is_of_the_future();
    numbers();
    return check_result();
}
