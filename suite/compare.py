"""Compares a run with what is expected; results are lines `ok FACT` and `not ok FACT: why`."""

import shutil

import folder


def first_difference(name, got, expected):
    """One sentence on how an output differs from what is expected."""
    if expected is None:
        return f"{name} should not be there"
    if got is None:
        return f"{name} is missing"
    at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b),
              min(len(got), len(expected)))
    return f"{name} differs at byte {at} ({len(got)} bytes, expected {len(expected)})"


def difference(got, expected):
    """The first difference between two sets of outputs; None if they are equal."""
    for name in sorted(got.keys() | expected.keys()):
        if got.get(name) != expected.get(name):
            return first_difference(name, got.get(name), expected.get(name))
    return None


def outputs(suite, fact, got, expected):
    """The line of the fact that two sets of outputs are equal.  If not, both are saved in the suite's folder."""
    kept = suite.path / "failed" / fact
    shutil.rmtree(kept, ignore_errors=True)
    problem = difference(got, expected)
    if not problem:
        return f"ok {fact}"
    folder.write_outputs(kept / "got", got)
    folder.write_outputs(kept / "expected", expected)
    return f"not ok {fact}: {problem}, see {kept}"


def bad_end(result, timeout):
    """A sentence on the end of a run that should have ended with status 0."""
    if result.status is None:
        return f"no end after {timeout} seconds"
    end = f"signal {-result.status}" if result.status < 0 else f"exit status {result.status}"
    return f"{end}, expected 0: {folder.last_line(result.outputs['stderr'])}"
