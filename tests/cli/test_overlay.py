"""The sysroot is not written to: changes go to an overlay that all processes of a run see and that ends with the run."""
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from conftest import ENVIRONMENT, PROJECT

SOURCE = (PROJECT / "tests/guest/overlay/overlay.c").read_text()
SYSROOT = Path(os.environ.get("CYCLESCOPE_SUITE", Path.home() / ".cache/cyclescope/suite")) / "sysroot"
LEFT = "child/deep/link/locked/program/same/to/uno/"  # what the guest sees in /data at its end


@pytest.fixture
def root(cli, guests):
    """A sysroot with the guest and the folder that it changes."""
    root = cli.work / "root"
    (root / "data/deep/down").mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "etc").mkdir()
    for name, text in {"one": "first\n", "two": "second\n", "locked": "", "deep/other": "other\n", "deep/third": "third\n",
                       "deep/down/leaf": "leaf\n"}.items():
        (root / "data" / name).write_text(text)
    (root / "data/locked").chmod(0o444)
    (root / "data/link").symlink_to("one")
    shutil.copy(guests("overlay", SOURCE, "-static", f"-I{PROJECT}/tests/guest"), root / "bin/overlay")
    return root


def listing(root):
    """Every file below a folder with all that a change would show in."""
    found = {}
    for path in sorted(root.rglob("*")):
        st = path.lstat()
        text = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(root))] = (st.st_mode, st.st_nlink, st.st_mtime_ns, text)
    return found


@pytest.fixture
def scratch(cli):
    """A folder for the run's temporary files, and the environment that names it."""
    folder = cli.work / "scratch"
    folder.mkdir()
    return {**ENVIRONMENT, "TMPDIR": str(folder)}


def left_over(cli):
    return [path.name for path in (cli.work / "scratch").iterdir()]


@pytest.mark.smoke
@pytest.mark.parametrize("options", [[], ["--isolate"]], ids=["plain", "isolated"])
def test_the_sysroot_stays_as_it_was(cli, root, scratch, options):
    before = listing(root)
    words = ["run", "--summary", "--sysroot", "root", *options, "/bin/overlay"]
    first = cli.run(*words, env=scratch)
    assert first.out.strip() == LEFT and listing(root) == before and left_over(cli) == []
    second = cli.run(*words, env=scratch)
    count = lambda result: result.err.split(" instructions")[0]
    assert second.out == first.out and count(second) == count(first)
    assert not Path("/etc/cyclescope-made").exists()


def test_write_sysroot_keeps_the_changes(cli, root):
    assert cli.run("run", "--write-sysroot", "--sysroot", "root", "--isolate", "/bin/overlay", "kept").out.strip() == LEFT
    assert "/".join(sorted(os.listdir(root / "data"))) + "/" == LEFT
    assert (root / "etc/cyclescope-made").read_text() == "x"


def test_a_user_without_rights_to_the_sysroot(cli, root):
    if os.geteuid() != 0:
        pytest.skip("only root can start a program as another user")
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        shutil.copytree(root, folder / "root", symlinks=True)
        shutil.copy(cli.program, folder / "cyclescope")
        results = []
        for user in {}, {"user": 65534, "group": 65534, "extra_groups": []}:
            result = cli.execute([folder / "cyclescope", "run", "--summary", "--sysroot", folder / "root", "/bin/overlay"],
                                 cwd=folder, **user)
            assert result.status == 0, result.err
            results.append((result.out, result.err.split(" instructions")[0]))
        assert results[0] == results[1]
    finally:
        shutil.rmtree(folder)


def test_results_in_the_start_folder_are_kept(cli, root, guests):
    """Also if it lies in the sysroot."""
    (root / "work").mkdir()
    writes = guests("writes", '#include <stdio.h>\nint main(void) { fputs("kept", fopen("result", "w")); '
                              'fputs("not", fopen("/data/one", "w")); }', "-static")
    shutil.copy(writes, root / "bin/writes")
    cli.execute(cli.command("run", "--sysroot", root, "/bin/writes"), cwd=root / "work")
    assert (root / "work/result").read_text() == "kept" and (root / "data/one").read_text() == "first\n"


def test_system_folders_of_the_sysroot_hide_those_of_the_host(cli, root, guests):
    """What the host has installed changes nothing; folders that the sysroot lacks, and those of users, are the host's."""
    reads = guests("reads", '#include <stdio.h>\nint main(int n, char **name) { while (--n) puts(fopen(*++name, "r") ? "yes" : "no"); }',
                   "-static")
    shutil.copy(reads, root / "bin/reads")
    mine = cli.work / "mine"
    mine.write_text("text")
    host = ["/usr/bin/env", "/etc/passwd", "/bin/sh", str(mine)]
    assert all(Path(name).exists() for name in host)

    def seen():
        return cli.run("run", "--sysroot", "root", "/bin/reads", *host).out.split()

    assert seen() == ["yes", "no", "no", "yes"]  # the sysroot has no /usr
    (root / "usr").mkdir()
    assert seen() == ["no", "no", "no", "yes"]


SAVED = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void)
{
    char text[20] = "";
    struct stat st;
    int made = open("/data/made", O_CREAT | O_RDWR, 0640);
    write(made, "made", 4);
    unlink("/data/two");
    mkdir("/data/deep/dir", 0700);
    symlink("made", "/data/soft");
    for (volatile int i = 0; i < 1000000; i++);
    lseek(made, 0, SEEK_SET);
    read(made, text, 10);
    if (strcmp(text, "made") || stat("/data/soft", &st) || st.st_size != 4 || (st.st_mode & 0777) != 0640)
        return 1;
    if (stat("/data/two", &st) == 0 || stat("/data/deep/dir", &st) || (st.st_mode & 0777) != 0700)
        return 2;
    return write(made, "!", 1) == 1 && stat("/data/made", &st) == 0 && st.st_size == 5 ? 42 : 3;
}
"""


def test_a_checkpoint_has_the_changes(cli, root, scratch, guests):
    shutil.copy(guests("saved", SAVED, "-static"), root / "bin/saved")
    before = listing(root)
    cli.run("checkpoint", "--quiet", "--at", "1M", "-o", "point", "--sysroot", "root", "/bin/saved", env=scratch)
    for _ in range(2):
        cli.run("run", "--restore", "point", status=42, env=scratch)
    assert listing(root) == before and left_over(cli) == []


def test_copies_see_the_changes(cli, root, scratch, guests):
    shutil.copy(guests("saved", SAVED, "-static"), root / "bin/saved")
    before = listing(root)
    cli.run("stat", "--quiet", "--systematic", "--period", "200K", "--window", "5K", "--sysroot", "root", "/bin/saved",
            status=42, env=scratch)
    assert listing(root) == before and left_over(cli) == []


def test_a_killed_run_is_swept_up_by_the_next(cli, root, scratch):
    stale = cli.work / "scratch/cyclescope-sysroot-abcdef"
    (stale / "upper/etc").mkdir(parents=True)
    (stale / "upper/etc/file").write_text("x")
    cli.run("run", "--sysroot", "root", "/bin/overlay", env=scratch)
    assert left_over(cli) == []


def test_python_compiles_its_modules_in_every_run(cli, scratch):
    """On a sysroot without .pyc files: twice the same count, and no file written."""
    if not (SYSROOT / "usr/bin/python3").exists():
        pytest.skip(f"no suite at {SYSROOT}: `make suite` assembles it")
    root = cli.work / "root"
    (root / "usr/bin").mkdir(parents=True)
    shutil.copy(SYSROOT / "usr/bin/python3", root / "usr/bin")
    version = next((SYSROOT / "usr/lib").glob("python3.*"))
    shutil.copytree(version, root / "usr/lib" / version.name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for pattern in "usr/lib/ld-linux*", *(f"usr/lib/riscv64-linux-gnu/{n}.so*" for n in ("ld-*", "libc", "libm", "libz", "libexpat")):
        for path in SYSROOT.glob(pattern):
            to = root / path.relative_to(SYSROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)
    (root / "lib").symlink_to("usr/lib")
    before = listing(root)
    words = ["run", "--summary", "--sysroot", "root", "/usr/bin/python3", "-c", "import json; print(json.__cached__)"]

    def count(*words):
        result = cli.run(*words, env=scratch)
        assert "__pycache__" in result.out
        return int(result.err.split("cyclescope: ")[1].split()[0])

    counts = [count(*words), count(*words)]
    assert counts[0] == counts[1] and listing(root) == before and left_over(cli) == []
    count("run", "--write-sysroot", *words[1:])
    assert count(*words) < counts[0] / 2, "compiled modules were not found"
