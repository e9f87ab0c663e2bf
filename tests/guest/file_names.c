/* Names: opening, links, renaming, removing, access, modes, times, and the working folder. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "check.h"

static struct stat st;

static void make(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0 && write(fd, name, strlen(name)) == (ssize_t)strlen(name));
    close(fd);
}

static void opening(void)
{
    make("file");
    CHECK(open("none", O_RDONLY) == -1 && errno == ENOENT);
    CHECK(open("", O_RDONLY) == -1 && errno == ENOENT);
    CHECK(open("file", O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
    CHECK(open("file/x", O_RDONLY) == -1 && errno == ENOTDIR);
    CHECK(open("file/", O_RDONLY) == -1 && errno == ENOTDIR);
    CHECK(open("new/", O_CREAT | O_WRONLY, 0600) == -1 && errno == EISDIR);
    CHECK(open(".", O_WRONLY) == -1 && errno == EISDIR);
    CHECK(open("file", O_RDONLY | O_DIRECTORY) == -1 && errno == ENOTDIR);
    CHECK(open((char *)1, O_RDONLY) == -1 && errno == EFAULT);
    char longest[PATH_MAX + 10];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    CHECK(open(longest, O_RDONLY) == -1 && errno == ENAMETOOLONG);
    longest[NAME_MAX + 1] = '\0';
    CHECK(open(longest, O_RDONLY) == -1 && errno == ENAMETOOLONG);
    CHECK(syscall(SYS_openat, 77, "file", O_RDONLY) == -1 && errno == EBADF);
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink == 0 && S_ISREG(st.st_mode));
    close(fd);
}

static void links(void)
{
    char text[64];
    CHECK(symlink("file", "link") == 0);
    CHECK(readlink("link", text, sizeof text) == 4 && memcmp(text, "file", 4) == 0);
    CHECK(readlink("link", text, 2) == 2);
    CHECK(readlink("file", text, sizeof text) == -1 && errno == EINVAL);
    CHECK(open("link", O_RDONLY | O_NOFOLLOW) == -1 && errno == ELOOP);
    CHECK(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(stat("link", &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 4);
    CHECK(symlink("loop", "loop") == 0);
    CHECK(stat("loop", &st) == -1 && errno == ELOOP);
    CHECK(symlink("newfile", "dangling") == 0);
    int fd = open("dangling", O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0 && stat("newfile", &st) == 0);
    close(fd);
    CHECK(open("dangling", O_CREAT | O_EXCL | O_WRONLY, 0600) == -1 && errno == EEXIST);
    CHECK(link("file", "hard") == 0 && stat("hard", &st) == 0 && st.st_nlink == 2);
    CHECK(link("file", "hard") == -1 && errno == EEXIST);
    CHECK(linkat(AT_FDCWD, "link", AT_FDCWD, "hardlink", 0) == 0 && lstat("hardlink", &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(symlink("x", "file") == -1 && errno == EEXIST);
    fd = open("link", O_PATH | O_NOFOLLOW);
    CHECK(fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(readlinkat(fd, "", text, sizeof text) == 4);
    close(fd);
}

static void folders(void)
{
    char path[PATH_MAX], start[PATH_MAX];
    CHECK(getcwd(start, sizeof start) != NULL);
    CHECK(mkdir("dir", 0755) == 0 && mkdir("dir", 0755) == -1 && errno == EEXIST);
    CHECK(mkdir("dir/sub/", 0755) == 0);
    CHECK(mkdir("none/sub", 0755) == -1 && errno == ENOENT);
    CHECK(symlink("dir/sub", "tosub") == 0);
    CHECK(stat("tosub/../../file", &st) == 0);
    CHECK(stat("tosub/../file", &st) == -1 && errno == ENOENT);
    CHECK(lstat("tosub", &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat("tosub/", &st) == 0 && S_ISDIR(st.st_mode));
    CHECK(chdir("tosub") == 0 && getcwd(path, sizeof path) != NULL);
    CHECK(strncmp(path, start, strlen(start)) == 0 && strcmp(path + strlen(start), "/dir/sub") == 0);
    CHECK(stat("../../file", &st) == 0 && chdir("../..") == 0);
    CHECK(chdir("file") == -1 && errno == ENOTDIR);
    CHECK(chdir("none") == -1 && errno == ENOENT);
    CHECK(syscall(SYS_getcwd, path, 2) == -1 && errno == ERANGE);
    int fd = open("dir", O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0 && fstatat(fd, "sub", &st, 0) == 0 && fstatat(fd, "../file", &st, 0) == 0);
    CHECK(fchdir(fd) == 0 && stat("sub", &st) == 0 && fchdir(77) == -1 && errno == EBADF);
    CHECK(chdir(start) == 0);
    CHECK(rename("dir", "moved") == 0 && fstatat(fd, "sub", &st, 0) == 0 && fstatat(fd, "..", &st, 0) == 0);
    CHECK(rename("moved", "dir") == 0);
    close(fd);
    CHECK(rmdir("dir") == -1 && errno == ENOTEMPTY);
    CHECK(unlink("dir") == -1 && errno == EISDIR);
    CHECK(rmdir("file") == -1 && errno == ENOTDIR);
    CHECK(rmdir("dir/sub/") == 0 && rmdir("dir") == 0 && rmdir("dir") == -1 && errno == ENOENT);
    CHECK(unlink("tosub") == 0);
    CHECK(stat("/", &st) == 0 && S_ISDIR(st.st_mode) && stat("/../..", &st) == 0);
}

static void renaming(void)
{
    make("a");
    make("b");
    CHECK(rename("a", "b") == 0 && stat("a", &st) == -1 && errno == ENOENT);
    make("a");
    CHECK(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE) == -1 && errno == EEXIST);
    CHECK(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE) == 0 && stat("a", &st) == 0);
    CHECK(unlink("a") == 0 && unlink("b") == 0 && unlink("b") == -1 && errno == ENOENT);
    CHECK(unlink("link/") == -1 && errno == ENOTDIR);
    CHECK(rename("none", "x") == -1 && errno == ENOENT);
}

static void attributes(void)
{
    struct timespec times[2] = {{1000, 5}, {2000, 7}};
    struct statfs fs;
    struct statx sx;
    CHECK(chmod("file", 0600) == 0 && stat("file", &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(chmod("link", 0640) == 0 && stat("file", &st) == 0 && (st.st_mode & 0777) == 0640);
    int fd = open("file", O_RDONLY);
    CHECK(fchmod(fd, 0644) == 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0644);
    CHECK(chown("file", (uid_t)-1, (gid_t)-1) == 0 && fchown(fd, getuid(), getgid()) == 0);
    CHECK(utimensat(AT_FDCWD, "file", times, 0) == 0 && stat("file", &st) == 0 && st.st_atime == 1000);
    CHECK(st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 7);
    CHECK(futimens(fd, NULL) == 0 && fstat(fd, &st) == 0 && st.st_mtime > 2000);
    CHECK(st.st_uid == getuid() && st.st_nlink == 2 && st.st_blksize > 0 && st.st_ino != 0);
    CHECK(statx(fd, "", AT_EMPTY_PATH, STATX_ALL, &sx) == 0 && sx.stx_ino == st.st_ino && sx.stx_size == 4);
    CHECK(statx(AT_FDCWD, "link", AT_SYMLINK_NOFOLLOW, STATX_ALL, &sx) == 0 && S_ISLNK(sx.stx_mode));
    CHECK(fstatat(fd, "", &st, AT_EMPTY_PATH) == 0 && st.st_size == 4);
    CHECK(fstatat(fd, "x", &st, 0) == -1 && errno == ENOTDIR);
    CHECK(fstatat(AT_FDCWD, "file", &st, 0x40000000) == -1 && errno == EINVAL);
    CHECK(statfs("file", &fs) == 0 && fs.f_bsize > 0 && fstatfs(fd, &fs) == 0 && fs.f_namelen > 0);
    close(fd);
    CHECK(access("file", R_OK | W_OK) == 0 && access("none", F_OK) == -1 && errno == ENOENT);
    CHECK(access("file", 8) == -1 && errno == EINVAL);
    CHECK(faccessat(AT_FDCWD, "link", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

static void masks(void)
{
    mode_t old = umask(027);
    CHECK(umask(027) == 027);
    make("masked");
    CHECK(stat("masked", &st) == 0 && (st.st_mode & 0777) == 0640);
    CHECK(mkdir("maskdir", 0777) == 0 && stat("maskdir", &st) == 0 && (st.st_mode & 0777) == 0750);
    umask(old);
    CHECK(mkfifo("fifo", 0600) == 0 && stat("fifo", &st) == 0 && S_ISFIFO(st.st_mode));
    CHECK(mknod("plain", S_IFREG | 0600, 0) == 0 && stat("plain", &st) == 0 && S_ISREG(st.st_mode));
}

int main(void)
{
    char folder[] = "names-XXXXXX";
    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
    opening();
    links();
    folders();
    renaming();
    attributes();
    masks();
    return check_result();
}
