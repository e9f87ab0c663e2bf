"""Copies of sampled runs change nothing outside of themselves: each test is a guest that acts on something which the run
shares with the world. `--points auto` first runs a copy of the whole program, so that a copy's act would come before the
run's own."""
import fcntl
import os
import re
import shutil
import socket
import subprocess
import termios
import threading

import pytest

from conftest import PATIENCE_SECONDS, Result

POINTS = "stack --quiet --points auto --window 50K --point-count 24 --lead 200K".split()
SYSTEMATIC = "stack --quiet --systematic --period 100K --window 5K --lead 200K".split()

# What the guests share: work that fills windows, and the headers.
COMMON = r"""
#include <arpa/inet.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned state = 1, sum;
static char heap[1 << 16];
static void toss(int n)
{
    while (n--) {
        state = state * 1103515245 + 12345;
        if (state >> 16 & 1)
            sum += heap[state >> 8 & 0xffff]++;
    }
}
"""


def run(cli, words, **options):
    """Runs cyclescope with descriptors of the caller's choice: the result, with all that it wrote to its pipes."""
    process = cli.spawn(cli.command(*words), stderr=subprocess.PIPE, **{"stdout": subprocess.PIPE, **options})
    try:
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            process.communicate()
    return Result(process.returncode, (out or b"").decode(), err.decode())


@pytest.fixture
def guest(cli, guests):
    """guest(NAME, SOURCE): a program in the test's folder."""

    def build(name, source):
        shutil.copy(guests(name, COMMON + source, "-static"), cli.work)
        return "./" + name

    return build


def check_exact(cli):
    """All windows were measured, by copies that went the way of the run."""
    sampled = cli.json()["sampled"]
    assert sampled["failed"] == 0 and sampled["strayed"] == 0 and sampled["windows"] >= 5


# ---- memory

COUNTER = r"""
int main(void)
{
    int fd = open("counter", O_RDWR);
    volatile int *counter = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    for (int i = 0; i < 40; i++) {
        toss(20000);
        if (mprotect((void *)counter, 4096, PROT_READ | PROT_WRITE))
            return 10;
        ++*counter;
        mprotect((void *)counter, 4096, PROT_READ);
    }
    return 0;
}
"""


@pytest.mark.parametrize("words", [POINTS, SYSTEMATIC], ids=["points", "systematic"])
def test_a_shared_mapping_that_becomes_writable_later(cli, guest, words):
    (cli.work / "counter").write_bytes(bytes(4096))
    result = run(cli, [*words, "--json", "json", guest("counter_guest", COUNTER)])
    assert int.from_bytes((cli.work / "counter").read_bytes()[:4], "little") == 40
    assert result.status == 0, result.err
    check_exact(cli)


TWICE = r"""
int main(void)
{
    int fd = open("twice", O_RDWR);
    volatile int *one = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    volatile int *two = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    for (int i = 0; i < 40; i++) {
        toss(20000);
        *one = i;
        if (*two != i)
            abort();
    }
    return 0;
}
"""


def test_two_mappings_of_one_file_stay_one_memory(cli, guest):
    (cli.work / "twice").write_bytes(bytes(4096))
    result = run(cli, [*SYSTEMATIC, "--json", "json", guest("twice_guest", TWICE)])
    assert result.status == 0, result.err
    check_exact(cli)


# ---- input

READS_NAME = r"""
int main(int argc, char **argv)
{
    char c;
    int fd = open(argv[1], O_RDONLY);
    if (fd < 0)
        return 10;
    while (read(fd, &c, 1) == 1) {
        toss(10000);
        sum = sum * 31 + c;
    }
    printf("%u\n", sum);
    return 0;
}
"""


@pytest.mark.parametrize("name", ["/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"])
def test_standard_input_by_name(cli, guest, name):
    program = guest("reads_name", READS_NAME)
    text = bytes(range(64))
    plain = cli.run("run", program, name, stdin=text).out
    assert plain != ""
    assert cli.run(*SYSTEMATIC, program, name, stdin=text, status=None).out == plain
    # A copy cannot read it, so it cannot look for points; and it leaves the input to others.
    into, out_of = os.pipe()
    os.write(out_of, text)
    os.close(out_of)
    result = run(cli, [*POINTS, program, name], stdin=into)
    assert result.status == 125 and "which only the run itself can have" in result.err, result.err
    assert os.read(into, 100) == text
    os.close(into)


POLLS = r"""
int main(void)
{
    struct pollfd input = {0, POLLIN, 0};
    toss(100000);
    poll(&input, 1, -1);
    return 0;
}
"""


def test_a_copy_does_not_wait_for_the_world(cli, guest):
    into, out_of = os.pipe()
    result = run(cli, [*POINTS, guest("polls", POLLS)], stdin=into)
    os.close(into)
    os.close(out_of)
    assert result.status == 125 and "it waits for something outside of the run" in result.err, result.err


FIFO = r"""
int main(void)
{
    toss(100000);
    int fd = open("fifo", O_WRONLY | O_NONBLOCK);
    return fd >= 0 ? write(fd, "x", 1) != 1 : 10;
}
"""


def test_named_pipes(cli, guest):
    os.mkfifo(cli.work / "fifo")
    reader = os.open(cli.work / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    result = run(cli, [*POINTS, guest("fifo_guest", FIFO)])
    assert result.status == 125 and "fifo" in result.err, result.err
    assert os.read(reader, 10) == b""
    os.close(reader)


# ---- the network

CONNECTS = r"""
int main(int argc, char **argv)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(0x7f000001)};
    for (int i = 0; i < 10; i++) {
        toss(20000);
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (fd < 0 || connect(fd, (void *)&to, sizeof to))
            return 10;
        write(fd, "x", 1);
        close(fd);
    }
    return 0;
}
"""


@pytest.mark.parametrize("words, times", [(POINTS, 0), (SYSTEMATIC, 10)], ids=["points", "systematic"])
def test_connections(cli, guest, words, times):
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepted = []

        def accept():
            while True:
                peer, _ = server.accept()
                with peer:
                    if peer.recv(10) == b"end":
                        return
                    accepted.append(peer)

        thread = threading.Thread(target=accept)
        thread.start()
        run(cli, [*words, "--allow-net", guest("connects", CONNECTS), server.getsockname()[1]])
        with socket.create_connection(server.getsockname()) as last:
            last.send(b"end")
        thread.join()
    assert len(accepted) == times


BINDS = r"""
int main(void)
{
    for (int i = 0; i < 10; i++) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        sprintf(to.sun_path, "socket.%d", i);
        toss(i ? 20000 : 200000);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (fd < 0 || bind(fd, (void *)&to, sizeof to))
            return 10;
        close(fd);
    }
    return 0;
}
"""


def test_names_of_sockets(cli, guest):
    result = run(cli, [*SYSTEMATIC, "--allow-net", guest("binds", BINDS)])
    assert result.status == 0, result.err
    assert len(list(cli.work.glob("socket.*"))) == 10
    for name in cli.work.glob("socket.*"):
        name.unlink()
    run(cli, [*POINTS, "--allow-net", "./binds"])
    assert list(cli.work.glob("socket.*")) == []


# ---- descriptors that the run shares

PWRITEV2 = r"""
int main(void)
{
    for (int i = 0; i < 40; i++) {
        char line[16];
        struct iovec part = {line, sprintf(line, "%d\n", i)};
        toss(20000);
        if (pwritev2(1, &part, 1, -1, 0) != (int)part.iov_len)
            return 10;
    }
    return 0;
}
"""


def test_output_at_the_current_position(cli, guest):
    result = run(cli, [*SYSTEMATIC, "--json", "json", guest("pwritev2", PWRITEV2)])
    assert result.status == 0 and result.out == "".join(f"{i}\n" for i in range(40)), result.err
    check_exact(cli)


NONBLOCKING = r"""
int main(int argc, char **argv)
{
    int on = 1;
    if (fcntl(0, F_GETFL) & O_NONBLOCK)
        return 10;
    toss(100000);
    if (argc > 1 ? ioctl(0, FIONBIO, &on) : fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK))
        return 11;
    toss(100000);
    return 0;
}
"""


@pytest.mark.parametrize("arguments", [(), ("ioctl",)], ids=["F_SETFL", "FIONBIO"])
def test_flags_of_a_descriptor(cli, guest, arguments):
    into, out_of = os.pipe()
    result = run(cli, [*POINTS, guest("nonblocking", NONBLOCKING), *arguments], stdin=into)
    assert result.status == 0, result.err  # 10: a copy has set the flag before the run began
    assert fcntl.fcntl(into, fcntl.F_GETFL) & os.O_NONBLOCK
    os.close(into)
    os.close(out_of)


SHUTDOWN = r"""
int main(void)
{
    toss(100000);
    return shutdown(0, SHUT_RDWR) ? 10 : 0;
}
"""


def test_shutdown_of_a_socket(cli, guest):
    ours, theirs = socket.socketpair()
    result = run(cli, [*POINTS, guest("shutdown_guest", SHUTDOWN)], stdin=theirs)
    assert result.status == 125 and "it uses descriptor 0" in result.err, result.err
    assert ours.send(b"x") == 1 and theirs.recv(1) == b"x"
    ours.close()
    theirs.close()


PIPE_SIZE = r"""
int main(void)
{
    toss(100000);
    return fcntl(0, 1031, 131072) < 0 ? 10 : 0; /* F_SETPIPE_SZ */
}
"""


def test_requests_that_are_in_no_list_end_the_copy(cli, guest):
    """The filter of host calls lets this request pass, since a copy has pipes of its own: the list alone stops it."""
    into, out_of = os.pipe()
    before = fcntl.fcntl(into, fcntl.F_GETPIPE_SZ)
    result = run(cli, [*POINTS, guest("pipe_size", PIPE_SIZE)], stdin=into)
    assert result.status == 125 and "it uses descriptor 0" in result.err, result.err
    assert fcntl.fcntl(into, fcntl.F_GETPIPE_SZ) == before
    os.close(into)
    os.close(out_of)


TERMINAL = r"""
int main(void)
{
    struct termios2 t;
    if (ioctl(0, TCGETS2, &t) || !(t.c_lflag & ECHO))
        return 10;
    toss(100000);
    t.c_lflag &= ~ECHO;
    if (ioctl(0, TCSETS2, &t))
        return 11;
    toss(100000);
    return 0;
}
"""


def test_settings_of_a_terminal(cli, guest):
    master, slave = os.openpty()
    result = run(cli, [*POINTS, "--host-streams", guest("terminal", TERMINAL)], stdin=slave)
    assert result.status == 0, result.err  # 10: a copy has turned ECHO off before the run began
    assert not termios.tcgetattr(slave)[3] & termios.ECHO
    os.close(master)
    os.close(slave)


FOLDER = r"""
#include <dirent.h>
int main(void)
{
    DIR *folder = opendir("entries");
    long first = telldir(folder);
    for (int i = 0; i < 20; i++) {
        int entries = 0;
        while (readdir(folder)) {
            toss(2000);
            entries++;
        }
        if (entries != 12)
            abort();
        rewinddir(folder);
        toss(20000);
    }
    return 0;
}
"""


def test_positions_in_folders(cli, guest):
    for i in range(10):
        (cli.work / "entries").mkdir(exist_ok=True)
        (cli.work / f"entries/{i}").touch()
    result = run(cli, [*SYSTEMATIC, "--json", "json", guest("folder", FOLDER)])
    assert result.status == 0, result.err
    check_exact(cli)


SPARSE = r"""
int main(void)
{
    char c = 0;
    int fd = open("sparse", O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 1ll << 40) || pwrite(fd, "x", 1, 1ll << 39) != 1)
        return 10;
    for (int i = 0; i < 20; i++) {
        toss(20000);
        if (pread(fd, &c, 1, 1ll << 39) != 1 || c != 'x')
            abort();
    }
    return 0;
}
"""


def test_holes_of_large_files_are_not_copied(cli, guest):
    result = run(cli, [*SYSTEMATIC, "--json", "json", guest("sparse_guest", SPARSE)])
    assert result.status == 0, result.err
    check_exact(cli)


WATCHER = r"""
int main(void)
{
    char event[512];
    int fd = inotify_init1(0);
    inotify_add_watch(fd, ".", IN_CREATE);
    for (int i = 0; i < 40; i++) {
        toss(20000);
        if (i % 10 > 0)
            continue; /* windows without a read */
        close(open("made", O_CREAT | O_WRONLY, 0600));
        if (unlink("made") || read(fd, event, sizeof event) != 32)
            abort();
    }
    return 0;
}
"""


def test_events_of_files_are_read_by_the_run_alone(cli, guest):
    result = run(cli, [*SYSTEMATIC, "--json", "json", guest("watcher", WATCHER)])
    assert result.status == 0, result.err
    sampled = cli.json()["sampled"]
    assert sampled["strayed"] == 0 and 0 < sampled["failed"] < sampled["windows"]


# ---- what a copy has for itself

SEMAPHORE = r"""
int main(void)
{
    uint64_t one = 1, got;
    int fd = eventfd(1000, EFD_SEMAPHORE), other = dup(fd);
    for (int i = 0; i < 400; i++) {
        toss(4000);
        if (read(i & 1 ? fd : other, &got, 8) != 8 || got != 1)
            abort();
    }
    return write(fd, &one, 8) != 8;
}
"""


@pytest.mark.smoke
@pytest.mark.parametrize("words", [POINTS, SYSTEMATIC], ids=["points", "systematic"])
def test_event_semaphores(cli, guest, words):
    result = run(cli, [*words, "--json", "json", guest("semaphore", SEMAPHORE)])
    assert result.status == 0, result.err
    check_exact(cli)


SYSTEM_V = r"""
int main(void)
{
    struct sembuf down = {1, -1, IPC_NOWAIT};
    struct { long type; int value; } message = {1, 0};
    int set = semget(IPC_PRIVATE, 2, 0600), queue = msgget(IPC_PRIVATE, 0600);
    semctl(set, 1, SETVAL, 1000);
    for (int i = 0; i < 400; i++) {
        toss(4000);
        if (semop(set, &down, 1) || semctl(set, 1, GETVAL) != 999 - i)
            abort();
        if (i > 0 && (msgrcv(queue, &message, sizeof(int), 0, IPC_NOWAIT) != sizeof(int) || message.value != i))
            abort();
        message.value = i + 1;
        if (msgsnd(queue, &message, sizeof(int), IPC_NOWAIT))
            abort();
    }
    return 0;
}
"""


@pytest.mark.parametrize("words", [POINTS, SYSTEMATIC], ids=["points", "systematic"])
def test_semaphores_and_message_queues(cli, guest, words):
    result = run(cli, [*words, "--json", "json", guest("system_v", SYSTEM_V)])
    assert result.status == 0, result.err
    check_exact(cli)


FORKS = r"""
int main(void)
{
    for (int i = 0; i < 20; i++) {
        int status = 1;
        toss(20000);
        if (fork() == 0) {
            toss(1000);
            _exit(7);
        }
        if (wait(&status) < 0 || WEXITSTATUS(status) != 7)
            abort();
    }
    return 0;
}
"""


def test_processes_of_a_copy(cli, guest):
    result = run(cli, [*SYSTEMATIC, "--json", "json", guest("forks", FORKS)])
    assert result.status == 0, result.err
    assert cli.json()["sampled"]["windows"] >= 5


# Goes on with what every clock says, and sleeps now and then.
CLOCKS = r"""
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
int main(void)
{
    unsigned long clocks = 0, csr;
    for (int i = 0; i < 2000; i++) {
        struct timespec at[3];
        struct timeval day;
        struct tms used;
        toss(500);
        clock_gettime(CLOCK_REALTIME, &at[0]);
        clock_gettime(CLOCK_MONOTONIC, &at[1]);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at[2]);
        gettimeofday(&day, NULL);
        __asm__ volatile("rdtime %0" : "=r"(csr));
        for (int k = 0; k < 3; k++)
            clocks = clocks * 31 + at[k].tv_sec * 1000000000 + at[k].tv_nsec;
        clocks = clocks * 31 + day.tv_usec + times(&used) + csr;
        if (i % 100 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return printf("%lu\n", clocks) < 0;
}
"""

# Its child works for several turns, which the parent uses up by looking whether the child has ended.
LOOKS_FOR_CHILDREN = r"""
int main(void)
{
    unsigned looks = 0;
    for (int i = 0; i < 4; i++) {
        toss(150000);
        if (fork() == 0) {
            toss(20000);
            _exit(0);
        }
        while (waitpid(-1, NULL, WNOHANG) == 0)
            looks++;
        toss(looks);
    }
    return printf("%u\n", looks) < 0;
}
"""


def check_same_way(cli, program, words, *options):
    """All copies that could be made went the way of the run."""
    plain = cli.run("run", *options, program).out
    result = cli.run(*words, *options, "--json", "json", program)
    sampled = cli.json()["sampled"]
    assert result.status == 0 and result.out == plain != ""
    assert sampled["strayed"] == 0 and sampled["windows"] >= 5, sampled


@pytest.mark.parametrize("words", [POINTS, SYSTEMATIC], ids=["points", "systematic"])
def test_copies_have_the_time_of_the_run(cli, guest, words):
    check_same_way(cli, guest("clocks", CLOCKS), words)


def test_children_of_a_copy_take_turns_as_those_of_the_run(cli, guest):
    check_same_way(cli, guest("looks_for_children", LOOKS_FOR_CHILDREN), SYSTEMATIC, "--thread-quantum", "20000")


# Goes on with what the files of /proc say, and with their status.
READS_PROC = r"""
int main(void)
{
    static const char *names[] = {"cpuinfo", "meminfo", "uptime", "stat", "self/maps", "self/stat", "self/status",
                                  "self/statm", "self/cmdline", "self/comm", "sys/kernel/osrelease"};
    unsigned all = 0;
    for (unsigned i = 0; i < 440; i++) {
        char name[64];
        unsigned char text[8192];
        struct stat is;
        snprintf(name, sizeof name, "/proc/%s", names[i % 11]);
        int fd = open(name, O_RDONLY);
        if (fd < 0 || fstat(fd, &is))
            return 10;
        all = all * 31 + is.st_mode + is.st_ino;
        for (ssize_t k = read(fd, text, sizeof text); k > 0; k--)
            all = all * 31 + text[k - 1];
        close(fd);
        toss(2000);
    }
    return printf("%u\n", all) < 0;
}
"""


@pytest.mark.parametrize("words", [POINTS, SYSTEMATIC], ids=["points", "systematic"])
def test_copies_read_proc(cli, guest, words):
    check_same_way(cli, guest("reads_proc", READS_PROC), words)


def test_messages_come_from_the_run_alone(cli, guest):
    source = "int main(void) { toss(200000); syscall(18); toss(200000); return 0; }"  # lookup_dcookie
    result = run(cli, [*POINTS, guest("missing", source)])
    assert result.status == 0 and result.err.count("not implemented") == 1, result.err


# Makes a file that must not exist yet, as compressors do, and then works.
CREATES = r"""
int main(void)
{
    toss(200000);
    int fd = open("made", O_CREAT | O_EXCL | O_WRONLY, 0644);
    if (fd < 0)
        return 3;
    toss(600000);
    return write(fd, "text", 4) != 4;
}
"""


@pytest.mark.parametrize("words", [POINTS, [*POINTS[:2], *"--systematic --window 1K --warmup 1K --precision 1%".split()]],
                         ids=["points", "systematic"])
def test_no_copy_sees_files_that_the_run_makes(cli, guest, words):
    program = guest("creates", CREATES)
    result = cli.run(*words, "--json", "json", program)
    assert result.status == 0 and (cli.work / "made").read_text() == "text"
    sampled = cli.json()["sampled"]
    assert sampled["failed"] == sampled["strayed"] == 0 and sampled["windows"] > 5 and sampled["rehearsed"]
    assert "too_wide" not in sampled or "second time" not in sampled["too_wide"]


# What a program does, and whether copies of it could see that if it ran while they do.
@pytest.mark.parametrize("act, visible", [
    ('puts("text")', False),
    ('read(open("/proc/self/exe", O_RDONLY), heap, 100)', False),
    ('write(open("/dev/null", O_RDWR), heap, 100)', False),
    ('open("missing", O_WRONLY)', False),
    ('write(memfd_create("own", 0), heap, 100)', False),
    ('open("made", O_CREAT | O_WRONLY, 0644)', True),
    ('open("there", O_RDWR)', True),
    ('truncate("there", 3)', True),
    ('mkdir("folder", 0755)', True),
    ('rename("there", "elsewhere")', True),
    ('unlink("there")', True),
    ('symlink("there", "link")', True),
    ('link("there", "link")', True),
    ('chmod("there", 0600)', True),
    ('waitpid(fork() ?: (_exit(0), 0), NULL, 0)', True),
], ids=lambda of: re.sub(r"\W.*", "", of) if isinstance(of, str) else None)
def test_a_program_that_changes_nothing_runs_while_it_is_measured(cli, guest, act, visible):
    source = "int main(void) { toss(200000); %s; toss(600000); return 0; }" % act
    (cli.work / "there").write_text("text")
    result = run(cli, [*POINTS, "--json", "json", guest("acts_" + re.sub(r"\W+", "_", act)[:30], source)])
    sampled = cli.json()["sampled"]
    assert result.status == 0 and result.out == ("text\n" if "puts" in act else ""), result.err
    assert sampled["rehearsed"] == visible and sampled["failed"] == sampled["strayed"] == 0


# Calls code that it has written itself, and writes it anew now and then.
WRITES_CODE = r"""
int main(void)
{
    uint32_t *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned all = 0;
    for (int i = 0; i < 2000; i++) {
        code[0] = 0x513 | (i % 1000) << 20; /* li a0, i % 1000 */
        code[1] = 0x8067;                   /* ret */
        __builtin___clear_cache((char *)code, (char *)(code + 2));
        for (int k = 0; k < 20; k++) {
            all += ((int (*)(void))code)();
            toss(5);
        }
    }
    return all != 19980000;
}
"""


@pytest.mark.parametrize("words", [POINTS, SYSTEMATIC], ids=["points", "systematic"])
def test_copies_of_a_program_that_writes_code(cli, guest, words):
    result = cli.run(*words, "--json", "json", guest("writes_code", WRITES_CODE))
    sampled = cli.json()["sampled"]
    assert result.status == 0 and sampled["windows"] > 5
    assert sampled["failed"] == sampled["strayed"] == 0, sampled


# System calls read and write memory that a file is mapped to, as the data of a shared library.
USES_MAPPED_FILE = r"""
#include <sys/syscall.h>
#include <time.h>
int main(void)
{
    int fd = open("/proc/self/exe", O_RDONLY), again = 0;
    char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    struct timespec *now = (struct timespec *)at;
    int *ends = (int *)(at + 64);
    for (int i = 0; i < 2000; i++) {
        toss(300);
        if (syscall(SYS_clock_gettime, 1 /* monotonic */, now) != 0 || pipe(ends) != 0)
            return 1;
        strcpy(at + 4090, "across pages");
        if (write(ends[1], at + 4090, 12) != 12 || read(ends[0], at + 128, 12) != 12 || memcmp(at + 128, at + 4090, 12))
            return 2;
        again += close(ends[0]) == 0 && close(ends[1]) == 0;
    }
    return printf("%d\n", again) != 5;
}
"""


@pytest.mark.parametrize("words", [POINTS, SYSTEMATIC], ids=["points", "systematic"])
def test_copies_use_memory_that_a_file_is_mapped_to(cli, guest, words):
    check_same_way(cli, guest("uses_mapped_file", USES_MAPPED_FILE), words)


ASKS_FOR_TERMINAL = r"""
int main(void)
{
    int fd = open("/dev/tty", O_RDWR | O_NONBLOCK);
    toss(600000);
    return fd >= 0 || errno != ENXIO;
}
"""


def test_copies_without_a_terminal_cannot_open_it(cli, guest):
    """Tests run in a session of their own, without a controlling terminal."""
    program = guest("asks_for_terminal", ASKS_FOR_TERMINAL)
    assert cli.run(*POINTS, "--json", "json", program).status == 0
    sampled = cli.json()["sampled"]
    assert sampled["failed"] == sampled["strayed"] == 0
