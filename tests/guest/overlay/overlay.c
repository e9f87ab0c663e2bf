/* What can be done with files, in the folder /data of a sysroot. tests/cli/test_overlay.py makes the folder and expects
 * it unchanged afterwards. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char *text_of(const char *path)
{
    static char buffer[256];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, buffer, sizeof buffer - 1);
    if (fd >= 0)
        close(fd);
    buffer[n > 0 ? n : 0] = '\0';
    return n < 0 ? "(none)" : buffer;
}

static bool has(const char *path, const char *text)
{
    return strcmp(text_of(path), text) == 0;
}

/* The names in a folder, without dots, each with a slash behind it. */
static const char *names(const char *path)
{
    static char all[1024];
    all[0] = '\0';
    DIR *folder = opendir(path);
    for (struct dirent *d; folder && (d = readdir(folder)) != NULL;)
        if (d->d_name[0] != '.')
            strcat(strcat(all, d->d_name), "/");
    if (folder)
        closedir(folder);
    return folder ? all : "(none)";
}

static bool lists(const char *path, const char *expected)
{
    return strcmp(names(path), expected) == 0;
}

static int put(const char *path, int flags, const char *text)
{
    int fd = open(path, flags | O_WRONLY, 0644);
    if (fd < 0)
        return -1;
    bool whole = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    return close(fd) == 0 && whole ? 0 : -1;
}

static void contents(bool by_mode)
{
    struct stat st;
    CHECK(has("/data/one", "first\n") && lists("/data", "deep/link/locked/one/two/"));
    CHECK(access("/data/one", R_OK | W_OK) == 0);
    if (by_mode) { /* without an overlay, root may write to all files */
        CHECK(access("/data/locked", W_OK) == -1 && errno == EACCES);
        CHECK(put("/data/locked", 0, "x") == -1 && errno == EACCES);
    }
    CHECK(put("/data/one", O_APPEND, "more\n") == 0 && has("/data/one", "first\nmore\n"));
    CHECK(stat("/data/one", &st) == 0 && st.st_size == 11);
    CHECK(put("/data/two", O_TRUNC, "2") == 0 && has("/data/two", "2"));
    CHECK(truncate("/data/two", 0) == 0 && has("/data/two", ""));
    CHECK(put("/data/link", O_TRUNC, "through") == 0 && has("/data/one", "through"));
    CHECK(open("/data/one", O_CREAT | O_EXCL | O_WRONLY, 0600) == -1 && errno == EEXIST);
    CHECK(put("/data/new", O_CREAT | O_EXCL, "new") == 0 && has("/data/new", "new"));
    CHECK(lists("/data", "deep/link/locked/new/one/two/"));
    int fd = open("/data/new", O_RDWR);
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED);
    map[0] = 'N';
    CHECK(has("/data/new", "New") && munmap(map, 4096) == 0 && close(fd) == 0);
}

static void attributes(void)
{
    struct stat st;
    struct timespec times[2] = {{100, 0}, {200, 5}};
    CHECK(chmod("/data/deep/down/leaf", 0600) == 0 && stat("/data/deep/down/leaf", &st) == 0);
    CHECK((st.st_mode & 0777) == 0600 && has("/data/deep/down/leaf", "leaf\n"));
    CHECK(utimensat(AT_FDCWD, "/data/deep/other", times, 0) == 0 && stat("/data/deep/other", &st) == 0);
    CHECK(st.st_mtim.tv_sec == 200 && st.st_mtim.tv_nsec == 5 && has("/data/deep/other", "other\n"));
    int fd = open("/data/deep/third", O_RDONLY);
    CHECK(fchmod(fd, 0640) == 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0640);
    CHECK(stat("/data/deep/third", &st) == 0 && (st.st_mode & 0777) == 0640 && close(fd) == 0);
}

static void removal(void)
{
    struct stat st;
    CHECK(unlink("/data/two") == 0 && stat("/data/two", &st) == -1 && errno == ENOENT);
    CHECK(unlink("/data/two") == -1 && errno == ENOENT && lists("/data", "deep/link/locked/new/one/"));
    CHECK(put("/data/two", O_CREAT, "again") == 0 && has("/data/two", "again") && unlink("/data/two") == 0);
    CHECK(rmdir("/data/deep") == -1 && errno == ENOTEMPTY && unlink("/data/deep") == -1 && errno == EISDIR);
    CHECK(rmdir("/data/one") == -1 && errno == ENOTDIR);
    CHECK(unlink("/data/deep/down/leaf") == 0 && rmdir("/data/deep/down") == 0);
    CHECK(lists("/data/deep", "other/third/") && lists("/data/deep/down", "(none)"));
    CHECK(mkdir("/data/deep/down", 0755) == 0 && lists("/data/deep/down", ""));
    CHECK(mkdir("/data/deep/down", 0755) == -1 && errno == EEXIST && mkdir("/data/deep", 0755) == -1 &&
          errno == EEXIST);
}

static void renaming(void)
{
    struct stat a, b;
    CHECK(rename("/data/one", "/data/uno") == 0 && has("/data/uno", "through") && has("/data/one", "(none)"));
    CHECK(rename("/data/new", "/data/uno") == 0 && has("/data/uno", "New") && has("/data/new", "(none)"));
    CHECK(rename("/data/deep", "/data/flat") == 0 && has("/data/flat/other", "other\n") &&
          has("/data/deep/other", "(none)"));
    CHECK(lists("/data", "flat/link/locked/uno/") && lists("/data/flat", "down/other/third/"));
    CHECK(mkdir("/data/deep", 0755) == 0 && lists("/data/deep", ""));
    CHECK(rename("/data/flat", "/data/deep") == 0 && lists("/data/deep", "down/other/third/"));
    CHECK(rename("/data/deep", "/data/deep/down/in") == -1 && errno == EINVAL);
    CHECK(link("/data/deep/other", "/data/same") == 0 && stat("/data/same", &a) == 0 &&
          stat("/data/deep/other", &b) == 0);
    CHECK(a.st_ino == b.st_ino && a.st_nlink == 2 && put("/data/same", O_APPEND, "!") == 0 &&
          has("/data/deep/other", "other\n!"));
    CHECK(symlink("deep/third", "/data/soft") == 0 && has("/data/soft", "third\n"));
}

static void processes(const char *self)
{
    int status;
    if (fork() == 0) {
        put("/data/child", O_CREAT, "child");
        _exit(unlink("/data/soft") == 0 ? 0 : 1);
    }
    CHECK(wait(&status) > 0 && status == 0 && has("/data/child", "child") && has("/data/soft", "(none)"));
    int from = open(self, O_RDONLY), to = open("/data/program", O_CREAT | O_WRONLY, 0755);
    char buffer[4096];
    for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;)
        CHECK(write(to, buffer, n) == n);
    CHECK(close(to) == 0 && close(from) == 0);
    if (fork() == 0) {
        execl("/data/program", "program", "again", NULL);
        _exit(1);
    }
    CHECK(wait(&status) > 0 && WEXITSTATUS(status) == 7);
}

static void relative(void)
{
    char path[256];
    int folder = open("/data", O_RDONLY | O_DIRECTORY);
    int fd = openat(folder, "from", O_CREAT | O_WRONLY, 0644);
    CHECK(fd >= 0 && close(fd) == 0 && has("/data/from", "") && renameat(folder, "from", folder, "to") == 0);
    CHECK(chdir("/data/deep") == 0 && put("made", O_CREAT, "m") == 0 && has("/data/deep/made", "m"));
    CHECK(mkdir("sub", 0755) == 0 && chdir("sub") == 0 && getcwd(path, sizeof path) && !strcmp(path, "/data/deep/sub"));
    CHECK(has("../made", "m") && chdir("..") == 0 && rmdir("sub") == 0 && unlink("made") == 0);
    CHECK(put("/etc/cyclescope-made", O_CREAT, "x") == 0 && has("/etc/cyclescope-made", "x"));
    close(folder);
}

int main(int argc, char **argv)
{
    char self[256] = "";
    if (argc > 1 && strcmp(argv[1], "again") == 0)
        return 7;
    readlink("/proc/self/exe", self, sizeof self - 1);
    contents(argc == 1);
    attributes();
    removal();
    renaming();
    processes(self);
    relative();
    puts(names("/data"));
    return check_result();
}
