/* Output files: an existing file stays until the new one is complete, whatever fails. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/output_file.h"

/* ---- file systems that cannot do everything: this open() takes the place of the C library's */

static struct {
    bool nameless; /* refuse O_TMPFILE */
    bool creating; /* refuse new files */
} refuse;

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    if ((nameless && (refuse.nameless || refuse.creating)) || ((flags & O_CREAT) && refuse.creating)) {
        errno = nameless ? EOPNOTSUPP : EACCES;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* ---- a folder for each test, which is the working folder */

static char folder[64];
static struct error err;

static int enter(void **state)
{
    (void)state;
    refuse.nameless = refuse.creating = false;
    strcpy(folder, "/tmp/output_file.XXXXXX");
    umask(022);
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int enter_without_nameless(void **state)
{
    int code = enter(state);
    refuse.nameless = true;
    return code;
}

static int leave(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove(e->d_name);
    closedir(d);
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static unsigned files_here(void)
{
    unsigned count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

static void put(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

static void has(const char *path, const char *text)
{
    char found[256] = "";
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    found[fread(found, 1, sizeof found - 1, from)] = '\0';
    fclose(from);
    assert_string_equal(found, text);
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void begin(struct output_file *f, const char *path)
{
    if (output_file_open(f, "--json", path, stdout, 0, &err) != 0)
        fail_msg("%s", err.text);
}

static void write_whole(const char *path, const char *text)
{
    struct output_file f;
    begin(&f, path);
    fputs(text, f.to);
    assert_int_equal(output_file_close(&f, &err), 0);
    assert_null(f.to);
}

/* ---- files */

static void new_file_appears_when_it_is_closed(void **state)
{
    struct output_file f;
    (void)state;
    umask(027);
    begin(&f, "a.json");
    fputs("new", f.to);
    fflush(f.to);
    assert_int_not_equal(access("a.json", F_OK), 0);
    assert_int_equal(output_file_close(&f, &err), 0);
    has("a.json", "new");
    assert_int_equal(mode_of("a.json"), 0640);
    assert_int_equal(files_here(), 1);
}

static void old_file_stays_until_then_and_keeps_its_mode(void **state)
{
    struct output_file f;
    (void)state;
    put("a.json", "old");
    chmod("a.json", 0604);
    begin(&f, "a.json");
    fputs("new", f.to);
    fflush(f.to);
    has("a.json", "old");
    assert_int_equal(output_file_close(&f, &err), 0);
    has("a.json", "new");
    assert_int_equal(mode_of("a.json"), 0604);
    assert_int_equal(files_here(), 1);
}

static void abort_leaves_the_old_file_alone(void **state)
{
    struct output_file f;
    (void)state;
    put("a.json", "old");
    begin(&f, "a.json");
    fputs("new", f.to);
    output_file_abort(&f);
    output_file_abort(&f);
    assert_int_equal(output_file_close(&f, &err), 0);
    has("a.json", "old");
    assert_int_equal(files_here(), 1);
}

static void working_folder_may_change(void **state)
{
    struct output_file f;
    (void)state;
    begin(&f, "a.json");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(output_file_close(&f, &err), 0);
    assert_int_equal(chdir(folder), 0);
    has("a.json", "");
}

static void two_files_and_the_names_of_temporary_ones(void **state)
{
    struct output_file a, b;
    (void)state;
    put("a.json", "old");
    begin(&a, "a.json");
    begin(&b, "a.json");
    fputs("a", a.to);
    fputs("b", b.to);
    assert_int_equal(output_file_close(&a, &err), 0);
    has("a.json", "a");
    assert_int_equal(output_file_close(&b, &err), 0);
    has("a.json", "b");
    assert_int_equal(files_here(), 1);
}

static void longest_name(void **state)
{
    char name[256];
    (void)state;
    memset(name, 'n', 255);
    name[255] = '\0';
    put(name, "old");
    write_whole(name, "new");
    has(name, "new");
}

static void durable_file(void **state)
{
    struct output_file f;
    (void)state;
    begin(&f, "a.json");
    f.durable = true;
    fputs("new", f.to);
    assert_int_equal(output_file_close(&f, &err), 0);
    has("a.json", "new");
}

static void forked_child_completes_and_removes_nothing(void **state)
{
    struct output_file f;
    (void)state;
    put("a.json", "old");
    begin(&f, "a.json");
    fputs("new", f.to);
    for (int abort = 0; abort < 2; abort++) {
        pid_t pid = fork();
        if (pid == 0) {
            __fpurge(f.to);
            if (abort)
                output_file_abort(&f);
            else if (output_file_close(&f, &err) != 0)
                _exit(1);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        has("a.json", "old");
    }
    assert_int_equal(output_file_close(&f, &err), 0);
    has("a.json", "new");
    assert_int_equal(files_here(), 1);
}

/* ---- links, devices, streams */

static void symbolic_links_stay(void **state)
{
    struct stat st;
    (void)state;
    put("a.json", "old");
    assert_int_equal(symlink("a.json", "link"), 0);
    assert_int_equal(symlink("link", "link2"), 0);
    write_whole("link2", "new");
    has("a.json", "new");
    assert_int_equal(lstat("link2", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("none.json", "to-nothing"), 0);
    write_whole("to-nothing", "made");
    has("none.json", "made");
    assert_int_equal(files_here(), 5);
}

static void circle_of_links(void **state)
{
    struct output_file f;
    (void)state;
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    assert_int_equal(output_file_open(&f, "--json", "a", stdout, 0, &err), -ELOOP);
}

static void standard_output_stays_open(void **state)
{
    struct output_file f;
    (void)state;
    FILE *standard = fopen("standard", "w");
    assert_int_equal(output_file_open(&f, "--json", "-", standard, 0, &err), 0);
    assert_ptr_equal(f.to, standard);
    fputs("one ", f.to);
    assert_int_equal(output_file_close(&f, &err), 0);
    has("standard", "one ");
    assert_true(fputs("two", standard) >= 0);
    fclose(standard);
    has("standard", "one two");
}

static void option_that_is_not_given(void **state)
{
    struct output_file f;
    (void)state;
    assert_int_equal(output_file_open(&f, "--json", NULL, stdout, 0, &err), 0);
    assert_null(f.to);
    assert_int_equal(output_file_close(&f, &err), 0);
    output_file_abort(&f);
}

static void pipe_is_written_directly(void **state)
{
    char got[8] = "";
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    write_whole("pipe", "new");
    assert_int_equal(read(reader, got, sizeof got), 3);
    assert_string_equal(got, "new");
    close(reader);
    assert_int_equal(files_here(), 1);
}

/* `--json /dev/stdout >file` must not replace the file: it is written where standard output stands. */
static void own_descriptor_that_is_a_plain_file(void **state)
{
    char name[32];
    (void)state;
    int fd = open("a.json", O_WRONLY | O_CREAT, 0666);
    assert_int_equal(write(fd, "before ", 7), 7);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    write_whole(name, "middle ");
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    write_whole(name, "end ");
    assert_int_equal(write(fd, "after", 5), 5);
    close(fd);
    has("a.json", "before middle end after");
}

static void lowest_descriptor(void **state)
{
    struct output_file f;
    (void)state;
    assert_int_equal(output_file_open(&f, "--json", "a.json", stdout, 500, &err), 0);
    assert_true(fileno(f.to) >= 500);
    assert_int_equal(output_file_close(&f, &err), 0);
    has("a.json", "");
}

/* ---- failures */

static void paths_that_cannot_be_opened(void **state)
{
    static const struct {
        const char *path;
        int code;
    } rows[] = {{"none/a.json", -ENOENT}, {".", -EISDIR}, {"", -ENOENT}, {"file/a.json", -ENOTDIR}};
    struct output_file f;
    char expected[128];
    (void)state;
    put("file", "old");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(output_file_open(&f, "--json", rows[i].path, stdout, 0, &err), rows[i].code);
        snprintf(expected, sizeof expected, "--json %s: %s", rows[i].path, strerror(-rows[i].code));
        assert_string_equal(err.text, expected);
        assert_null(f.to);
    }
    assert_int_equal(files_here(), 1);
}

static void full_disk_leaves_the_old_file(void **state)
{
    struct output_file f;
    struct rlimit before, limit;
    (void)state;
    put("a.json", "old");
    begin(&f, "a.json");
    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){1000, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (unsigned i = 0; i < 3000; i++)
        fputc('x', f.to);
    int code = output_file_close(&f, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, -EFBIG);
    assert_string_equal(err.text, "--json a.json: File too large");
    has("a.json", "old");
    assert_int_equal(files_here(), 1);
}

static void full_device(void **state)
{
    struct output_file f;
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    begin(&f, "/dev/full");
    fputs("new", f.to);
    assert_int_equal(output_file_close(&f, &err), -ENOSPC);
    assert_string_equal(err.text, "--json /dev/full: No space left on device");
}

static void earlier_error_is_not_forgotten(void **state)
{
    struct output_file f;
    (void)state;
    put("a.json", "old");
    begin(&f, "a.json");
    assert_int_equal(fgetc(f.to), EOF); /* a stream for writing: sets the error flag */
    assert_int_equal(output_file_close(&f, &err), -EIO);
    has("a.json", "old");
    assert_int_equal(files_here(), 1);
}

static void folder_that_disappears(void **state)
{
    struct output_file f;
    (void)state;
    assert_int_equal(mkdir("sub", 0700), 0);
    begin(&f, "sub/a.json");
    fputs("new", f.to);
    if (rename("sub", "gone") != 0)
        fail();
    assert_int_equal(output_file_close(&f, &err), -ENOENT);
    assert_string_equal(err.text, "--json sub/a.json: No such file or directory");
    assert_int_equal(rename("gone", "sub"), 0);
    if (refuse.nameless) /* the temporary file went with the folder */
        assert_int_equal(system("rm sub/.a.json.*"), 0);
    assert_int_equal(rmdir("sub"), 0);
}

static void file_that_may_not_be_written(void **state)
{
    struct output_file f;
    (void)state;
    put("a.json", "old");
    chmod("a.json", 0444);
    uid_t user = geteuid();
    if (user == 0) { /* who may write everything */
        chmod(folder, 0777);
        assert_int_equal(seteuid(65534), 0);
    }
    int code = output_file_open(&f, "--json", "a.json", stdout, 0, &err);
    assert_int_equal(seteuid(user), 0);
    assert_int_equal(code, -EACCES);
    has("a.json", "old");
}

/* A folder in which no file can be created: the file itself is overwritten, and cut to its new length. */
static void existing_file_in_a_closed_folder(void **state)
{
    struct output_file f;
    (void)state;
    put("a.json", "old and long");
    refuse.creating = true;
    begin(&f, "a.json");
    output_file_abort(&f);
    has("a.json", "old and long");
    write_whole("a.json", "new");
    has("a.json", "new");
    assert_int_equal(output_file_open(&f, "--json", "b.json", stdout, 0, &err), -EACCES);
    assert_int_equal(files_here(), 1);
}

/* ---- names */

static void refused(int code, const char *message)
{
    assert_int_equal(code, -EEXIST);
    assert_string_equal(err.text, message);
}

static void outputs_with_one_name(void **state)
{
    struct output_names n = {0};
    (void)state;
    assert_int_equal(symlink("a.json", "link"), 0);
    assert_int_equal(output_names_add(&n, "--json", "a.json", &err), 0);
    assert_int_equal(output_names_add(&n, "--svg", NULL, &err), 0);
    assert_int_equal(output_names_add(&n, "--csv", "b.csv", &err), 0);
    refused(output_names_add(&n, "--csv", "./a.json", &err),
            "--csv ./a.json: --json writes the same file: give each its own");
    refused(output_names_add(&n, "--csv", "link", &err), "--csv link: --json writes the same file: give each its own");
    for (unsigned twice = 0; twice < 2; twice++) {
        assert_int_equal(output_names_add(&n, "--csv", "-", &err), 0);
        assert_int_equal(output_names_add(&n, "--csv", "/dev/null", &err), 0);
        assert_int_equal(output_names_add(&n, "--csv", "none/a.json", &err), 0); /* opening it fails */
    }
    output_names_free(&n);
}

static void output_that_is_an_input(void **state)
{
    struct output_names n = {0};
    (void)state;
    put("program", "code");
    assert_int_equal(link("program", "same"), 0);
    output_names_add_input(&n, "the program", "./program");
    output_names_add_input(&n, "--core", "no-such-file");
    output_names_add_input(&n, "--restore", NULL);
    refused(output_names_add(&n, "--json", "program", &err),
            "--json program: this is the program ./program: give the name of another file");
    refused(output_names_add(&n, "--json", "same", &err),
            "--json same: this is the program ./program: give the name of another file");
    assert_int_equal(output_names_add(&n, "--json", "no-such-file", &err), 0);
    output_names_free(&n);
}

#define BOTH(test)                                                                                                     \
    {#test, test, enter, leave, NULL},                                                                                 \
    {                                                                                                                  \
#test "_with_temporary_name", test, enter_without_nameless, leave, NULL                                        \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(new_file_appears_when_it_is_closed),
        BOTH(old_file_stays_until_then_and_keeps_its_mode),
        BOTH(abort_leaves_the_old_file_alone),
        BOTH(working_folder_may_change),
        BOTH(two_files_and_the_names_of_temporary_ones),
        BOTH(longest_name),
        BOTH(durable_file),
        BOTH(forked_child_completes_and_removes_nothing),
        BOTH(symbolic_links_stay),
        BOTH(circle_of_links),
        BOTH(standard_output_stays_open),
        BOTH(option_that_is_not_given),
        BOTH(pipe_is_written_directly),
        BOTH(own_descriptor_that_is_a_plain_file),
        BOTH(lowest_descriptor),
        BOTH(paths_that_cannot_be_opened),
        BOTH(full_disk_leaves_the_old_file),
        BOTH(full_device),
        BOTH(earlier_error_is_not_forgotten),
        BOTH(folder_that_disappears),
        BOTH(file_that_may_not_be_written),
        BOTH(existing_file_in_a_closed_folder),
        BOTH(outputs_with_one_name),
        BOTH(output_that_is_an_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
