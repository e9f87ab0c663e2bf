/* The family table and host pids that come to belong to other processes. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/family.h"
#include "guest/process_priv.h"

static pid_t start_child(void)
{
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_a_member_is_signaled(void **state)
{
    (void)state;
    struct error err;
    struct family *f = family_new(&err);
    struct member *m = family_add(f, FAMILY_OUTSIDE);
    pid_t child = start_child();
    int status = 0;
    member_set_host(m, child);
    assert_true(member_runs(m));
    assert_int_equal(member_signal(f, m, SIGTERM, NULL, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_false(member_runs(m));
    assert_int_equal(member_signal(f, m, SIGTERM, NULL, NULL), -ESRCH);
    assert_int_equal(m->state, MEMBER_REAPED);
    family_free(f);
}

/* A process that began at another time, with the pid of an orphan that the host's init has waited for. */
static void test_a_stranger_with_a_pid_of_the_family_is_left_alone(void **state)
{
    (void)state;
    struct error err;
    struct family *f = family_new(&err);
    struct member *m = family_add(f, FAMILY_INIT), *other = family_add(f, FAMILY_INIT);
    pid_t first = start_child(), stranger = start_child();
    member_set_host(m, first);
    end_child(first);
    member_set_host(other, stranger);
    while (other->host_start == m->host_start) { /* the host counts starts in ticks */
        end_child(stranger);
        stranger = start_child();
        member_set_host(other, stranger);
    }
    m->host_pid = stranger;
    assert_false(member_runs(m));
    assert_int_equal(member_open(m), -ESRCH);
    assert_int_equal(member_signal(f, m, SIGKILL, NULL, NULL), -ESRCH);
    assert_int_equal(m->state, MEMBER_REAPED);
    assert_int_equal(waitpid(stranger, NULL, WNOHANG), 0);
    assert_true(member_runs(other));
    end_child(stranger);
    family_free(f);
}

/* The end of a run kills members that are left, but no process that has the pid of one that is gone. */
static void test_a_stranger_survives_the_end_of_the_run(void **state)
{
    (void)state;
    struct error err;
    struct family *f = family_new(&err);
    struct member *own = family_add(f, FAMILY_OUTSIDE), *gone = family_add(f, FAMILY_INIT);
    struct member *left = family_add(f, FAMILY_INIT);
    struct process p = {.family = f, .member = own};
    pid_t stranger = start_child(), child = start_child();
    gone->host_pid = stranger;
    gone->host_start = 1; /* the host has no process that started then */
    member_set_host(left, child);
    process_abandon_children(&p);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(waitpid(stranger, NULL, WNOHANG), 0);
    end_child(stranger);
    family_free(f);
}

/* Orphans that were killed do not fill the table. */
static void test_lost_orphans_leave_room(void **state)
{
    (void)state;
    struct error err;
    struct family *f = family_new(&err);
    pid_t child = start_child();
    for (int i = 0; i < FAMILY_SIZE; i++) {
        struct member *m = family_add(f, FAMILY_INIT);
        assert_non_null(m);
        m->host_pid = child;
        m->host_start = 1;
    }
    end_child(child);
    assert_non_null(family_add(f, FAMILY_OUTSIDE));
    family_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_member_is_signaled),
        cmocka_unit_test(test_a_stranger_with_a_pid_of_the_family_is_left_alone),
        cmocka_unit_test(test_a_stranger_survives_the_end_of_the_run),
        cmocka_unit_test(test_lost_orphans_leave_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
