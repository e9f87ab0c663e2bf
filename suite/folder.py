"""The suite's folder: where it is, how it is built, and the results of its programs under qemu.

    recipe, packages.txt   written by build.sh
    sysroot/               the guest's root folder
    sysroot/suite/in       inputs, written by inputs.py
    sysroot/suite/run      working folders of runs
    oracle/                results of qemu runs on this machine
    failed/                outputs that differed in the last check
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import guest

HERE = Path(__file__).resolve().parent
MAKERS = ("inputs.py", "further_inputs.py", "material.py")
UNAVAILABLE = 3  # exit status of build.sh: no packages here
INCOMPLETE = 4   # exit status of inputs.py: some inputs are missing


def default_path():
    """The same folder that build.sh takes by default."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("CYCLESCOPE_SUITE") or Path(cache) / "cyclescope" / "suite")


class Suite:
    def __init__(self, path=None):
        self.path = Path(path or default_path()).absolute()
        self.sysroot = self.path / "sysroot"
        self.inputs = self.sysroot / "suite" / "in"

    def prepare(self):
        """Builds packages and inputs if they are missing or stale."""
        command = [HERE / "build.sh", self.path]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as build:
            line = ""
            for line in build.stderr:
                print(line, end="", file=sys.stderr, flush=True)
        if build.returncode == UNAVAILABLE:
            raise guest.Unavailable(line.strip().removeprefix("suite: "))
        if build.returncode != 0:
            sys.exit(1)  # build.sh has printed the reason
        with guest.exclusive(self.path / "inputs.lock"):
            self._prepare_inputs()

    def _prepare_inputs(self):
        stamp = self.path / "inputs.recipe"
        recipe = _digest(*((HERE / name).read_bytes() for name in MAKERS), self._packages())
        if stamp.exists() and stamp.read_text() == recipe:
            return
        fresh = self.inputs.with_name("in.new")
        shutil.rmtree(fresh, ignore_errors=True)
        made = subprocess.run([sys.executable, HERE / "inputs.py", self.sysroot, fresh], check=False)
        if made.returncode not in (0, INCOMPLETE):
            sys.exit(1)
        stamp.unlink(missing_ok=True)
        shutil.rmtree(self.inputs, ignore_errors=True)
        fresh.rename(self.inputs)
        if made.returncode == 0:
            stamp.write_text(recipe)

    def missing_input(self, case):
        """The first input of a case that does not exist; None if all do."""
        return next((name for name in case.inputs()
                     if not any(self.inputs.glob(name + "*"))), None)  # bart adds suffixes to a name

    def identity(self):
        """A digest that changes with any package or input."""
        return _digest(self._packages(), (self.inputs / "SHA256SUMS").read_bytes())

    def _packages(self):
        return (self.path / "packages.txt").read_bytes()


class Oracle:
    """Results of qemu-riscv64.  They are saved in the suite's folder, and valid as long as packages, inputs, the row of
    programs.toml and qemu are the same."""

    def __init__(self, suite, timeout):
        self.suite = suite
        self.timeout = timeout
        self.qemu = guest.Qemu(suite.sysroot)

    def expected(self, case):
        """Comparable outputs of a successful run, by name."""
        kept = self.suite.path / "oracle" / f"{case.program}.{case.size}"
        key = _digest(json.dumps([
            self.suite.identity(), self.qemu.version, guest.ENVIRONMENT,
            case.argv, case.stdin, case.env, case.mask, case.ignore]).encode())
        with guest.exclusive(kept.with_suffix(kept.suffix + ".lock")):
            if not (kept / key).is_dir():
                self._ask_qemu(case, kept, key)
            return {str(path.relative_to(kept / key)): path.read_bytes()
                    for path in (kept / key).rglob("*") if path.is_file()}

    def _ask_qemu(self, case, kept, key):
        result = guest.run(self.qemu, case, self.suite.sysroot, self.timeout)
        self._require_success(case, result)
        fresh = kept.with_name(kept.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        write_outputs(fresh / key, case.comparable(result.outputs))
        shutil.rmtree(kept, ignore_errors=True)
        fresh.rename(kept)

    def _require_success(self, case, result):
        if result.status == 0:
            return
        if not self.qemu.complete:
            raise guest.Unavailable("qemu fails without a chroot, which needs root or user namespaces")
        end = "takes too long" if result.status is None else f"ends with status {result.status}"
        raise RuntimeError(f"{case.program} {end} under qemu: {last_line(result.outputs['stderr'])}")


def write_outputs(folder, outputs):
    for name, content in outputs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def last_line(content):
    text = content.decode(errors="replace").strip().splitlines()
    return text[-1] if text else "no message"


def _digest(*contents):
    return hashlib.sha256(b"\0".join(contents)).hexdigest()[:32]
