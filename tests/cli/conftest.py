"""What the command-line tests share: the program under test, guest programs, and how a mistake is expected to be reported.

Every command runs in the test's own folder with the same small environment, so that paths, the size of the environment and
the caller's terminal change nothing. Markers choose what runs with the sanitized build: `mistake` (one wrong command line
each) and `smoke` (one run of each command). `slow` tests run in `make check-all` only.
"""
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from pages import unwrapped

# A caller may have left these ignored (nohup, a background job of a shell); commands under test must not inherit that.
for number in signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD:
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

PROJECT = Path(__file__).resolve().parents[2]
CROSS = os.environ.get("CROSS", "riscv64-linux-gnu-")
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
PATIENCE_SECONDS = 900  # for a command that hangs; no test depends on how long anything takes


def pytest_addoption(parser, pluginmanager):
    if not pluginmanager.has_plugin("terminal"):  # which has the option that assertions of lists look at
        parser.addoption("--verbose", type=int, default=0)
    parser.addoption("--cyclescope", default=str(PROJECT / "build/cyclescope"), help="the program under test")
    parser.addoption("--tap", action="store_true", help="print `ok NAME` and `not ok NAME: why` lines")


def pytest_configure(config):
    config.addinivalue_line("markers", "mistake: a wrong command line, which must get one clear sentence")
    config.addinivalue_line("markers", "smoke: the one run of each command that the sanitized build repeats")
    config.addinivalue_line("markers", "slow: runs in `make check-all` only")
    config.option.verbose = getattr(config.option, "verbose", 0)  # explanations of failures need it
    global _tap
    _tap = config.getoption("--tap")


_tap = False


def pytest_runtest_logreport(report):
    if not _tap:
        return
    name = report.nodeid.split("::", 1)[1].replace(" ", "_")
    if report.skipped:
        expected = getattr(report, "wasxfail", None)  # the reason of a failure that is expected
        print(f"skip {name}: {report.longrepr[2] if expected is None else 'fails: ' + expected}", flush=True)
    elif report.failed:
        why = str(report.longrepr).strip()
        lines = [line[1:].strip() for line in why.splitlines() if line.startswith("E")] or why.splitlines()[-1:]
        print(f"not ok {name}: {' | '.join(lines)[:600]}", flush=True)
        print(why, flush=True)
    elif report.when == "call":
        print(f"ok {name}", flush=True)


class Result:
    """What a command left: `status` (negative: killed by that signal), `out`, `err`."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def says(self, pattern):
        """Whether standard error has this, also in a paragraph that is broken into lines."""
        return any(re.search(pattern, text, re.M) for text in (self.err, unwrapped(self.err)))


class Commands:
    """Runs commands in one folder, `work`."""

    def __init__(self, program, work):
        self.program, self.work = str(Path(program).resolve()), Path(work)

    def command(self, *words):
        return [self.program, *map(str, words)]

    def spawn(self, words, **options):
        """Starts any command in its own process group: Popen, to be waited for by the caller."""
        settings = {"cwd": self.work, "env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "start_new_session": True, **options}
        return subprocess.Popen([str(w) for w in words], **settings)

    def spawn_bytes(self, words, **options):
        """The same with words that are bytes, which need not be UTF-8."""
        settings = {"cwd": self.work, "env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "start_new_session": True, **options}
        return subprocess.Popen(words, **settings)

    def execute(self, words, stdin=None, **options):
        """Runs any command to its end."""
        if stdin is not None:
            options["stdin"] = subprocess.PIPE
        process = self.spawn(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        try:
            out, err = process.communicate(stdin, timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            pytest.fail(f"hangs: {' '.join(map(str, words))}")
        decode = lambda b: b.decode("utf-8", "surrogateescape")
        return Result(process.returncode, decode(out), decode(err))

    def run(self, *words, status=0, **options):
        """Runs cyclescope and expects this exit status; None: any."""
        result = self.execute(self.command(*words), **options)
        assert status is None or result.status == status, f"status {result.status}: {result.err[:600]}"
        return result

    def report(self, *words, status=0, json_name="json", **options):
        """Runs cyclescope with --quiet --json: the report, with the keys of the JSON."""
        command, *rest = words
        self.run(command, "--quiet", "--json", json_name, *rest, status=status, **options)
        return self.json(json_name)

    def json(self, name="json"):
        return json.loads((self.work / name).read_text())

    def complains(self, pattern, *words, **options):
        """Status 125, one line on standard error that matches, nothing on standard output."""
        self.check_complaint(pattern, self.execute(self.command(*words), **options))

    @staticmethod
    def check_complaint(pattern, result):
        assert result.status == 125, f"status {result.status}: {result.err[:600]}"
        lines = result.err.splitlines()
        assert len(lines) == 1 and re.match("cyclescope: .*" + pattern, lines[0]), f"says: {result.err[:600]}"
        assert result.out == ""


@pytest.fixture(scope="session")
def program(request):
    return request.config.getoption("--cyclescope")


@pytest.fixture(scope="module")
def guests(tmp_path_factory):
    """Compiles guest programs into a folder of the module: guests(NAME, SOURCE, FLAGS...) gives the path."""
    folder = tmp_path_factory.mktemp("guests")

    def compile_guest(name, source, *flags):
        to = folder / name
        if not to.exists():
            words = [CROSS + "gcc", "-O1", "-w", "-x", "c", "-o", to, "-", *flags]
            done = subprocess.run([str(w) for w in words], input=source.encode(), cwd=folder, capture_output=True)
            assert done.returncode == 0, done.stderr.decode()
        return to

    compile_guest.folder = folder
    return compile_guest


# Modules with `BESIDE_WORK = True` run their commands in folders that have `./work`. The path of a guest changes its counts, so
# runs that are compared must give it the same one.
def with_guests(commands, request):
    if getattr(request.module, "BESIDE_WORK", False):
        shutil.copy(request.getfixturevalue("work"), commands.work)
    return commands


@pytest.fixture
def cli(program, tmp_path, request):
    """Commands in an empty folder."""
    yield with_guests(Commands(program, tmp_path), request)
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture(scope="module")
def module_cli(program, tmp_path_factory, request):
    """Commands in a folder that the tests of a module share: for results that several tests look at."""
    return with_guests(Commands(program, tmp_path_factory.mktemp("shared")), request)


# `work [N [M]]`: N branches that cannot be predicted, so that there is a wrong path, and M more in a process that it
# forks. Prints `done` and exits with 3; with M, with 5.
WORK_SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned state = 1, taken;
static void toss(int n)
{
    static char heap[1 << 16];
    while (n--) {
        state = state * 1103515245 + 12345;
        if (state >> 16 & 1)
            taken += heap[state >> 8 & 0xffff]++;
    }
}
int main(int argc, char **argv)
{
    toss(argc > 1 ? atoi(argv[1]) : 1000);
    if (argc > 2 && fork() == 0) {
        toss(atoi(argv[2]));
        _exit(5);
    }
    int status = 0;
    if (argc > 2)
        wait(&status);
    puts("done");
    return argc > 2 ? WEXITSTATUS(status) : 3;
}
"""


@pytest.fixture(scope="module")
def work(guests):
    return guests("work", WORK_SOURCE, "-static")


@pytest.fixture(scope="module")
def abort(guests):
    """Dies by SIGABRT."""
    return guests("abort", "#include <stdlib.h>\nint main(void) { abort(); }", "-static")


@pytest.fixture(scope="module")
def closes(guests):
    """Closes its standard output and standard error."""
    return guests("closes", "#include <unistd.h>\nint main(void) { close(1); close(2); return 0; }", "-static")


@pytest.fixture(scope="module")
def silent(guests):
    """Loops for a while and prints nothing."""
    return guests("silent", "int main(void) { volatile int sum = 0; for (int i = 0; i < 20000; i++) sum += i; return 0; }",
                  "-static")
