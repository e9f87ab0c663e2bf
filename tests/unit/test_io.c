/* Reading and writing in one piece, though the kernel does less at a time and signals interrupt it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"

enum { BYTES = 400000 }; /* more than a pipe takes at once */

static volatile sig_atomic_t alarms;

static void count_alarm(int number)
{
    (void)number;
    alarms++;
}

/* Interrupts every system call that waits. */
static void set_alarms(unsigned microseconds)
{
    struct sigaction action = {.sa_handler = count_alarm};
    struct itimerval every = {{0, microseconds}, {0, microseconds}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

static void whole_through_a_pipe_and_interrupts(void **state)
{
    static uint8_t sent[BYTES], got[BYTES];
    int ends[2], status;
    (void)state;
    for (unsigned i = 0; i < BYTES; i++)
        sent[i] = (uint8_t)(i * 7 + i / 1000);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        set_alarms(500);
        usleep(3000); /* the reader waits, too */
        int code = io_write(ends[1], sent, BYTES / 2);
        usleep(3000);
        _exit(code || io_write(ends[1], sent + BYTES / 2, BYTES - BYTES / 2) != 0);
    }
    close(ends[1]);
    alarms = 0;
    set_alarms(700);
    bool whole = io_read_exactly(ends[0], got, BYTES - 10);
    ssize_t rest = io_read(ends[0], got + BYTES - 10, 100);
    bool more = io_read_exactly(ends[0], got, 1);
    set_alarms(0);
    assert_true(whole);
    assert_int_equal(rest, 10);
    assert_false(more);
    assert_memory_equal(sent, got, BYTES);
    assert_true(alarms > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(ends[0]);
}

static void at_an_offset_and_at_the_end(void **state)
{
    char got[8] = "";
    FILE *file = tmpfile();
    int fd = fileno(file);
    (void)state;
    assert_int_equal(io_write(fd, "0123456789", 10), 0);
    assert_int_equal(io_pread(fd, got, 4, 3), 4);
    assert_string_equal(got, "3456");
    assert_int_equal(io_pread(fd, got, 4, 8), 2);
    assert_int_equal(io_pread(fd, got, 4, 10), 0);
    assert_int_equal(io_pread(fd, got, 4, UINT64_MAX), -EINVAL);
    assert_true(io_pread_exactly(fd, got, 4, 6));
    assert_false(io_pread_exactly(fd, got, 4, 7));
    assert_true(io_pread_exactly(fd, got, 0, 99));
    fclose(file);
}

static void errors_are_reported(void **state)
{
    char byte = 0;
    (void)state;
    assert_int_equal(io_read(-1, &byte, 1), -EBADF);
    assert_int_equal(io_pread(-1, &byte, 1, 0), -EBADF);
    assert_int_equal(io_write(-1, &byte, 1), -EBADF);
    int full = open("/dev/full", O_WRONLY);
    if (full >= 0) {
        assert_int_equal(io_write(full, &byte, 1), -ENOSPC);
        close(full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_through_a_pipe_and_interrupts),
        cmocka_unit_test(at_an_offset_and_at_the_end),
        cmocka_unit_test(errors_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
