"""`cyclescope run` as a user meets it: what works, how guests die, and what each mistake says."""
import os
import re
import shutil
import signal
import subprocess

import pytest

from conftest import CROSS, PROJECT

TARGET = "/usr/" + CROSS.rstrip("-")  # the cross compiler's libraries: a sysroot for small programs

HELLO = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("%s\n", argv[i]);
    if (getenv("GREETING"))
        puts(getenv("GREETING"));
    return argc;
}
"""
PIE = r"""
void _start(void)
{
    __asm__ volatile("lla a1, 1f; li a0, 1; li a2, 4; li a7, 64; ecall; li a0, 7; li a7, 93; ecall; 1: .ascii \"pie\n\"");
}
"""


@pytest.fixture(scope="module")
def hello(guests):
    return guests("hello", HELLO, "-static")


@pytest.fixture(scope="module")
def dynamic(guests):
    return guests("dynamic", "int main(void) { return 0; }")


@pytest.mark.smoke
def test_exit_status_and_output_pass_through(cli, hello):
    assert cli.run("run", hello, "a", "b c", status=3).out == "a\nb c\n"


def test_dashes_end_the_options(cli, hello):
    assert cli.run("run", "--", hello, "--summary", status=2).out == "--summary\n"


def test_arguments_behind_the_program_are_the_programs(cli, hello):
    assert cli.run("run", hello, "--help", status=2).out == "--help\n"


def test_env_sets_a_variable(cli, hello):
    assert cli.run("run", "--env", "GREETING=hi", hello, status=1).out == "hi\n"


def test_env_replaces_an_inherited_variable(cli, hello):
    result = cli.run("run", "--env-pass", "--env=GREETING=hi", hello, status=1, env={"GREETING": "bye"})
    assert result.out == "hi\n"


def test_a_static_pie_runs(cli, guests):
    pie = guests("pie", PIE, "-static-pie", "-fPIE", "-nostdlib", "-Wl,--no-dynamic-linker")
    assert cli.run("run", pie, status=7).out == "pie\n"


def test_a_dynamic_program_runs_with_a_sysroot(cli, dynamic):
    assert cli.run("run", "--sysroot", TARGET, dynamic).out == ""


def test_help_of_run_lists_its_options(cli):
    assert "--sysroot DIR" in cli.run("run", "--help").out


def test_summary(cli, hello):
    result = cli.run("run", "--summary", hello, status=1)
    assert result.says(r"^cyclescope: [0-9]+ instructions, [0-9.]+ seconds, [0-9.]+ MIPS$")


def test_summary_and_json_though_the_guest_closes_everything(cli, closes):
    result = cli.run("run", "--summary", "--json", "-", closes)
    assert "instructions" in result.err and '"instructions"' in result.out


def test_the_instruction_count_repeats(cli, hello):
    for name in "first", "second":
        cli.run("run", f"--summary={name}", hello, status=1)
    first, second = ((cli.work / name).read_text().split(",")[0] for name in ("first", "second"))
    assert first == second and "instructions" in first


def test_json(cli, hello):
    r = cli.report("run", hello, "x", status=2)
    assert r["command"] == "run" and r["exit_status"] == 2 and r["instructions"] > 1000 and r["version"]
    assert r["program"].endswith("/hello") and r["host"]["seconds"] > 0 and r["host"]["mips"] > 0


def numbers_in_strings(value, place=""):
    """Where a report has a number as a text."""
    if isinstance(value, dict):
        return [p for key, v in value.items() if key != "argv" for p in numbers_in_strings(v, f"{place}.{key}")]
    if isinstance(value, list):
        return [p for v in value for p in numbers_in_strings(v, place + "[]")]
    return [place] if isinstance(value, str) and re.fullmatch(r"[0-9][0-9,]*(\.[0-9]+)?", value) else []


@pytest.mark.parametrize("command", ["run", "stat", "stat -e loads", "stat --interval 10K", "stat --multiplex -e loads",
                                     "stack --method all", "stalls", "phases --interval 10K", "validate counters",
                                     "validate stalls", "validate overhead", "validate what-if"])
def test_json_has_the_arguments_as_they_are_and_numbers_as_numbers(cli, work, command):
    shutil.copy(work, cli.work / "work")
    limit = ["--max-insns", "20K"] if command.startswith("validate") else []
    cli.run(*command.split(), "--quiet", "--json", "json", *limit, "./work", "10", "", "a  b\n'c'", status=None)
    report = cli.json()
    assert report["argv"] == ["./work", "10", "", "a  b\n'c'"]
    assert numbers_in_strings(report) == []


def test_a_session_has_an_id_in_another_pid_namespace(cli, guests):
    session = guests("session", "#include <unistd.h>\nint main(void) { return getsid(0) <= 0 || getpgid(0) <= 0; }", "-static")
    unshare = ["unshare", "-p", "-f"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        pytest.skip("unshare is not permitted here")
    assert cli.execute([*unshare, *cli.command("run", session)]).status == 0


@pytest.mark.parametrize("name, status, body", [
    ("abort", 134, "abort();"),
    ("bad_jump", 139, "((void (*)(void))0x1234567000)();"),
    ("null_store", 139, "*(volatile int *)0 = 1;"),
    ("stack_overflow", 139, "return f(n + 1) + n;"),
    ("kernel_address", 139, "return *(volatile int *)0xffffffff80000000;"),
    ("illegal", 132, '__asm__ volatile(".4byte 0");'),
    ("breakpoint", 133, '__asm__ volatile("ebreak");'),
    ("endless_allocation", 3, "for (;;) { char *p = malloc(1 << 20); if (!p) exit(3); p[n % 4096] = 1; }"),
])
def test_a_guest_dies(cli, guests, name, status, body):
    guest = guests(name, "#include <stdlib.h>\n__attribute__((noinline)) int f(volatile int n) { %s }\n"
                         "int main(void) { return f(1); }" % body, "-static")
    assert cli.run("run", "--quiet", "--memory", "512M", guest, status=status).out == ""


@pytest.mark.parametrize("way", ["protect", "read", "memfd", "write", "dropped", "execve"])
def test_the_memory_limit_counts_what_the_guest_can_keep(cli, guests, way):
    source = (PROJECT / "tests/guest/limit/limit.c").read_text()
    cli.run("run", "--memory", "64M", guests("limit", source, "-static", "-D_GNU_SOURCE"), way)


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("no program given", "run"),
    ("unknown option '--sumary'.*--summary", "run --sumary ./hello"),
    ("--sysroot needs a value", "run --sysroot"),
    ("--seed needs a number, not 'many'", "run --seed many ./hello"),
    ("--memory needs a size", "run --memory 12X ./hello"),
    ("--isolate takes no value", "run --isolate=yes ./hello"),
    ("--env needs NAME=VALUE", "run --env GREETING ./hello"),
    ("--env-pass and --isolate exclude each other", "run --env-pass --isolate --sysroot . ./hello"),
    ("no such folder", "run --sysroot /no/such/folder ./hello"),
    ("is a file, not a folder", "run --sysroot ./hello ./hello"),
    ("--isolate needs --sysroot", "run --isolate ./hello"),
    ("--bind needs --isolate", "run --bind /tmp ./hello"),
    ("no such folder", "run --isolate --sysroot . --bind /no/where ./hello"),
    ("/no/where", "run --chdir /no/where ./hello"),
    ("there is no .*missing", "run ./missing"),
    (r"chmod \+x", "run ./plain"),
    ("is a (directory|folder)", "run ./"),
    (r"needs the interpreter /lib/ld-linux-riscv64-lp64d\.so\.1.*--sysroot", "run ./dynamic"),
    ("relocatable", "run ./object"),
    ("x86-64", "run /bin/true"),
    ("empty", "run ./empty"),
    ("not an ELF", "run ./text"),
    ("32-bit", "run ./32-bit"),
    ("big-endian", "run ./big-endian"),
    ("(AArch64|aarch64|ARM64)", "run ./other-machine"),
    ("truncated", "run ./cut-header"),
    ("truncated", "run ./cut"),
    ("/no/where/count", "run --summary=/no/where/count ./hello"),
])
def test_a_mistake_gets_a_sentence(cli, files_to_mistake, pattern, words):
    for f in files_to_mistake.iterdir():
        shutil.copy(f, cli.work)
    cli.complains(pattern, *words.split())


@pytest.fixture(scope="module")
def files_to_mistake(guests, hello, dynamic, tmp_path_factory):
    """Programs that cannot run, each for its reason."""
    to = tmp_path_factory.mktemp("mistakes")
    image = hello.read_bytes()

    def put(name, content, mode=0o755):
        (to / name).write_bytes(content)
        (to / name).chmod(mode)

    def patched(offset, value):
        return image[:offset] + bytes([value]) + image[offset + 1:]

    put("hello", image)
    put("plain", image, 0o644)
    put("dynamic", dynamic.read_bytes())
    put("object", guests("object", "int x;", "-c").read_bytes())
    put("empty", b"")
    put("text", b"just some text\n")
    put("32-bit", patched(4, 1))
    put("big-endian", patched(5, 2))
    put("other-machine", patched(18, 0o267))
    put("cut-header", image[:40])
    put("cut", image[:5000])
    return to


@pytest.mark.mistake
def test_a_missing_library_is_named(cli, guests):
    guests("libgone.so", "int gone(void) { return 0; }", "-shared", "-fPIC", "-nostdlib")
    needs = guests("needs-library", "int gone(void); int main(void) { return gone(); }", "-L.", "-lgone")
    result = cli.run("run", "--sysroot", TARGET, needs, status=125)
    assert result.err.count("\n") == 1 and "libgone.so" in result.err


@pytest.mark.mistake
def test_an_unreadable_program_is_refused(cli, hello):
    unreadable = cli.work / "unreadable"
    shutil.copy(hello, unreadable)
    unreadable.chmod(0)
    command = cli.command("run", "./unreadable")
    if os.getuid() == 0:  # root reads everything: another user tries, with a copy that it can reach
        for folder in [cli.work, *cli.work.parents][:4]:
            folder.chmod(folder.stat().st_mode | 0o055)
        shutil.copy(cli.program, cli.work / "copy")
        command = ["setpriv", "--reuid", "65534", "--clear-groups", "./copy", "run", "./unreadable"]
    cli.check_complaint("cannot be read: permission denied", cli.execute(command))


@pytest.mark.slow
def test_a_limit_of_cpu_time_ends_the_program(cli, guests):
    program = guests("forever", """
        #include <sys/resource.h>
        int main(void) { struct rlimit l = {1, RLIM_INFINITY}; setrlimit(RLIMIT_CPU, &l); for (;;); }
        """, "-static")
    result = cli.run("run", program, status=128 + signal.SIGXCPU)
    assert "SIGXCPU" in result.err


# ---- messages

SAYS = r"""
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
    close(2);
    if (open("errors", O_WRONLY | O_CREAT | O_TRUNC, 0600) != 2)
        return 10;
    syscall(18); /* lookup_dcookie, which is not implemented */
    char *none[] = {0};
    execve("foreign", none, none); /* a program for another machine */
    return 0;
}
"""


def test_own_messages_do_not_go_to_a_file_of_the_guest(cli, guests):
    shutil.copy(cli.program, cli.work / "foreign")
    result = cli.run("run", guests("says", SAYS, "-static"))
    assert "lookup_dcookie" in result.err and "foreign is an x86-64 program" in result.err, result.err
    assert (cli.work / "errors").read_bytes() == b""


# ---- what the host numbers

RENAMES = r"""
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
int main(void)
{
    char events[4096];
    struct inotify_event e;
    int fd = inotify_init1(0);
    inotify_add_watch(fd, ".", IN_MOVE);
    rename("a", "b");
    rename("b", "a");
    ssize_t bytes = read(fd, events, sizeof events);
    for (ssize_t at = 0; at < bytes; at += sizeof e + e.len) {
        memcpy(&e, events + at, sizeof e);
        printf("%u ", e.cookie);
    }
    return 0;
}
"""


def test_cookies_of_inotify_repeat(cli, guests):
    (cli.work / "a").touch()
    program = guests("renames", RENAMES, "-static")
    assert [cli.run("run", program).out for _ in range(2)] == ["1 1 2 2 "] * 2


# ---- isolation

PRINTS_ENVIRONMENT = r"""
#include <stdio.h>
extern char **environ;
int main(void)
{
    for (char **e = environ; *e; e++)
        puts(*e);
    return 0;
}
"""


def test_an_isolated_guest_sees_nothing_of_the_callers_environment(cli, guests):
    (cli.work / "root").mkdir()
    shutil.copy(guests("prints_environment", PRINTS_ENVIRONMENT, "-static"), cli.work / "root/prints")
    words = ["run", "--isolate", "--sysroot", "root", "--env", "GIVEN=1", "/prints"]
    callers = {"PATH": "/usr/bin:/bin:/caller", "SECRET": "of the caller", "HOME": "/caller", "LANG": "caller"}
    seen = cli.run(*words, env=callers).out.splitlines()
    assert "GIVEN=1" in seen and not [v for v in seen if "caller" in v or v.startswith("SECRET")]
    assert seen == cli.run(*words, env={"PATH": "/usr/bin:/bin"}).out.splitlines()
