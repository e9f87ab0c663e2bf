/* System V message queues: keys, types, sizes, calls that wait, the end of a queue. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct message {
    long type;
    char text[9000];
};

static int queue;

static int send_text(long type, const char *text, int flags)
{
    struct message m = {.type = type};
    strcpy(m.text, text);
    return msgsnd(queue, &m, strlen(text), flags);
}

/* Receives a message of this type and compares its text. */
static int receives(long type, int flags, long its_type, const char *text)
{
    struct message m = {0};
    ssize_t n = msgrcv(queue, &m, sizeof m.text, type, flags | IPC_NOWAIT);
    return n == (ssize_t)strlen(text) && m.type == its_type && memcmp(m.text, text, strlen(text)) == 0;
}

static int ended_with(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

static void test_keys(void)
{
    int key = 0x5e600000 + getpid();
    CHECK(msgget(key, 0) == -1 && errno == ENOENT);
    int id = msgget(key, IPC_CREAT | IPC_EXCL | 0640);
    CHECK(id >= 0 && msgget(key, 0) == id && msgget(key, IPC_CREAT | IPC_EXCL) == -1 && errno == EEXIST);
    struct msqid_ds status;
    CHECK(msgctl(id, IPC_STAT, &status) == 0 && status.msg_perm.__key == key && status.msg_qnum == 0);
    CHECK((status.msg_perm.mode & 0777) == 0640 && status.msg_qbytes >= 16384);
    status.msg_qbytes = 100;
    CHECK(msgctl(id, IPC_SET, &status) == 0 && msgctl(id, IPC_STAT, &status) == 0 && status.msg_qbytes == 100);
    CHECK(msgctl(id, IPC_RMID, NULL) == 0 && msgget(key, 0) == -1 && errno == ENOENT);
    CHECK(msgctl(id, IPC_STAT, &status) == -1 && errno == EINVAL);
}

static void test_types(void)
{
    struct message m = {.type = 0};
    CHECK(msgsnd(queue, &m, 1, 0) == -1 && errno == EINVAL && send_text(5, "five", 0) == 0);
    CHECK(send_text(3, "three", 0) == 0 && send_text(5, "cinq", 0) == 0 && send_text(2, "", 0) == 0);
    CHECK(msgrcv(queue, &m, sizeof m.text, 9, IPC_NOWAIT) == -1 && errno == ENOMSG);
    CHECK(receives(3, 0, 3, "three") && receives(-4, 0, 2, "") && receives(5, 0, 5, "five"));
    CHECK(send_text(7, "seven", 0) == 0 && receives(5, MSG_EXCEPT, 7, "seven") && receives(0, 0, 5, "cinq"));
    CHECK(send_text(6, "a", 0) == 0 && send_text(4, "b", 0) == 0 && receives(-6, 0, 4, "b") && receives(0, 0, 6, "a"));
}

static void test_sizes(void)
{
    struct message m = {.type = 1};
    struct msqid_ds status;
    CHECK(msgsnd(queue, &m, 8193, IPC_NOWAIT) == -1 && errno == EINVAL && msgsnd(queue, &m, 8192, 0) == 0);
    CHECK(msgctl(queue, IPC_STAT, &status) == 0 && status.__msg_cbytes == 8192 && status.msg_qnum == 1);
    CHECK(status.msg_lspid == getpid() && status.msg_stime > 0);
    CHECK(msgsnd(queue, &m, 8192, 0) == 0 && msgsnd(queue, &m, 1, IPC_NOWAIT) == -1 && errno == EAGAIN);
    CHECK(msgrcv(queue, &m, 100, 0, 0) == -1 && errno == E2BIG);
    CHECK(msgrcv(queue, &m, 100, 0, MSG_NOERROR) == 100 && msgrcv(queue, &m, sizeof m.text, 0, 0) == 8192);
}

static void test_waiting(void)
{
    struct message m = {.type = 1};
    pid_t child = fork();
    if (child == 0) /* answers with twice the text */
        _exit(msgrcv(queue, &m, sizeof m.text, 1, 0) == 4 && msgsnd(queue, &(struct message){2, "abab"}, 4, 0) == 0
                  ? 0
                  : 1);
    CHECK(send_text(1, "abcd", 0) == 0 && msgrcv(queue, &m, sizeof m.text, 2, 0) == 4 && ended_with(child) == 0);
    CHECK(msgsnd(queue, &m, 8192, 0) == 0 && msgsnd(queue, &m, 8192, 0) == 0);
    child = fork(); /* waits until there is room */
    if (child == 0)
        _exit(send_text(3, "late", 0));
    CHECK(msgrcv(queue, &m, sizeof m.text, 0, 0) == 8192 && msgrcv(queue, &m, sizeof m.text, 3, 0) == 4);
    CHECK(ended_with(child) == 0 && msgrcv(queue, &m, sizeof m.text, 0, 0) == 8192);
}

static void ignore(int sig)
{
    (void)sig;
}

static void test_ends(void)
{
    struct message m;
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    alarm(1);
    CHECK(msgrcv(queue, &m, sizeof m.text, 0, 0) == -1 && errno == EINTR);
    pid_t child = fork();
    if (child == 0) {
        send_text(1, "waits", 0);
        _exit(msgrcv(queue, &m, sizeof m.text, 2, 0) == -1 && errno == EIDRM ? 0 : 1);
    }
    CHECK(msgrcv(queue, &m, sizeof m.text, 1, 0) == 5);
    usleep(100000); /* in guest time: the child waits by then */
    CHECK(msgctl(queue, IPC_RMID, NULL) == 0 && ended_with(child) == 0);
    CHECK(msgsnd(queue, &m, 1, 0) == -1 && errno == EINVAL);
}

int main(void)
{
    test_keys();
    queue = msgget(IPC_PRIVATE, 0600);
    CHECK(queue >= 0);
    test_types();
    test_sizes();
    test_waiting();
    test_ends();
    return check_result();
}
