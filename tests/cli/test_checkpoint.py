"""`cyclescope checkpoint` and --restore as a user meets them: what goes on, and what each refusal says."""
import os
import random
import re
import shutil
import subprocess

import pytest

from conftest import ENVIRONMENT, PROJECT, Commands

# Threads that hand numbers on, a timer whose handler counts, sleeps, a file that is read and one that is written.
BUSY = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#include <sys/random.h>
static volatile unsigned long ticks, noise;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int number;
static void tick(int sig)
{
    ticks += sig == SIGALRM;
    for (int i = 0; i < 2000; i++)
        noise = noise * 31 + ticks;
}
static void *count(void *own)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        while (number % 3 != (int)(long)own)
            pthread_cond_wait(&changed, &lock);
        number++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        usleep(300);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    struct itimerval often = {{0, 50}, {0, 50}};
    pthread_t t[3];
    char line[64];
    unsigned dice;
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, count, (void *)i);
    for (int i = 0; fgets(line, sizeof line, in); i++) {
        getrandom(&dice, sizeof dice, 0);
        fprintf(out, "%d %s", i, line);
        fflush(out);
        printf("%d %u %lu\n", i, dice, ticks);
        fflush(stdout);
        usleep(100);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%d %lu %lu\n", number, ticks, noise);
    return 7;
}
"""
# Tells when its signal handlers ran, and when its threads. Nothing sleeps, so the guest's clock counts instructions.
HANDLERS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
enum { MOST = 64 };
static volatile long enter[MOST], leave[MOST], work;
static volatile int count;
static long now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000 + ts.tv_nsec;
}
static void tick(int sig)
{
    if (count == MOST)
        return;
    enter[count] = now();
    for (int i = 0; i < 300; i++)
        work += sig;
    leave[count] = now();
    count++;
}
static void *run(void *own)
{
    for (long i = 0; i < 60000; i++)
        work ^= i * (long)own;
    return NULL;
}
int main(void)
{
    struct itimerval often = {{0, 20}, {0, 20}};
    pthread_t t[3];
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, run, (void *)(i + 1));
    long first = now();
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    long last = now();
    printf("%ld\n", work);
    for (int i = 0; i < count; i++)
        fprintf(stderr, "handler %ld %ld\n", enter[i], leave[i]);
    fprintf(stderr, "threads %ld %ld\nend %ld\n", first, last, now());
    return 5;
}
"""
# Writes each byte of its input, and works between them.
SLOW_CAT = r"""
#include <unistd.h>
int main(void)
{
    char c;
    volatile int i;
    while (read(0, &c, 1) == 1) {
        for (i = 0; i < 1000; i++);
        write(1, &c, 1);
    }
    return 0;
}
"""
# Has what its argument names, which cannot be saved, and works on.
REFUSED_GUEST = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int fds[2];
    siginfo_t info;
    switch (argv[1][0]) {
    case '1': semget(IPC_PRIVATE, 1, 0600); break;
    case '2': msgget(IPC_PRIVATE, 0600); break;
    case '3': shmget(IPC_PRIVATE, 4096, 0600); break;
    case 'p': pipe(fds); break;
    case 's': socketpair(AF_UNIX, SOCK_STREAM, 0, fds); break;
    case 'e': epoll_create1(0); break;
    case 'i': inotify_init1(0); break;
    case 'd': open("gone", O_CREAT | O_RDWR, 0600); unlink("gone"); break;
    case 'l': flock(open("locked", O_CREAT | O_RDWR, 0600), LOCK_EX); break;
    case 'c': if (fork() == 0) for (;;); break;
    case 'g': setsid(); break;
    case 'z':
        if (fork() == 0)
            _exit(0);
        if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0) /* it has ended, and can still be waited for */
            return 1;
        break;
    }
    for (volatile long i = 0; i < 100000000; i++);
    return 0;
}
"""
# Reads from a descriptor that its caller left open.
LEFT_OPEN = r"""
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    char got[64] = "";
    for (volatile long i = 0; i < 1000000; i++);
    if (read(dup(251), got, sizeof got - 1) < 0)
        strcpy(got, strerror(errno));
    printf("%s\n", got);
    return 0;
}
"""
# Fills 16 MB with what cannot be compressed.
LARGE = r"""
#include <stdlib.h>
enum { BYTES = 16 << 20 };
int main(void)
{
    unsigned long *data = malloc(BYTES), seed = 1;
    for (long i = 0; i < BYTES / 8; i++)
        data[i] = seed = seed * 6364136223846793005 + 1442695040888963407;
    return data[BYTES / 16] % 50 + 1;
}
"""
LARGE_AT = "10M"  # when nearly all is filled
READER = r"""
#include <stdio.h>
int main(void)
{
    char line[64];
    FILE *in = fopen("/data/lines", "r");
    for (volatile int i = 0; i < 30000; i++);
    for (int n = 0; fgets(line, sizeof line, in); n++)
        if (n % 10 == 0)
            fputs(line, stdout);
    return 4;
}
"""
# Of the host, to be preloaded: kills the process before the call number KILL_AT of those that write a file and give it its
# name. A process that ends has left the number of its calls in the file CALLS.
KILLER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static long calls;
static void count(void)
{
    if (++calls == atol(getenv("KILL_AT")))
        raise(SIGKILL);
}
#define WRAP(TYPE, NAME, PARAMETERS, ARGUMENTS) \
    TYPE NAME PARAMETERS { count(); TYPE (*real) PARAMETERS = dlsym(RTLD_NEXT, #NAME); return real ARGUMENTS; }
WRAP(ssize_t, write, (int fd, const void *bytes, size_t length), (fd, bytes, length))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, unlink, (const char *path), (path))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))
__attribute__((destructor)) static void leave(void)
{
    FILE *to = fopen(getenv("CALLS"), "w");
    fprintf(to, "%ld", calls);
    fclose(to);
}
"""


def put(cli, *guests):
    """Guests in the folder of the test, so that the lengths of their paths are the same for all."""
    for guest in guests:
        shutil.copy(guest, cli.work)


def save(cli, at, to, *words, **options):
    return cli.run("checkpoint", "--quiet", "--at", at, "-o", to, *words, **options)


def insns(result):
    """The number of instructions that --summary tells."""
    return int(re.search(r"^cyclescope: (\d+) instructions", result.err, re.M)[1])


def counts(r):
    return r["instructions"], r["cycles"], r["events"]


def same(cli, first, second):
    return (cli.work / first).read_bytes() == (cli.work / second).read_bytes()


# ---- it goes on as if nothing had been

def test_threads_timers_and_files_go_on(cli, guests):
    put(cli, guests("busy", BUSY, "-static", "-pthread"))
    (cli.work / "lines").write_text("".join(f"{n}\n" for n in range(1000, 1041)))
    words = ("./busy", "lines", "copy")
    whole = cli.run("run", "--summary", *words, status=7)
    total, copy = insns(whole), (cli.work / "copy").read_text()
    assert whole.out.count("\n") == 42 and copy.count("\n") == 41
    for k in range(1, 12):
        at = total * k // 12 + k * 37
        first = save(cli, at, "point", *words)
        second = cli.run("run", "--summary", "--restore", "point", status=7)
        assert first.out + second.out == whole.out and insns(second) == total, at
        assert (cli.work / "copy").read_text() == copy, at


def test_points_inside_signal_handlers_with_threads_go_on(cli, guests):
    put(cli, guests("handlers", HANDLERS, "-static", "-pthread"))
    whole = cli.run("run", "--summary", "--thread-quantum", 5000, "./handlers", status=5)
    total = insns(whole)
    handlers = [(int(a), int(b)) for a, b in re.findall(r"^handler (\d+) (\d+)$", whole.err, re.M)]
    first, last, end = map(int, re.search(r"^threads (\d+) (\d+)\nend (\d+)$", whole.err, re.M).groups())
    assert 0 <= total - end < 100000, "the clock does not count instructions"
    points = [(a + b) // 2 for a, b in handlers[::7] if a > first and b < last]
    assert len(points) >= 3
    for at in points:
        save(cli, at, "point", "--thread-quantum", 5000, "./handlers")
        second = cli.run("run", "--summary", "--restore", "point", status=5)
        assert second.out == whole.out and insns(second) == total, at
        assert second.err.split("cyclescope:")[0] == whole.err.split("cyclescope:")[0], at


# Writes a function and calls it, 2000 times, without fence.i. Each new form is only legal for its own round.
CHANGES_CODE = r"""
#include <sys/mman.h>
typedef unsigned (*function)(void);
int main(void)
{
    volatile unsigned *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    code[1] = 0x8067; /* ret */
    for (unsigned i = 0; i < 2000; i++) {
        code[0] = 0x513 | (i & 2047) << 20; /* li a0, i */
        if (((function)code)() != (i & 2047))
            __asm__ volatile("ebreak");
    }
    return 3;
}
"""


def test_stores_to_code_show_after_a_restore_and_in_copies(cli, guests):
    put(cli, guests("changes", CHANGES_CODE, "-static"))
    total = insns(cli.run("run", "--summary", "./changes", status=3))
    for at in total // 2, total - 5000, total - 4999:
        save(cli, at, "point", "./changes")
        assert insns(cli.run("run", "--summary", "--restore", "point", status=3)) == total
        cli.run("stat", "--quiet", "--restore", "point", status=3)
    cli.run("stack", "--quiet", "--systematic", "--window", 1000, "--warmup", 1000, "--period", 5000,
            "./changes", status=3)


@pytest.mark.smoke
def test_a_checkpoint_of_a_checkpoint_goes_on(cli, work):
    put(cli, work)
    save(cli, 30000, "point", "./work", 20000)
    save(cli, 60000, "later", "--restore", "point")
    assert cli.run("run", "--restore", "later", status=3).out == "done\n"


def test_a_checkpoint_goes_through_a_pipe(cli, work):
    put(cli, work)
    words = "'$0' checkpoint --quiet --at 30000 -o - ./work 20000 | '$0' run --restore -".replace("$0", cli.program)
    result = cli.execute(["bash", "-c", words])
    assert (result.status, result.out) == (3, "done\n")


def test_a_plain_standard_input_goes_on_where_it_was(cli, guests):
    put(cli, guests("slow_cat", SLOW_CAT, "-static"))
    (cli.work / "letters").write_text("abcdefgh")
    save_words = cli.command("checkpoint", "--quiet", "--at", 45000, "-o", "point", "./slow_cat")
    first = cli.execute(["bash", "-c", 'exec "$@" <letters', "-", *save_words])
    assert first.status == 0
    second = cli.run("run", "--restore", "point")
    assert first.out + second.out == "abcdefgh" and first.out and second.out


def test_who_restores_may_give_another_pipe_or_none(cli, guests):
    put(cli, guests("left_open", LEFT_OPEN, "-static"))
    with_pipe = lambda *words: ["bash", "-c", 'exec "$@" 251<&0 </dev/null', "-", *cli.command(*words)]
    saved = cli.execute(with_pipe("checkpoint", "--quiet", "--host-streams", "--at", "1M", "-o", "left", "./left_open"), stdin=b"")
    assert saved.status == 0, saved.err
    assert cli.execute(with_pipe("run", "--restore", "left"), stdin=b"other").out == "other\n"
    assert cli.run("run", "--restore", "left").out == "Bad file descriptor\n"


# ---- the core counts the same from a checkpoint as behind what was skipped

@pytest.fixture(scope="module")
def point(module_cli, work):
    """A folder with the guest `work` and `point`, which was taken after 30000 instructions."""
    put(module_cli, work)
    save(module_cli, 30000, "point", "./work", 20000)
    return module_cli


@pytest.mark.smoke
def test_stat_counts_the_same(point):
    skipped = point.report("stat", "--skip", 30000, "./work", 20000, status=3)
    restored = point.report("stat", "--restore", "point", status=3)
    assert counts(restored) == counts(skipped) and restored["cycles"] > 0


def test_stack_counts_the_same(point):
    point.run("stack", "--quiet", "--csv", "skipped", "--skip", 30000, "./work", 20000, status=3)
    point.run("stack", "--quiet", "--csv", "restored", "--restore", "point", status=3)
    assert same(point, "skipped", "restored") and (point.work / "restored").stat().st_size > 0


def test_validate_counts_the_same(point):
    point.run("validate", "--quiet", "--csv", "skipped", "--skip", 30000, "./work", 20000, status=3)
    assert point.run("validate", "--quiet", "--csv", "restored", "--restore", "point", status=3).out == "done\n"
    assert same(point, "skipped", "restored") and (point.work / "restored").read_text().count("\n") == 12


# ---- warm caches and predictors go with it; each choice of their parts has its own state

def check_warm(cli, work, *core):
    put(cli, work)
    save(cli, 40000, "warm", "--warm", *core, "./work", 20000)
    skipped = cli.report("stat", *core, "--skip", 40000, "--warm", "./work", 20000, status=3)
    restored = cli.report("stat", *core, "--restore", "warm", status=3)
    assert counts(restored) == counts(skipped) and restored["cycles"] > 0


def test_warm_state_of_every_core(cli, work):
    cores = [line.split()[0] for line in cli.run("list", "cores").out.splitlines() if line[0] != " "]
    assert len(cores) >= 9
    for core in cores:
        check_warm(cli, work, "--core", core)


@pytest.mark.parametrize("settings", [
    *(f"branch.predictor={name}" for name in ("static", "bimodal", "gshare", "hybrid", "tage")),
    "l1d.replacement=plru l1d.prefetch=stride l2.replacement=random l1i.prefetch=next_line"])
def test_warm_state_of_every_choice(cli, work, settings):
    check_warm(cli, work, "--core", "eyerman2006", *(word for s in settings.split() for word in ("--set", s)))


def test_warm_is_not_cold_and_may_take_two_steps(cli, work):
    put(cli, work)
    cold = cli.report("stat", "--skip", 40000, "./work", 20000, status=3)
    save(cli, 40000, "warm", "--warm", "./work", 20000)
    restored = cli.report("stat", "--restore", "warm", status=3)
    assert counts(restored) != counts(cold)
    cli.complains("are of another core: there l1d.size=[0-9]+K, here l1d.size=128K", "stat", "--restore", "warm", "--set",
                  "l1d.size=128K")
    assert cli.run("run", "--restore", "warm", status=3).out == "done\n"  # which has no use for it
    save(cli, 20000, "first", "--warm", "./work", 20000)
    save(cli, 40000, "second", "--warm", "--restore", "first")
    assert counts(cli.report("stat", "--restore", "second", status=3)) == counts(restored)


# ---- several points on one way

def test_several_points_are_those_that_are_taken_alone(cli, work):
    put(cli, work)
    save(cli, "60K,30K,45000", "way.%d.ckpt", "./work", 20000)
    for at in 30000, 45000, 60000:
        save(cli, at, "alone", "./work", 20000)
        assert same(cli, "alone", f"way.{at}.ckpt"), at


def test_several_warm_points_are_those_that_are_taken_alone(cli, work):
    """What is in flight at a point retires later all the same."""
    put(cli, work)
    save(cli, ",".join(map(str, [*range(30000, 30701, 7), "60K", "45K"])), "warm.%d.ckpt", "--warm", "./work", 20000)
    for at in 30000, 30147, 30294, 30441, 30588, 30700, 45000, 60000:
        save(cli, at, "alone", "--warm", "./work", 20000)
        assert same(cli, "alone", f"warm.{at}.ckpt"), at


@pytest.mark.parametrize("kind,status", [("-S", 0), ("-H", 125)], ids=["soft", "hard"])
def test_many_points_with_few_descriptors(cli, work, kind, status):
    """A soft limit is raised. A hard one gets a sentence, and no file is left."""
    put(cli, work)
    points = [*range(30000, 31200, 7)]
    command = cli.command("checkpoint", "--quiet", "--at", ",".join(map(str, points)), "-o", "few.%d", "./work", 20000)
    limit = f"ulimit -S -n 1100; ulimit {kind} -n 1100; exec \"$@\""
    result = cli.execute(["bash", "-c", limit, "bash", *map(str, command)])
    assert result.status == status and len([*cli.work.glob("few.*")]) == (0 if status else len(points))
    assert not status or re.search(r"few\.\d+ cannot be written: Too many open files$", result.err)


def test_points_of_simpoint(cli, work):
    put(cli, work)
    (cli.work / "points").write_text("6 1\n3 0\n0 2\n")
    cli.run("checkpoint", "--quiet", "--points", "points", "--interval", "10K", "-o", "way.%d.ckpt", "./work", 20000)
    save(cli, 30000, "alone", "./work", 20000)
    assert sorted(p.name for p in cli.work.glob("way.*")) == ["way.0.ckpt", "way.30000.ckpt", "way.60000.ckpt"]
    assert same(cli, "alone", "way.30000.ckpt")
    assert cli.run("run", "--restore", "way.0.ckpt", status=3).out == "done\n"


# ---- what cannot be saved

@pytest.mark.mistake
@pytest.mark.parametrize("has, pattern", [
    ("pipe", "descriptor [0-9]+ cannot be saved: it is a pipe"),
    ("socket", "descriptor [0-9]+ cannot be saved: it is a socket"),
    ("epoll", "eventpoll.*only the kernel knows"),
    ("inotify", "descriptor [0-9]+ cannot be saved: it is anon_inode:inotify, which only the kernel knows"),
    ("deleted file", "gone.* has no name in any folder"),
    ("lock", "it holds a lock on its file"),
    ("child", "its child 1001 still runs"),
    ("zombie", "its child 1001 has ended, but it has not waited for it"),
    ("group of its own", "it has left the process group"),
    ("1 semaphore", "it has System V semaphores or message queues"),
    ("2 message queue", "it has System V semaphores or message queues"),
    ("3 shared memory", "it has System V shared memory"),
    ("host time", "host-time a program cannot be saved"),
])
def test_what_cannot_be_saved_is_refused_and_leaves_no_file(cli, guests, has, pattern):
    put(cli, guests("refused", REFUSED_GUEST, "-static"))
    option = ["--host-time"] if has == "host time" else []
    member = ["bash", "-c", '"$@"; exit $?', "-"]  # the shell leads the process group, so that the guest can leave it
    words = cli.command("checkpoint", *option, "--at", "2M", "-o", "never", "./refused", has)
    cli.check_complaint(pattern, cli.execute([*member, *words]))
    assert not list(cli.work.glob("*never*"))


# ---- mistakes

@pytest.fixture(scope="module")
def files(point, guests):
    put(point, guests("slow_cat", SLOW_CAT, "-static"))
    (point.work / "lines").write_text("1\n2\n")
    (point.work / "cut").write_bytes((point.work / "point").read_bytes()[:2000])
    return point


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("every run reads the checkpoint for itself", "validate --restore -"),
    ("need --warm", "checkpoint --core eyerman2006 --at 5 -o x ./work"),
    ("exclude each other", "checkpoint --at 5 --points x -o x.%d ./work"),
    ("several points need -o with %d", "checkpoint --at 5,6 -o x ./work"),
    ("'x' is not a number of instructions", "checkpoint --at 5,x -o x.%d ./work"),
    ("has 5000 twice", "checkpoint --at 5K,5000 -o x.%d ./work"),
    ("checkpoint needs --at N", "checkpoint -o x ./work"),
    ("checkpoint needs -o FILE", "checkpoint --at 5 ./work"),
    ("nowhere/x cannot be written: No such file", "checkpoint --at 5 -o nowhere/x ./work"),
    ("ended after [0-9]+ instructions, before 100000000000", "checkpoint --quiet --at 100G -o x ./slow_cat"),
    ("none cannot be opened: No such file", "run --restore none"),
    ("lines is not a Cyclescope checkpoint", "run --restore lines"),
    ("takes no program: './work'", "run --restore point ./work"),
    ("only --sysroot can be changed", "stat --restore point --seed 3"),
    ("--with and --restore exclude", "stat --restore point --with ./work"),
    ("cut was cut off in block 0", "run --restore cut"),
    ("the checkpoint cannot be written: No space left", "checkpoint --quiet --at 5 -o /dev/full ./work"),
])
def test_a_mistake_gets_a_sentence(files, pattern, words):
    files.complains(pattern, *words.split())
    assert not list(files.work.glob("x*"))


@pytest.mark.mistake
def test_a_program_that_has_changed_or_gone_is_refused(cli, work):
    put(cli, work)
    save(cli, 30000, "point", "./work", 20000)
    os.utime(cli.work / "work", (1, 1))
    cli.complains("work has changed since the checkpoint was taken", "run", "--restore", "point")
    (cli.work / "work").unlink()
    cli.complains("work.* cannot be opened again: No such file", "run", "--restore", "point")


# ---- writing

@pytest.fixture(scope="module")
def large(guests):
    return guests("large", LARGE, "-static")


def test_a_writer_that_is_killed_leaves_nothing_or_a_whole_file(cli, large):
    put(cli, large)
    status = cli.run("run", "./large", status=None).status
    assert 0 < status <= 50
    killer, folder = cli.work / "killer.so", cli.work / "kept"
    subprocess.run(["gcc", "-x", "c", "-shared", "-fPIC", "-o", killer, "-"], input=KILLER.encode(), check=True)
    words = cli.command("checkpoint", "--quiet", "--at", LARGE_AT, "-o", "kept/large.ckpt", "./large")

    def save_and_kill(at):
        """Whether it was killed."""
        result = cli.execute(words, env={**ENVIRONMENT, "LD_PRELOAD": str(killer), "KILL_AT": str(at), "CALLS": "calls"})
        assert result.status in (0, -9), result.err
        return result.status != 0

    for replaces in False, True:  # without and with one that it replaces
        folder.mkdir(exist_ok=True)
        (folder / "large.ckpt").unlink(missing_ok=True)
        for _ in range(1 + replaces):
            assert not save_and_kill(0)
        calls = int((cli.work / "calls").read_text())
        assert calls > 30
        for at in sorted({1, 2, calls // 4, calls // 2, 3 * calls // 4, *range(calls - 6, calls + 1)}):
            if not replaces:
                (folder / "large.ckpt").unlink(missing_ok=True)
            assert save_and_kill(at)
            exists = (folder / "large.ckpt").exists()
            assert exists or not replaces, f"the kill before call {at} took the old file away"
            if exists:
                assert cli.run("run", "--restore", "kept/large.ckpt", status=None).status == status, at
            assert not [p for p in folder.glob("large*") if p.name != "large.ckpt"], at


@pytest.mark.mistake
def test_without_room_there_is_no_file(cli, large):
    put(cli, large)
    (cli.work / "kept").mkdir()
    to = lambda path: cli.command("checkpoint", "--quiet", "--at", LARGE_AT, "-o", path, "./large")
    full = "the checkpoint cannot be written: "
    cli.check_complaint(full + "No space left", cli.execute(to("/dev/full")))
    limited = ["bash", "-c", 'ulimit -f 1000; exec "$@"', "-"]
    cli.check_complaint(full + "File too large", cli.execute([*limited, *to("kept/large.ckpt")]))
    assert not list((cli.work / "kept").iterdir())


# ---- through other programs, and with a sysroot that has moved

def test_a_sysroot_may_move_and_not_change(cli, guests):
    (cli.work / "root/data").mkdir(parents=True)
    shutil.copy(guests("reader", READER, "-static"), cli.work / "root")
    (cli.work / "root/data/lines").write_text("".join(f"{n}\n" for n in range(1000, 1041)))
    words = f"'{cli.program}' checkpoint --quiet --at 100K -o - --sysroot root --isolate /reader | gzip -1 >moved.gz"
    assert cli.execute(["bash", "-o", "pipefail", "-c", words]).status == 0
    result = cli.execute(["bash", "-c", f"gzip -dc moved.gz | '{cli.program}' run --restore -"])
    printed = "1000\n1010\n1020\n1030\n1040\n"
    assert (result.status, result.out) == (4, printed)
    assert cli.execute(["bash", "-c", "gzip -dc moved.gz >moved.ckpt"]).status == 0
    (cli.work / "root").rename(cli.work / "elsewhere")
    cli.complains("root", "run", "--restore", "moved.ckpt")
    assert cli.run("run", "--sysroot", "elsewhere", "--restore", "moved.ckpt", status=4).out == printed
    os.utime(cli.work / "elsewhere/data/lines", (1, 1))
    cli.complains("lines has changed since", "run", "--sysroot", "elsewhere", "--restore", "moved.ckpt")


def test_a_restored_program_can_be_isolated(cli, guests):
    (cli.work / "root/data").mkdir(parents=True)
    (cli.work / "bound").mkdir()
    shutil.copy(guests("reader", READER, "-static"), cli.work / "root")
    (cli.work / "root/data/lines").write_text("".join(f"{n}\n" for n in range(1000, 1041)))
    save = ["checkpoint", "--quiet", "--at", "100K", "--sysroot", "root"]
    restore = ["run", "--isolate", "--sysroot", "root", "--restore"]
    cli.run(*save, "--isolate", "-o", "plain", "/reader")
    printed = cli.run("run", "--restore", "plain", status=4).out
    assert cli.run(*restore, "plain", status=4).out == printed != ""
    cli.complains("needs --sysroot DIR", "run", "--isolate", "--restore", "plain")
    # The command line says what the program may reach, not the file.
    cli.run(*save, "--isolate", "--bind", "bound", "-o", "binds", "/reader")
    cli.complains("--bind .*/bound, give it again", *restore, "binds")
    assert cli.run(*restore, "binds", "--bind", "bound:ro", status=4).out == printed
    # Started without isolation: an isolated program cannot reach its folder.
    cli.run(*save, "-o", "free", "/reader")
    cli.complains("open, which --isolate does not let it reach", *restore, "free")


# ---- every self-checking guest program goes on from random points

PIPE, SOCKET, CHILD = "is a pipe, whose other end", "is a socket, whose other end", "its child "
DELETED, NAMELESS = "has been deleted or replaced", "has no name in any folder"
KERNEL, LOCK, FOLDER = "which only the kernel knows", "it holds a lock", "cannot be saved: it is the folder"
GROUP, SYSTEM_V = "it has left the process group", "it has System V "
# What a program has for some time that cannot be saved. All others can be at every point.
OPENING = "it opens a pipe, whose other end is elsewhere"
REFUSED = {
    "code_stores": (PIPE, CHILD),
    "file_descriptors": (PIPE, CHILD, LOCK, NAMELESS, KERNEL),
    "file_folders": (NAMELESS,),
    "file_inotify": (KERNEL, CHILD),
    "file_limit": (SOCKET, PIPE),
    "file_names": (NAMELESS, "cannot be saved: it is a symbolic link itself"),
    "file_shm": (PIPE, CHILD),
    "file_pty": (KERNEL, CHILD, PIPE, GROUP),
    "file_socketpair": (PIPE, SOCKET),
    "file_special": (PIPE, FOLDER),
    "file_timerfd": (KERNEL, CHILD),
    "file_wait": (PIPE, KERNEL, LOCK, NAMELESS),
    "fork_exec": (CHILD, NAMELESS),
    "fork_fifo": (PIPE, CHILD),
    "fork_time": (PIPE, CHILD),
    "fork_wait": (PIPE, CHILD, GROUP),
    "ipc_messages": (CHILD, SYSTEM_V),
    "ipc_semaphores": (CHILD, SYSTEM_V),
    "memory_lost": (CHILD,),
    "process_limits": (PIPE, CHILD),
    "memory_map": (DELETED, NAMELESS),
    "memory_short_file": (DELETED, NAMELESS),
    "memory_sysv": (CHILD, SYSTEM_V),
    "process_limits": (PIPE, CHILD),
    "signal_basic": (PIPE,),
    "signal_fault": (CHILD, DELETED, NAMELESS),
    "signal_fd": (KERNEL, CHILD, PIPE),
    "signal_fifo": (PIPE, CHILD, OPENING),
    "signal_sent_fault": (CHILD,),
    "signal_wait": (PIPE, CHILD),
    "thread_robust": (CHILD,),
}
# They go as far as the host's limits, of which the emulator itself takes a part, or name files after a number of the host:
# their instructions do not repeat exactly.
UNREPEATED = ("file_shm", "memory_many_maps")


@pytest.mark.parametrize("name", sorted(p.stem for p in (PROJECT / "tests/guest").glob("*.c")))
@pytest.mark.parametrize("points", [6, pytest.param(24, marks=pytest.mark.slow)])
def test_a_guest_goes_on_from_any_point(cli, name, points):
    """Its output, its status and its instructions are those of a run in one piece. A point at which it cannot be saved is
    refused with a reason that this program is known to give."""
    inner, guest = Commands(cli.program, cli.work / "inner"), PROJECT / "build/guest" / name

    def fresh(*words):
        shutil.rmtree(inner.work, ignore_errors=True)
        inner.work.mkdir()
        return inner.run(*words, status=None)

    whole = fresh("run", "--summary", guest)
    own = fresh("checkpoint", "--at", "1000G", "-o", "/dev/null", guest)  # without the processes that it forks
    last = int(re.search(r"ended after (\d+) instructions", own.err)[1])
    draw = random.Random(f"{1 if points == 6 else 2} {name}")
    for _ in range(points):
        at = draw.randrange(1, last)
        first = fresh("checkpoint", "--at", at, "-o", "../point", guest)
        if first.status != 0:
            reasons = (*REFUSED.get(name, ()), "the file has been deleted or replaced")
            assert first.status == 125 and any(reason in first.err for reason in reasons), f"{at}: {first.err}"
            continue
        second = inner.run("run", "--summary", "--restore", "../point", status=None)
        assert (second.status, first.out + second.out) == (whole.status, whole.out), f"{at}: {second.err[:300]}"
        assert insns(second) == insns(whole) or name in UNREPEATED, at
