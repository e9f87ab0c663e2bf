/* Tries to get out of isolation; see ../isolate.sh for the folders. Each attempt is a line `ok NAME` or `not ok NAME:
 * why`.
 *
 * argv[1] is the host folder that holds `secret` (outside), `root` (the sysroot), `shared` (bound) with `inner` (bound
 * read-only) and `readonly` (bound read-only). Standard input is a folder or a file outside; 7 was left open. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *base;

static void report(int good, const char *name, const char *why)
{
    if (good)
        printf("ok %s\n", name);
    else
        printf("not ok %s: %s\n", name, why);
}

static char *format(const char *text, ...)
{
    static char buffers[8][PATH_MAX];
    static unsigned next;
    char *buffer = buffers[next++ % 8];
    va_list args;
    va_start(args, text);
    vsnprintf(buffer, PATH_MAX, text, args);
    va_end(args);
    return buffer;
}

static char *under(const char *name)
{
    return format("%s/%s", base, name);
}

static int is_secret(int fd)
{
    char text[64] = "";
    int hit = fd >= 0 && read(fd, text, sizeof text - 1) > 0 && strstr(text, "SECRET") != NULL;
    if (fd >= 0)
        close(fd);
    return hit;
}

/* ---- reading what is outside */

static void paths(void)
{
    struct stat st;
    const char *to_secret = under("secret/secret.txt");
    const char *list[] = {
        to_secret,
        "/../secret/secret.txt",
        "../../../../../../secret/secret.txt",
        format("/../../../../../../../../../..%s", to_secret),
        format("//proc/self/root%s", to_secret),
        format("/proc/self/root/../..%s", to_secret),
        format("/proc/%d/root%s", getpid(), to_secret),
        format("/proc/thread-self/root%s", to_secret),
        format("/proc/1/root%s", to_secret),
        format("/proc/self/cwd/../../../../../..%s", to_secret),
        "/proc/self/fd/0/secret.txt",
        "/proc/self/fd/0/../secret/secret.txt",
        "/dev/stdin/secret.txt",
        "/dev/fd/7/secret.txt",
        "/proc/self/task/../root/../secret/secret.txt",
        "/absolute",
        "/relative",
        "/deep/er/relative",
        "/folder/secret.txt",
        "/up/secret/secret.txt",
        "/up/up/up/secret/secret.txt",
        "/through_proc",
        "/chain",
        under("shared/absolute"),
        under("shared/relative"),
        under("shared/../secret/secret.txt"),
        under("shared/inner/../../secret/secret.txt"),
        under("shared/folder/secret.txt"),
        under("readonly/relative"),
        under("root/../secret/secret.txt"),
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        int found = is_secret(open(list[i], O_RDONLY)) || stat(list[i], &st) == 0;
        report(!found, format("read %s", strncmp(list[i], base, strlen(base)) ? list[i] : list[i] + strlen(base)),
               "it is there");
    }
}

static void descriptors(void)
{
    struct stat st;
    char buffer[4096];
    report(fcntl(7, F_GETFD) == -1, "an inherited descriptor is closed", "7 is open");
    int private_fds = 0;
    for (int fd = 1000; fd < 1100; fd++)
        private_fds += fcntl(fd, F_GETFD) != -1 || dup(fd) != -1 || openat(fd, "secret", O_RDONLY) != -1 ||
                       fstat(fd, &st) == 0 || close(fd) == 0 || fchdir(fd) == 0 || dup2(0, fd) == fd;
    report(private_fds == 0, "the emulator's descriptors", format("%d calls worked", private_fds));
    report(!is_secret(openat(0, "secret.txt", O_RDONLY)), "openat on standard input", "read it");
    report(!is_secret(openat(0, "../secret/secret.txt", O_RDONLY)), "openat above standard input", "read it");
    report(fstatat(0, "secret.txt", &st, 0) == -1, "fstatat on standard input", "worked");
    report(fchdir(0) == -1, "fchdir to standard input", "worked");
    report(syscall(SYS_getdents64, 0, buffer, sizeof buffer) <= 0, "listing standard input", "worked");
    ssize_t n = readlink("/proc/self/fd/0", buffer, sizeof buffer - 1);
    buffer[n > 0 ? n : 0] = '\0';
    report(strstr(buffer, base) == NULL, "the name of standard input", buffer);
}

static void climbing(void)
{
    char path[PATH_MAX];
    mkdir("/a", 0755);
    mkdir("/a/b", 0755);
    mkdir("/a/b/c", 0755);
    int d = open("/a/b/c", O_RDONLY | O_DIRECTORY);
    report(rename("/a/b/c", "/c") == 0 && !is_secret(openat(d, "../../../secret/secret.txt", O_RDONLY)) &&
               !is_secret(openat(d, "../../secret/secret.txt", O_RDONLY)) &&
               !is_secret(openat(d, "../secret/secret.txt", O_RDONLY)),
           "climbing from a folder that was moved up", "read it");
    report(fchdir(d) == 0 && chdir("../../../..") == 0 && getcwd(path, sizeof path) && strcmp(path, "/") == 0,
           "the working folder stops at the root", path);
    report(chdir("/up") == 0 && getcwd(path, sizeof path) && strcmp(path, "/") == 0, "a link upwards stops at the root",
           path);
    rmdir("/c");
    report(syscall(SYS_chroot, "/a") == -1, "chroot", "worked");
    report(syscall(SYS_open_by_handle_at, AT_FDCWD, path, O_RDONLY) == -1, "open_by_handle_at", "worked");
    close(d);
    /* A folder moved from one mount to another would leave its roots behind. */
    report(rename("/a", under("shared/a")) == -1 && errno == EXDEV, "a rename between mounts", "no EXDEV");
    report(link("/bin/attack", under("shared/attack")) == -1 && errno == EXDEV, "a link between mounts", "no EXDEV");
    chdir("/");
}

/* While a child swaps a folder and a link to the outside, the parent looks through the name. */
static void racing(void)
{
    struct stat st;
    int hits = 0;
    mkdir("/race", 0755);
    mkdir("/race/x", 0755);
    close(open("/race/x/secret.txt", O_CREAT | O_WRONLY, 0644));
    symlink(under("secret"), "/race/y");
    pid_t child = fork();
    if (child == 0) {
        for (;;)
            syscall(SYS_renameat2, AT_FDCWD, "/race/x", AT_FDCWD, "/race/y", 2 /* RENAME_EXCHANGE */);
    }
    for (int i = 0; i < 3000; i++) {
        hits += is_secret(open("/race/x/secret.txt", O_RDONLY));
        hits += stat("/race/x/secret.txt", &st) == 0 && st.st_size > 0;
        int fd = open("/race/x", O_RDONLY | O_DIRECTORY);
        hits += fd >= 0 && is_secret(openat(fd, "secret.txt", O_RDONLY));
        close(fd);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    report(hits == 0, "a race for a link", format("%d hits", hits));
}

static void other_ways(void)
{
    struct stat st;
    struct statfs fs;
    char *const args[] = {"x", NULL};
    report(linkat(AT_FDCWD, "/absolute", AT_FDCWD, "/stolen", AT_SYMLINK_FOLLOW) == -1, "linking the outside in",
           "worked");
    report(execv(under("secret/secret.txt"), args) == -1 && errno == ENOENT, "running the outside", "no ENOENT");
    report(truncate("/absolute", 0) == -1 && chmod("/absolute", 0777) == -1 && chown("/relative", 0, 0) == -1 &&
               utimensat(AT_FDCWD, "/chain", NULL, 0) == -1 && statfs("/absolute", &fs) == -1,
           "changing the outside through a link", "worked");
    report(mknod("/disk", S_IFBLK | 0600, 0x100) == -1 && mknod("/mem", S_IFCHR | 0600, 0x101) == -1, "making a device",
           "worked");
    const char *hidden[] = {"/proc/1/environ", "/proc/kcore", "/proc/self/mem", "/proc/mounts", "/sys/kernel",
                            "/dev/mem",        "/dev/sda",    "/dev/vda",       "/proc/self/ns"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        report(stat(hidden[i], &st) == -1 && errno == ENOENT, format("%s is hidden", hidden[i]), "it is there");
    int pair[2];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/x");
    report(socket(AF_INET, SOCK_STREAM, 0) == -1 && errno == EACCES && socket(AF_UNIX, SOCK_STREAM, 0) == -1,
           "sockets are refused", "worked");
    report(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 &&
               connect(pair[0], (struct sockaddr *)&address, sizeof address) == -1 && errno == EACCES,
           "a pair cannot be connected elsewhere", "no EACCES");
}

/* ---- writing what is read-only */

#define REFUSED(call) report((call) == -1 && errno == EROFS, "read-only: " #call, strerror(errno))

static void readonly_folder(const char *folder)
{
    char text[8];
    report(chdir(folder) == 0, format("reaching %s", folder + strlen(base)), strerror(errno));
    int fd = open("file", O_RDONLY);
    report(fd >= 0 && read(fd, text, 4) == 4, "reading a read-only file", strerror(errno));
    REFUSED(open("file", O_WRONLY));
    REFUSED(open("file", O_RDWR));
    REFUSED(open("file", O_RDONLY | O_TRUNC));
    REFUSED(open("new", O_CREAT | O_WRONLY, 0644));
    REFUSED(open("new", O_CREAT | O_RDONLY, 0644));
    REFUSED(open(".", O_TMPFILE | O_RDWR, 0600));
    REFUSED(open(format("/proc/self/fd/%d", fd), O_RDWR));
    REFUSED(truncate("file", 0));
    REFUSED(mkdir("new", 0755));
    REFUSED(mknod("new", S_IFIFO | 0600, 0));
    REFUSED(symlink("x", "new"));
    REFUSED(link("file", "new"));
    REFUSED(unlink("file"));
    REFUSED(rename("file", "new"));
    REFUSED(rename("file", "/tmp/new"));
    REFUSED(chmod("file", 0777));
    REFUSED(fchmod(fd, 0777));
    REFUSED(fchmodat(AT_FDCWD, format("/proc/self/fd/%d", fd), 0777, 0));
    REFUSED(chown("file", 1, 1));
    REFUSED(fchown(fd, 1, 1));
    REFUSED(utimensat(AT_FDCWD, "file", NULL, 0));
    REFUSED(futimens(fd, NULL));
    REFUSED(access("file", W_OK));
    REFUSED(chmod(".", 0777));
    report(mkdir(".", 0755) == -1 && errno == EEXIST, "read-only: mkdir of what exists", strerror(errno));
    report(open("file", O_CREAT | O_RDONLY, 0644) >= 0, "read-only: O_CREAT of what exists", strerror(errno));
    report(access("file", R_OK) == 0, "read-only: reading is allowed", strerror(errno));
    close(fd);
    chdir("/");
}

static void mount_points(void)
{
    const char *inner = under("shared/inner"), *shared = under("shared");
    report(rename(inner, under("shared/elsewhere")) == -1 && (errno == EBUSY || errno == EROFS),
           "a bound folder cannot be renamed", strerror(errno));
    report(rename(shared, "/elsewhere") == -1 && errno == EBUSY, "nor one that holds a bound folder", strerror(errno));
    report(rmdir(inner) == -1 && (errno == EBUSY || errno == EROFS), "nor removed", strerror(errno));
    report(rmdir("/") == -1 && errno == EBUSY, "nor the root", strerror(errno));
}

/* ---- what must work */

static int listed(const char *folder, const char *name)
{
    DIR *d = opendir(folder);
    int found = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        found += strcmp(e->d_name, name) == 0;
    if (d)
        closedir(d);
    return found;
}

static void allowed(void)
{
    char path[PATH_MAX];
    struct stat st;
    int fd = open("/tmp/new", O_CREAT | O_RDWR, 0600);
    report(fd >= 0 && write(fd, "x", 1) == 1 && unlink("/tmp/new") == 0, "a file in the sysroot", strerror(errno));
    close(fd);
    fd = open(under("shared/made"), O_CREAT | O_WRONLY, 0600);
    report(fd >= 0 && write(fd, "made", 4) == 4, "a file in a bound folder", strerror(errno));
    close(fd);
    report(mkdir(under("shared/dir"), 0755) == 0 && rename(under("shared/dir"), under("shared/dir2")) == 0 &&
               rmdir(under("shared/dir2")) == 0,
           "folders in a bound folder", strerror(errno));
    report(chdir(under("shared")) == 0 && getcwd(path, sizeof path) && strcmp(path, under("shared")) == 0 &&
               stat("inner/file", &st) == 0 && stat("../readonly/file", &st) == 0 && stat("../../..", &st) == 0,
           "paths between bound folders", strerror(errno));
    report(listed(base, "shared") == 1 && listed(base, "readonly") == 1 && listed(base, "secret") == 0,
           "only what is bound is listed", "it is not so");
    report(listed("/", "proc") == 1 && listed("/", "bin") == 1 && listed("/proc", "self") == 1 &&
               listed("/proc/self", "maps") == 1,
           "the root and /proc are listed", "they are not");
    report(chdir(base) == 0 && getcwd(path, sizeof path) && strcmp(path, base) == 0 && stat("shared", &st) == 0 &&
               mkdir("new", 0755) == -1 && errno == EROFS,
           "a folder that only leads to bound ones", strerror(errno));
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    report(n == 11 && memcmp(path, "/bin/attack", 11) == 0, "/proc/self/exe", "wrong");
    fd = open("/dev/null", O_RDWR);
    report(fd >= 0 && write(fd, "x", 1) == 1 && access("/dev/null", W_OK) == 0, "/dev/null", strerror(errno));
    close(fd);
    report(stat("/inside", &st) == 0 && S_ISREG(st.st_mode), "an absolute link inside of the sysroot", strerror(errno));
    chdir("/");
}

/* Standard input is a file outside that was opened for reading. */
static void given_file(void)
{
    char text[64] = "";
    report(pread(0, text, 63, 0) > 0 && strstr(text, "SECRET"), "a file that was given can be read", "it cannot");
    int fd = open("/dev/stdin", O_RDONLY);
    report(is_secret(fd), "and opened again", strerror(errno));
    report(open("/proc/self/fd/0", O_RDWR) == -1 && open("/proc/self/fd/0", O_WRONLY) == -1 &&
               open("/dev/stdin", O_RDONLY | O_TRUNC) == -1,
           "but not for writing", "it can");
    int path_fd = open("/proc/self/fd/0", O_PATH);
    report(open(format("/proc/self/fd/%d", path_fd), O_RDWR) == -1, "nor by way of O_PATH", "it can");
    report(fchmod(0, 0777) == -1 && fchown(0, 1, 1) == -1 && futimens(0, NULL) == -1 &&
               chmod("/proc/self/fd/0", 0777) == -1 && truncate("/proc/self/fd/0", 0) == -1,
           "nor changed", "it can");
    report(linkat(0, "", AT_FDCWD, "/stolen", AT_EMPTY_PATH) == -1 &&
               linkat(AT_FDCWD, "/proc/self/fd/0", AT_FDCWD, "/stolen", AT_SYMLINK_FOLLOW) == -1,
           "nor linked", "it can");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    base = argv[1];
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(argv[2], "file") == 0) {
        given_file();
        return 0;
    }
    paths();
    descriptors();
    climbing();
    racing();
    other_ways();
    readonly_folder(under("readonly"));
    readonly_folder(under("shared/inner"));
    mount_points();
    allowed();
    return 0;
}
