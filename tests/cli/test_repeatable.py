"""The same command gives the same counts: from every folder, for every user, whatever its streams are connected to.

The guest `probe` turns all that could differ into work: the longer a path or the larger a number that it sees, the more
instructions it executes.
"""
import os
import pty
import resource
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from conftest import ENVIRONMENT

PROBE = r"""
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>
extern char **environ;
static void work(unsigned long n) { for (volatile unsigned long i = 0; i < n; i++); }
static void text(const char *s) { for (; *s; s++) work(*s); }
static void stream(int fd)
{
    struct stat st;
    struct termios settings;
    work(fstat(fd, &st) == 0 ? st.st_mode / 256 + st.st_blksize / 64 + st.st_ino % 1000 + st.st_uid : 7);
    work(isatty(fd) ? 1000 : 10);
    work(tcgetattr(fd, &settings) == 0 ? 500 : errno);
    work(lseek(fd, 0, SEEK_CUR) < 0 ? errno : 300);
    work(fcntl(fd, F_GETFL) & 07777);
}
int main(int argc, char **argv)
{
    char path[4096], buffer[1000];
    struct stat st;
    struct utsname name;
    struct rlimit limit;
    struct sigaction action;
    for (int sig = 1; sig < 32; sig++)
        work(sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN ? 100 * sig : 1);
    for (int i = 0; i < argc; i++)
        text(argv[i]);
    for (char **e = environ; *e; e++)
        text(*e);
    text(getcwd(path, sizeof path));
    work(stat(path, &st) == 0 && chdir(path) == 0 ? 5 : 1000);
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n] = 0;
    text(path);
    text((char *)getauxval(AT_EXECFN));
    work((unsigned long)&argc / 16 % 4096);
    work(getuid() + getgid() + geteuid() + getegid() + getauxval(AT_UID) + getgroups(0, NULL) * 100);
    work(umask(022));
    for (int i = 0; i < 16; i++)
        if (getrlimit(i, &limit) == 0)
            work(limit.rlim_cur % 10007);
    uname(&name);
    text(name.nodename);
    work(getpgrp() + getsid(0) + getppid());
    for (int fd = argc > 2; fd < 3; fd++)
        stream(fd);
    int lowest = open("/dev/null", O_RDONLY);
    work(lowest * 100);
    close(lowest);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    unsigned long sum = 0, reads = 0;
    for (; argc > 1; reads++) {
        if (reads % 2 == 0)
            work(poll(&input, 1, 0) * 10 + input.revents);
        if ((n = read(0, buffer, 1 + reads * 37 % sizeof buffer)) <= 0)
            break;
        for (int i = 0; i < n; i++)
            sum = sum * 31 + buffer[i];
        work(n);
    }
    for (int i = 0; i < 50; i++) /* line by line on a terminal, at once in a pipe */
        printf("line %d of %lu\n", i, sum);
    return 0;
}
"""


@pytest.fixture
def probe(cli, guests):
    """Counts the instructions of `./probe WORDS...` in a folder: probe(folder, words, options, settings of Popen...)."""
    source = guests("probe", PROBE, "-static")

    def count(folder, words=(), options=(), program=cli.program, command="./probe", finish=None, **settings):
        folder.mkdir(exist_ok=True)
        if not (folder / "probe").exists():
            shutil.copy(source, folder)
        settings = {"env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **settings}
        done = subprocess.Popen([program, "run", "--summary", *options, command, *words], cwd=folder,
                                **{"stderr": subprocess.PIPE, **settings})
        if finish:
            finish(done)
        err = done.communicate(timeout=900)[1].decode()
        assert done.returncode == 0, err
        return int(err.split("cyclescope: ")[1].split()[0])
    return count


def test_in_two_folders(cli, probe):
    folders = cli.work / "a", cli.work / "a folder with a much longer name"
    first, second = (probe(folder) for folder in folders)
    assert first == second
    absolute = [probe(folder, command=str(folders[0] / "probe")) for folder in folders]
    assert absolute[0] == absolute[1]
    assert probe(folders[1], ["x"], ["--chdir", str(folders[1])]) != probe(folders[1], ["x"]), "the probe is blind"


def test_as_two_users(cli, probe):
    if os.geteuid() != 0:
        pytest.skip("only root can start a program as another user")
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        shutil.copy(cli.program, folder / "cyclescope")
        (folder / "work").mkdir(mode=0o777)
        own = [probe(folder / "work", program=folder / "cyclescope", **user)
               for user in ({}, {"user": 65534, "group": 65534, "extra_groups": []})]
        assert own[0] == own[1]
        assert own[0] != probe(folder / "work", options=["--host-user"]), "the probe is blind"
    finally:
        shutil.rmtree(folder)


IGNORED = signal.SIGHUP, signal.SIGINT, signal.SIGQUIT  # by nohup, and by a shell for its jobs in the background


def ignore_signals():
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)


def test_with_ignored_signals(cli, probe):
    folder = cli.work / "a"
    assert probe(folder, preexec_fn=ignore_signals) == probe(folder)
    assert probe(folder, options=["--host-streams"], preexec_fn=ignore_signals) != \
        probe(folder, options=["--host-streams"]), "the probe is blind"


def test_ignored_signals_do_not_end_the_guest(cli, guests):
    reads = guests("reads", '#include <unistd.h>\nint main(void) { char c; write(1, "ready", 5); return read(0, &c, 1) != 1; }', "-static")
    run = cli.spawn(cli.command("run", reads), stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=ignore_signals)
    assert run.stdout.read(5) == b"ready"
    for number in IGNORED:
        run.send_signal(number)
    assert run.communicate(b"x", timeout=900)[0] == b"" and run.returncode == 0


def test_with_any_kind_of_standard_output(cli, probe, tmp_path):
    folder = cli.work / "a"
    expected = probe(folder)
    ours, its = pty.openpty()
    with open(tmp_path / "out", "w") as out, open(tmp_path / "added", "a+") as added:
        assert probe(folder, stdout=out) == expected
        assert probe(folder, stdout=added) == expected
        assert probe(folder, stdout=subprocess.PIPE) == expected
        assert probe(folder, stdout=its) == expected
        assert probe(folder, stdin=its, stdout=its) == expected
        assert probe(folder, stdin=its, stdout=its, start_new_session=True) == expected
        assert probe(folder, stdin=its, stdout=its, process_group=0) == expected
    assert probe(folder, options=["--host-streams"], stdout=its) != expected, "the probe is blind"
    os.close(ours)
    os.close(its)


@pytest.mark.parametrize("sizes", [(65536,), (1,), (7, 1, 999), (4096, 3)], ids=lambda s: "-".join(map(str, s)))
def test_through_a_pipe_in_pieces(cli, probe, sizes):
    data = bytes(range(256)) * 12

    def feed(process):
        at = step = 0
        while at < len(data):
            process.stdin.write(data[at:at + sizes[step % len(sizes)]])
            process.stdin.flush()
            at, step = at + sizes[step % len(sizes)], step + 1
        process.stdin.close()
        process.stdin = None

    whole = probe(cli.work / "a", ["read"], stdin=subprocess.PIPE, finish=lambda p: feed_whole(p, data))
    assert probe(cli.work / "a", ["read"], stdin=subprocess.PIPE, finish=feed) == whole


def feed_whole(process, data):
    process.stdin.write(data)
    process.stdin.close()
    process.stdin = None


def test_with_any_environment_mask_limits_and_descriptors(cli, probe):
    folder = cli.work / "a"
    expected = probe(folder)

    def change():
        os.umask(0o077)
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    left_open = os.open("/dev/null", os.O_RDONLY)
    assert probe(folder, env={**ENVIRONMENT, "LANG": "de_DE.UTF-8", "A": "b" * 5000}) == expected
    assert probe(folder, env={}) == expected
    assert probe(folder, preexec_fn=change) == expected
    assert probe(folder, pass_fds=[left_open]) == expected
    os.close(left_open)
    assert probe(folder, options=["--env-pass"], env={**ENVIRONMENT, "A": "b" * 5000}) != expected, "the probe is blind"


READS_A_DESCRIPTOR = r"""
#include <stdio.h>
int main(int n, char **argv)
{
    char line[100];
    FILE *f = fopen(argv[1], "r");
    puts(f && fgets(line, sizeof line, f) ? line : "nothing");
}
"""


def test_a_descriptor_that_the_command_names_stays_open(cli, guests):
    reads = guests("reads_a_descriptor", READS_A_DESCRIPTOR, "-static")
    words = ["bash", "-c", '"$@" <(echo inside)', "-", *cli.command("run", reads)]
    assert cli.execute(words).out.split() == ["inside"]


WRITES = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void)
{
    char path[4096], buffer[10] = "";
    struct stat st;
    getcwd(path, sizeof path);
    strcat(path, "/made");
    int fd = open(path, O_CREAT | O_RDWR, 0666);
    if (fd < 0 || write(fd, "text", 4) != 4 || symlink(path, "link") != 0)
        return 1;
    fd = open("link", O_RDONLY);
    if (read(fd, buffer, 10) != 4 || stat("/here/../here/made", &st) != 0 || stat("/here/../etc/passwd", &st) != 0)
        return 2;
    return mkdir("sub", 0777) == 0 && chdir("sub") == 0 && getcwd(path, sizeof path) && !strcmp(path, "/here/sub") ? 0 : 3;
}
"""


def test_the_start_folder_is_the_callers(cli, guests):
    """Its name for the guest leads to the real folder, also through links that the guest makes."""
    cli.run("run", guests("writes", WRITES, "-static"), preexec_fn=lambda: os.umask(0o077))
    assert (cli.work / "made").read_text() == "text" and (cli.work / "link").read_text() == "text"
    assert (cli.work / "made").stat().st_mode & 0o777 == 0o600


STATUS = r"""
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>
static void work(unsigned long n) { for (volatile unsigned long i = 0; i < n % 9973; i++); }
static void look(const char *path)
{
    struct stat st;
    struct statfs fs;
    lstat(path, &st);
    work(st.st_dev), work(st.st_ino), work(st.st_nlink), work(st.st_size), work(st.st_blksize), work(st.st_blocks);
    work(st.st_mtim.tv_sec), work(st.st_mtim.tv_nsec), work(st.st_ctim.tv_sec), work(st.st_ctim.tv_nsec);
    work(st.st_atim.tv_sec), work(st.st_atim.tv_nsec), work(st.st_uid);
    statfs(path, &fs);
    work(fs.f_type), work(fs.f_blocks), work(fs.f_bavail), work(fs.f_ffree), work(fs.f_fsid.__val[0]);
}
int main(void)
{
    char line[200];
    int fd = open("made", O_CREAT | O_RDWR, 0644);
    mkdir("folder", 0755);
    for (int i = 0; i < 100; i++)
        write(fd, line, sizeof line);
    for (int i = 0; i < 3; i++) { /* the host may use the inode of the last one again */
        snprintf(line, sizeof line, "made%d", i);
        close(open(line, O_CREAT | O_WRONLY, 0644));
        look(line);
        unlink(line);
    }
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, "..")) {
            work(e->d_ino);
            look(e->d_name);
        }
    mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c; (c = getc(maps)) != EOF;)
        work(c);
    look("/dev/null");
    look("/proc/self/maps");
    rename("made", "folder/made");
    look("folder");
    unlink("folder/made");
    rmdir("folder");
}
"""


def test_on_any_file_system_and_at_any_time(cli, guests):
    """Twice in one folder, and in folders on other file systems: numbers, times and sizes of files are the same."""
    source, counts = guests("status", STATUS, "-static"), {}
    for parent in "/tmp", "/dev/shm", cli.work:
        if not os.access(parent, os.W_OK):
            continue
        folder = Path(tempfile.mkdtemp(dir=parent))
        shutil.copy(source, folder / "status")
        (folder / "given").write_text("given")
        for name in "given", "status", ".":
            os.utime(folder / name, (1, 1_700_000_000))
        for again in range(2):
            result = cli.execute(cli.command("run", "--summary", "./status"), cwd=folder)
            counts[f"{parent} {again}"] = int(result.err.split("cyclescope: ")[1].split()[0])
            os.utime(folder, (1, 1_700_000_000))
        shutil.rmtree(folder)
    assert len(set(counts.values())) == 1, counts
