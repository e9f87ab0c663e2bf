/* The filter of copied processes: what a copy needs passes, and what acts outside of it does not. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/process_copy_priv.h"

#define REFUSED(call) ((call) == -1 && errno == EPERM ? 0 : __LINE__)
#define PASSES(call)  ((call) >= 0 ? 0 : __LINE__)

/* Returns 0, or the line of the first expectation that fails. */
static int acts(void)
{
    int file = open("/dev/null", O_WRONLY | O_CLOEXEC), high = fcntl(file, F_DUPFD_CLOEXEC, FD_PRIVATE);
    int memory = memfd_create("test", MFD_CLOEXEC), pair[2];
    if (high < FD_PRIVATE || memory < 0)
        return __LINE__;
    if (!copy_filter_install())
        return -1; /* this kernel has no filters */
    const int results[] = {
        PASSES(open("/dev/null", O_RDONLY)),
        PASSES(write(memory, "x", 1)),
        PASSES(ftruncate(memory, 0)),
        PASSES(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)),
        PASSES(memfd_create("other", 0)),
        PASSES(fchmod(memory, 0444)),
        REFUSED(fchmod(memory, 0644)),
        REFUSED(open("/dev/null", O_WRONLY)),
        REFUSED(open("filter-test", O_RDONLY | O_CREAT, 0600)),
        REFUSED(write(high, "x", 1)),
        REFUSED(unlink("filter-test")),
        REFUSED(mkdir("filter-test", 0700)),
        REFUSED(chmod("/dev/null", 0666)),
        REFUSED(truncate("filter-test", 0)),
        REFUSED(flock(memory, LOCK_EX)),
        REFUSED(fcntl(memory, F_SETLK, &(struct flock){.l_type = F_WRLCK})),
        REFUSED(socket(AF_INET, SOCK_STREAM, 0)),
        REFUSED(connect(pair[0], &(struct sockaddr){.sa_family = AF_UNIX}, sizeof(struct sockaddr))),
        REFUSED(setsid()),
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i])
            return results[i];
    return 0;
}

static void test_what_a_copy_needs_passes_and_nothing_else(void **state)
{
    (void)state;
    int result[2], got = 0, status;
    assert_int_equal(pipe(result), 0);
    pid_t child = fork();
    if (child == 0) {
        int line = acts();
        _exit(write(result[1], &line, sizeof line) != sizeof line);
    }
    assert_true(waitpid(child, &status, 0) == child && status == 0);
    assert_int_equal(read(result[0], &got, sizeof got), sizeof got);
    close(result[0]);
    close(result[1]);
    if (got == -1)
        skip();
    assert_int_equal(got, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_a_copy_needs_passes_and_nothing_else)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
