"""A process that sets and clears its own mark: events with `marked` count only while the mark is set.

The guest has three functions of the same loads. It clears its mark before `second` and sets it after: of the loads of the
three, the marked ones are those of `first` and `third`. Loads outside of them are few.
"""
import pytest

LOADS = 40000  # of each function; the guest makes far fewer elsewhere
SOURCE = r"""
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long cell;
#define LOAD_MANY(name) __attribute__((noinline)) static void name(void) \
    { for (int i = 0; i < %d; i++) __asm__ volatile("ld t0, 0(%%0)" :: "r"(&cell) : "t0"); }
LOAD_MANY(first)
LOAD_MANY(second)
LOAD_MANY(third)
int main(int argc, char **argv)
{
    first();
    if (prctl(PR_TASK_PERF_EVENTS_DISABLE) != 0)
        return 1;
    second();
    int child = argc > 1 && argv[1][0] == 'f' ? fork() : -1;
    if (prctl(PR_TASK_PERF_EVENTS_ENABLE) != 0)
        return 2;
    third();
    if (child > 0)
        waitpid(child, 0, 0);
    _exit(0);
}
""" % LOADS


@pytest.fixture(scope="module")
def marks(guests):
    return guests("marks", SOURCE, "-static")


def loads(cli, *words):
    """The loads of a run: all, and those of the marked process."""
    report = cli.report("stat", "-e", "loads,loads:marked", *words)
    return [counter["value"] for counter in report["counters"]]


def about(functions):
    return range(functions * LOADS, functions * LOADS + LOADS // 2)


def test_only_marked_stretches_count(cli, marks):
    everything, marked = loads(cli, marks)
    assert marked in about(2) and everything - marked in about(1)


def test_a_forked_process_starts_without_a_mark_and_can_set_its_own(cli, marks):
    # Arguments of the same length: the start of a program loads a little more or less with the layout of its stack.
    alone, with_child = loads(cli, marks, "none"), loads(cli, marks, "fork")
    assert with_child[1] - alone[1] in about(1) and with_child[0] - alone[0] in about(1)


def test_a_part_of_a_run_and_a_checkpoint_start_with_the_mark_that_the_process_has(cli, marks):
    whole = cli.report("stat", marks)["instructions"]
    inside = whole // 2  # in `second`: the three functions are most of the program
    assert loads(cli, "--skip", inside, "--max-insns", 1000, marks)[1] == 0
    assert loads(cli, "--warmup", inside, "--max-insns", 1000, marks)[1] == 0
    cli.run("checkpoint", "--quiet", "--at", inside, "-o", "second.ckpt", marks)
    assert loads(cli, "--restore", "second.ckpt", "--max-insns", 1000)[1] == 0
    assert loads(cli, "--restore", "second.ckpt")[1] in about(1)
    assert loads(cli, "--skip", inside, marks)[1] in about(1)


def test_intervals_show_when_the_process_was_marked(cli, marks):
    report = cli.report("stat", "--interval", LOADS, "-e", "loads:marked", marks)
    series = [interval["counts"]["loads:marked"] for interval in report["intervals"]]
    assert series[len(series) // 2] == 0 and series[-2] > 0 and sum(series) in about(2)


def test_samples_are_taken_only_in_marked_stretches(cli, marks):
    for mode in (["-c", 50], ["--precise", "-c", 50], ["--oracle"]):
        cli.run("record", "--quiet", *mode, "-e", "loads:marked", "-o", "p.prof", marks)
        functions = {row["function"] for row in cli.report("report", "p.prof")["rows"]}
        assert {"first", "third"} <= functions and "second" not in functions, mode
