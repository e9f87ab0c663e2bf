"""--points and --systematic as a user meets them: the run itself is as without them and leaves the same traces, estimates
hold the truth and add up, an interrupted run goes on, and each mistake gets a sentence."""
import os
import shutil
import signal
import subprocess
import time

import pytest

from conftest import PATIENCE_SECONDS, PROJECT, Result

# Short windows with short leads, for short programs.
POINTS = "--points auto --window 50K --point-count 24 --lead 200K".split()
SYSTEMATIC = "--systematic --period 100K --window 5K".split()


def copied(cli, name):
    """Puts a workload into the folder, so that the length of its path is the same for all runs there."""
    if not (cli.work / name).exists():
        shutil.copy(PROJECT / "build/workloads" / name, cli.work)
    return "./" + name


def execute(cli, words, **options):
    """Runs cyclescope with standard input or output of the caller's choice: files, for example."""
    process = cli.spawn(cli.command(*words), stderr=subprocess.PIPE, **options)
    try:
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return Result(process.returncode, (out or b"").decode(), err.decode())


# ---- the run itself

# Appends to a file, writes to another one, reads that back through a descriptor and through memory, locks both, makes
# small files and reads them back, prints as it goes. Every copy does this with files of its own, so no copy strays. With
# the argument `names`, the guest also removes and renames files and makes a folder. Copies and the run share names: a
# copy that removes a file which the run has removed already gets an error and strays. How many do depends on timing.
FILES = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
int main(int argc, char **argv)
{
    char line[64];
    int both = open("both", O_RDWR | O_CREAT | O_TRUNC, 0644), add = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    ftruncate(both, 4096);
    char *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, both, 0);
    struct flock lock = {.l_type = F_WRLCK};
    for (int i = 0; i < 40; i++) {
        toss(20000);
        int n = sprintf(line, "%d %u\n", i, sum);
        if (write(add, line, n) != n || pwrite(both, line, n, 64 * i) != n)
            return 10;
        shared[4000] = i;
        if (pread(both, line, 1, 4000) != 1 || line[0] != i)
            return 11;
        if (fcntl(both, F_SETLK, &lock) != 0 || flock(add, LOCK_EX) != 0)
            return 12;
        sprintf(line, "temporary.%d", i);
        int fd = open(line, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, "x", 1) != 1 || lseek(fd, 0, SEEK_SET) != 0 || read(fd, line + 32, 1) != 1)
            return 13;
        if (line[32] != 'x')
            return 14;
        close(fd);
        toss(20000);
        printf("%d\n", i);
        fflush(stdout);
        if (argc > 1)
            unlink(line);
    }
    if (argc > 1) {
        mkdir("folder", 0755);
        rename("log", "renamed");
        chmod("renamed", 0600);
    }
    printf("%u\n", sum);
    return sum == 0;
}
"""


@pytest.fixture(scope="module")
def files(guests, module_cli):
    shutil.copy(guests("files", FILES, "-static"), module_cli.work)
    return "../files"  # the guest runs in a folder of its own


def traces(cli, folder, *words):
    """What a run in this new folder leaves there: name, mode and content of everything, with its output in `out`."""
    to = cli.work / folder
    to.mkdir()
    with open(to / "out", "wb") as out:
        result = execute(cli, words, cwd=to, stdout=out)
    assert result.status == 0, result.err[:600]
    left = {str(f.relative_to(to)): (f.stat().st_mode, f.read_bytes() if f.is_file() else None) for f in to.rglob("*")}
    shutil.rmtree(to)
    return left


@pytest.fixture(scope="module")
def plain(module_cli, files):
    """Traces and instructions of the run itself, by arguments of the guest."""
    of = {}
    for arguments in (), ("names",):
        left = traces(module_cli, "folder", "run", "--json", "../json", files, *arguments)
        of[arguments] = left, module_cli.json()["instructions"]
    return of


@pytest.mark.parametrize("arguments", [(), ("names",)], ids=["own", "names"])
@pytest.mark.parametrize("words", [
    ["stack", *POINTS],
    ["stat", *SYSTEMATIC, "--lead", "200K"],
], ids=["points", "systematic"])
def test_the_run_leaves_its_traces_once(module_cli, files, plain, words, arguments):
    left, instructions = plain[arguments]
    assert ("renamed" in left and "folder" in left) == bool(arguments) and len(left) == (4 if arguments else 43)
    assert traces(module_cli, "folder", *words, "--json", "../json", files, *arguments) == left
    r = module_cli.json()
    assert r["instructions"] == instructions and r["exit_status"] == 0
    assert r["sampled"]["failed"] == 0 and r["sampled"]["windows"] >= 10
    if not arguments:
        assert r["sampled"]["strayed"] == 0


@pytest.mark.parametrize("arguments", [(), ("names",)], ids=["own", "names"])
def test_output_goes_into_a_pipe_once(module_cli, files, plain, arguments, tmp_path):
    out = module_cli.run("stack", *POINTS, "--quiet", module_cli.work / "files", *arguments, cwd=tmp_path).out
    assert out.encode() == plain[arguments][0]["out"][1]


# Uses pipes, event counters and epoll sets of its own: each copy has its own ones, with what is in them.
INSIDE = r"""
#include <stdio.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
int main(void)
{
    int pipes[2], set = epoll_create1(0), event = eventfd(0, 0);
    unsigned state = 1, sum = 0;
    struct epoll_event got, in = {.events = EPOLLIN, .data.u64 = 0x123456789abcdef};
    if (pipe(pipes) || epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &in))
        return 10;
    write(pipes[1], "\1\2\3", 3);
    for (int i = 0; i < 400; i++) {
        unsigned char c = i;
        uint64_t one = i + 1, back;
        for (int n = 0; n < 4000; n++) {
            state = state * 1103515245 + 12345;
            sum += state >> 16 & 1 ? state : 1;
        }
        if (write(pipes[1], &c, 1) != 1 || epoll_wait(set, &got, 1, -1) != 1 || got.data.u64 != in.data.u64)
            return 11;
        if (read(pipes[0], &c, 1) != 1 || c != (unsigned char)(i < 3 ? i + 1 : i - 3))
            return 12;
        if (write(event, &one, 8) != 8 || read(event, &back, 8) != 8 || back != one)
            return 13;
    }
    printf("%u\n", sum);
    return 0;
}
"""


@pytest.mark.smoke
@pytest.mark.parametrize("words, windows", [
    (POINTS, 10),
    ("--systematic --period 200K --window 5K --lead 400K".split(), 21),
], ids=["points", "systematic"])
def test_pipes_of_the_guest_are_each_copys_own(cli, guests, words, windows):
    shutil.copy(guests("inside", INSIDE, "-static"), cli.work)
    plain = cli.run("run", "./inside").out
    assert plain != "" and cli.run("stack", "--quiet", *words, "--json", "json", "./inside").out == plain
    sampled = cli.json()["sampled"]
    assert sampled["strayed"] == 0 and sampled["failed"] == 0 and sampled["windows"] >= windows


# ---- estimates beside the truth

def difference_of_stacks(report):
    """The largest difference between the cycles of the run and the sum of a stack."""
    return max(abs(sum(c.values()) - report["cycles"]) for c in report["stack_cycles"].values())


def inside(truth, interval, doubt):
    """The interval is one of chance; `doubt` is a share for caches and predictors that are not quite as warm."""
    return interval[0] - doubt * truth <= truth <= interval[1] + doubt * truth


def half(interval):
    return (interval[1] - interval[0]) / 2


CYCLIC = ["cyclic", 20000]


@pytest.fixture(scope="module")
def truth(module_cli):
    return module_cli.report("stack", "--method", "fmt,graph", copied(module_cli, "phase_shapes"), *CYCLIC)


def sampled_cyclic(cli, *words):
    """A report with its page as `page`."""
    page = cli.run(*words, "--json", "json", copied(cli, "phase_shapes"), *CYCLIC)
    report = cli.json()
    report["page"] = page
    return report


def test_stacks_of_the_whole_run_are_whole(truth):
    assert difference_of_stacks(truth) < 1e-3


def test_points_hold_the_truth(module_cli, truth):
    r = sampled_cyclic(module_cli, "stack", "--method", "fmt,graph", *POINTS)
    assert difference_of_stacks(r) <= 9 and r["instructions"] == truth["instructions"]
    sampled = r["sampled"]
    assert sampled["method"] == "points" and sum(p["weight"] for p in sampled["points"]) == pytest.approx(1, abs=1e-6)
    assert inside(truth["cpi"], sampled["cpi"], 0.005) and half(sampled["cpi"]) < 0.1 * truth["cpi"]
    for method in "fmt", "graph":
        true_stack, stack = truth["stacks"][method], r["stacks"][method]
        for component, interval in r["stack_intervals"][method].items():
            assert inside(true_stack[component], interval, 0.1) or abs(true_stack[component] - stack[component]) < 0.02
    assert r["page"].says("Estimated from [0-9]+ points of 50,000 instructions in [0-9]+ phases and the first [0-9,]+, [0-9.]+ % of")
    assert not r["page"].says("could not|strayed")


def test_systematic_windows_hold_the_truth(module_cli, truth):
    r = sampled_cyclic(module_cli, "stack", *SYSTEMATIC, "--lead", "500K", "--method", "all")
    assert difference_of_stacks(r) <= 9 and len(r["stack_intervals"]) > 3
    assert inside(truth["cpi"], r["sampled"]["cpi"], 0.02) and r["sampled"]["windows"] >= 40


def test_events_have_intervals(module_cli):
    r = sampled_cyclic(module_cli, "stat", *SYSTEMATIC, "--lead", "500K", "-e", "cycles,instructions,mispredictions")
    assert all(c["interval"][0] <= c["value"] <= c["interval"][1] for c in r["counters"])
    cycles, instructions, _ = (c["value"] for c in r["counters"])
    assert cycles == r["cycles"] and abs(instructions - r["instructions"]) <= 1
    assert r["page"].says(r"^ event +count +±$") and r["page"].says("^ mispredictions +[0-9,]+ +[0-9.]+ %")


def test_stalls_add_up(module_cli):
    r = sampled_cyclic(module_cli, "stalls", *SYSTEMATIC, "--lead", "500K")
    assert abs(sum(r["stall_cycles"].values()) - r["cycles"]) <= 9 and set(r["stalls_error"]) <= set(r["stalls"])


def test_intervals_include_what_warming_leaves_wrong(module_cli):
    """Some windows are measured twice, and the difference is part of every interval. How much wrong paths
    leave in the second cache is unknown."""
    page = module_cli.run("stat", *SYSTEMATIC, "--lead", "500K", "--json", "json", "-e",
                          "loads,loads:spec,l1d_accesses,l2_access_misses,rob_full_cycles,bus_transactions,"
                          "l2_access_misses:spec", copied(module_cli, "memory_bound"))
    r = module_cli.json()
    assert r["sampled"]["measured_twice"] >= 3
    *known, bus, wrong_paths = r["counters"]
    assert all(c["interval"][0] < c["value"] < c["interval"][1] for c in known)
    assert half(known[0]["interval"]) < 0.03 * known[0]["value"]
    assert bus["interval"] == wrong_paths["interval"] == [None, None]
    assert page.says("^ bus_transactions +[0-9,]+ +unknown")

    intervals = r["event_intervals"]
    assert half(intervals["cycles"]) > 0 and half(intervals["instructions"]) == 0
    assert None not in intervals["l2d_access_misses"] + intervals["l2d_accesses_spec"]
    for unknown in "l2d_access_misses_spec", "bus_reads", "l2d_misses_spec":
        assert intervals[unknown] == [None, None]


# A million instructions of one kind, then more than a hundred million in which every twentieth part is another: a start, and parts
# that matter and are rare.
RARE = r"""
static unsigned heap[1 << 20], state = 1, sum;
int main(void)
{
    for (int i = 0; i < 1 << 18; i++)
        sum += heap[i * 4 + i % 3];
    for (int part = 0; part < 220; part++)
        for (int i = 0; i < 100000; i++) {
            state = state * 1103515245 + 12345;
            sum += part % 20 == 7 ? heap[state >> 12] : state >> 16 & 1 ? heap[i & 1023]++ : 1;
        }
    return sum == 1;
}
"""


@pytest.fixture(scope="module")
def rare(guests, module_cli):
    """The program, its true CPI and its instructions."""
    shutil.copy(guests("rare", RARE, "-static"), module_cli.work)
    true = module_cli.report("stack", "./rare")
    assert true["instructions"] > 105_000_000
    return true["cpi"], true["instructions"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["--systematic", "--points=auto"])
@pytest.mark.parametrize("seed", range(4))
def test_starts_and_rare_parts_are_seen(module_cli, rare, kind, seed):
    """By default, a run gets windows until its CPI is known to 1 %, or the report says why not."""
    sampled = module_cli.report("stack", kind, "--seed", seed, "./rare")["sampled"]
    assert inside(rare[0], sampled["cpi"], 0.003)
    assert half(sampled["cpi"]) <= 0.01 * sum(sampled["cpi"]) / 2 or sampled["too_wide"]
    assert sampled["head"] > 0 and sampled["precision_percent"] == 1


# Wrong paths fill the second cache with lines of `elsewhere`, of which the right path reads only the first one. They push
# out lines of `table`, which is twice as large as a second cache of 256 KB.
POLLUTED = r"""
static unsigned table[1 << 17], bits[1 << 12], state = 1, sum;
static volatile unsigned elsewhere[1 << 20];
static unsigned next(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}
int main(void)
{
    for (unsigned i = 0; i < 1 << 17; i++) {
        table[i] = next() & 1;
        bits[i >> 5] |= table[i] << (i & 31);
    }
    for (int i = 0; i < 1000000; i++) {
        unsigned random = next(), at = random % (1 << 17), odd = bits[at >> 5] >> (at & 31) & 1;
        if (table[at])
            sum += elsewhere[(odd - 1) & random >> 12];
    }
    return sum & 1;
}
"""


def test_what_wrong_paths_do_to_the_second_cache_is_measured(guests, module_cli):
    """Without the settled windows the CPI would be 1 to 2 % too low."""
    shutil.copy(guests("polluted", POLLUTED, "-static"), module_cli.work)
    words = ["stack", "--method", "fmt", "--set", "l2.size=256K"]
    true = module_cli.report(*words, "./polluted")
    page = module_cli.run(*words, "--points=auto", "--window", "5K", "--precision", "1%", "--json", "json", "./polluted")
    sampled = module_cli.json()["sampled"]
    settled = sampled["settled"]
    assert settled["windows"] >= 8 and settled["data_misses_percent"][0] > 0
    assert inside(true["cpi"], sampled["cpi"], 0.002)
    assert sampled["detailed_instructions"] < 0.4 * true["instructions"]
    assert page.says("[0-9]+ longer windows, before which wrong paths had filled the second cache, have [+]")


def test_estimates_do_not_depend_on_the_number_of_jobs(guests, module_cli):
    """With two jobs, warming begins while the run is being counted."""
    shutil.copy(guests("longer", POLLUTED.replace("1000000", "1400000"), "-static"), module_cli.work)
    one, two = (module_cli.report("stack", "--method", "fmt", "--set", "l2.size=256K", "--points=auto", "--window", "5K", "--precision", "1%",
                                  "--jobs", jobs, "./longer") for jobs in (1, 2))
    assert one["sampled"]["head"] == 2_000_000 and one["sampled"] == two["sampled"]
    assert one["events"] == two["events"] and one["stacks"] == two["stacks"]


def test_more_windows_make_the_interval_as_narrow_as_asked_for(module_cli):
    program = [copied(module_cli, "phase_shapes"), *CYCLIC]
    words = ["stack", "--systematic", "--period", "100K", "--window", "5K", "--lead", "500K"]
    few = module_cli.report(*words, *program)["sampled"]
    more = module_cli.report("stack", "--points", "auto", "--window", "10K", "--point-count", 60, "--lead", "200K",
                             "--precision", "4%", *program)["sampled"]
    assert "precision_percent" not in few and more["precision_percent"] == 4
    assert half(more["cpi"]) <= 0.04 * sum(more["cpi"]) / 2 or more["too_wide"]


def test_a_short_run_is_simulated_whole(module_cli, truth):
    page = module_cli.run("stack", "--method", "fmt,graph", "--systematic", "--json", "json", copied(module_cli, "phase_shapes"), *CYCLIC)
    r = module_cli.json()
    assert r["sampled"] == {"method": "whole"} and r["stack_cycles"] == truth["stack_cycles"]
    assert page.says("The run is short, so all of it was simulated")


def test_points_everywhere_are_like_the_intervals_of_the_run(module_cli):
    program = [copied(module_cli, "phase_shapes"), "cyclic", 2000]
    count = module_cli.report("run", *program)["instructions"] // 10000
    (module_cli.work / "everywhere").write_text("".join(f"{i} {i}\n" for i in range(count)))
    intervals = module_cli.report("stack", "--interval", "10K", *program)["intervals"]
    words = ["stack", "--points", "everywhere", "--window", "10K", "--lead", "10M"]
    points = module_cli.report(*words, *program)["sampled"]["points"]
    assert len(points) == count > 40
    assert all(abs(p["cpi"] / i["cpi"] - 1) < 0.01 for p, i in zip(points, intervals))


@pytest.mark.parametrize("workload", ["icache_bound", "branch_bound"])
def test_short_windows_do_not_bias_the_graph(module_cli, workload):
    """Each component of every twentieth window against the same stretches of the whole run: within 0.2 % of the CPI."""
    program, insns = copied(module_cli, workload), 20000
    whole = module_cli.report("stack", "--interval", insns, "--method", "graph", program)["intervals"]
    places = range(10, len(whole) - 1, 20)
    (module_cli.work / "some").write_text("".join(f"{i} {i}\n" for i in places))
    (module_cli.work / "weights").write_text("".join(f"{1 / len(places)} {i}\n" for i in places))
    report = module_cli.report("stack", "--points", "some", "--weights", "weights", "--window", insns, "--method", "graph",
                               program)
    assert len(places) > 20 and report["sampled"]["failed"] == 0
    for component, cpi in report["stacks"]["graph"].items():
        true = sum(whole[i]["stack_cycles"]["graph"][component] for i in places) / (insns * len(places))
        assert abs(cpi - true) < 0.002 * report["cpi"], component
        low, high = report["stack_intervals"]["graph"][component]
        assert low <= cpi <= high


# ---- interrupted

# Works, then waits as long as there is a file `hold`.
WAITS = r"""
#include <unistd.h>
int main(void)
{
    static unsigned state = 1, sum, heap[1 << 14];
    for (int i = 0; i < 200000; i++) {
        state = state * 1103515245 + 12345;
        if (state >> 16 & 1)
            sum += heap[state >> 8 & 0x3fff]++;
    }
    while (access("hold", F_OK) == 0)
        ;
    return sum == 0;
}
"""


def cut_kept(kept):
    """Leaves 3 lines and a part of the fourth, as if the run was killed when it wrote this one."""
    lines = kept.read_text().splitlines(keepends=True)
    assert len(lines) >= 4 and len(lines[3]) > 101
    kept.write_text("".join(lines[:3]) + lines[3][:100])


def check_same(report, whole):
    assert report["stack_cycles"] == whole["stack_cycles"] and report["sampled"]["windows"] == whole["sampled"]["windows"]


def test_a_killed_run_goes_on(cli, guests):
    shutil.copy(guests("waits", WAITS, "-static"), cli.work)
    words = ["stack", *SYSTEMATIC, "--lead", "200K", "--jobs", 1, "--keep", "kept"]
    hold, kept = cli.work / "hold", cli.work / "kept"
    whole = cli.report(*words, "./waits")
    lines = kept.read_text().count("\n")
    assert lines == whole["sampled"]["windows"] + 1 > 8
    kept.unlink()

    hold.touch()
    process = cli.spawn(cli.command(*words, "--quiet", "./waits"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        patience = time.monotonic() + PATIENCE_SECONDS
        while not kept.exists() or kept.read_text().count("\n") < 4:
            assert process.poll() is None and time.monotonic() < patience
            time.sleep(0.02)
    finally:
        process.kill()  # the run itself; its copies end with it
        process.wait()
    hold.unlink()
    cut_kept(kept)
    check_same(cli.report(*words, "./waits"), whole)
    assert kept.read_text().count("\n") == lines


@pytest.fixture(scope="module")
def kept_points(module_cli):
    """A run with points that keeps its windows: the words, the report and the content of the file `kept`."""
    words = ["stack", *POINTS, "--jobs", 1, "--keep", "kept"]
    report = module_cli.report(*words, copied(module_cli, "phase_shapes"), *CYCLIC)
    return words, report, (module_cli.work / "kept").read_text()


def test_a_run_goes_on_from_an_incomplete_file(module_cli, kept_points):
    words, whole, content = kept_points
    kept = module_cli.work / "kept"
    kept.write_text(content)
    cut_kept(kept)
    check_same(module_cli.report(*words, "./phase_shapes", *CYCLIC), whole)
    assert kept.read_text() == content
    check_same(module_cli.report(*words, "./phase_shapes", *CYCLIC), whole)
    assert kept.read_text() == content


@pytest.mark.mistake
def test_a_file_of_another_run_is_refused(module_cli, kept_points):
    words, _, content = kept_points
    (module_cli.work / "kept").write_text(content)
    module_cli.complains("the file is of another run", *words, "--core", "modern", "./phase_shapes", *CYCLIC)
    assert (module_cli.work / "kept").read_text() == content


# ---- what cannot be, and mistakes

READS = r"""
#include <stdio.h>
int main(void)
{
    unsigned long sum = 0;
    for (int c; (c = getchar()) != EOF;)
        for (int i = 0; i < 20; i++)
            sum = sum * 31 + c;
    return printf("%lu\n", sum) < 0;
}
"""


@pytest.fixture
def reads(cli, guests):
    shutil.copy(guests("reads", READS, "-static"), cli.work)
    return "./reads"


def test_copies_read_a_file_on_standard_input(cli, reads):
    (cli.work / "input").write_bytes(bytes(range(256)) * 200)
    outputs = []
    for words in ["run"], ["stack", "--quiet", "--points", "auto", "--window", "50K", "--point-count", 3, "--json", "json"]:
        with open(cli.work / "input", "rb") as file:
            result = execute(cli, [*words, reads], stdin=file, stdout=subprocess.PIPE)
        assert result.status == 0, result.err
        outputs.append(result.out)
    assert outputs[0] == outputs[1] != "0\n"
    sampled = cli.json()["sampled"]
    assert sampled["failed"] == 0 and sampled["strayed"] == 0


def test_copies_cannot_read_a_pipe(cli, reads):
    result = cli.run("stack", "--points", "auto", "--window", "50K", reads, status=125, stdin=bytes(50000))
    assert result.says("points cannot be chosen: it uses descriptor 0, which only the run itself can have")


def test_a_point_beyond_the_end_is_told(cli, reads):
    (cli.work / "far").write_text("100000 0\n")
    result = cli.run("stack", "--points", "far", "--window", "10K", reads, status=125)
    assert result.out == cli.run("run", reads).out and result.says("the program ends before it")


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("nowhere: No such file", "stack --points nowhere ./reads"),
    ("line 1: not a point", "stack --points bad ./reads"),
    ("different ways to choose", "stack --points auto --systematic ./reads"),
    ("exclude --points", "stack --points auto --skip 1M ./reads"),
    ("exclude", "stat --points auto --restore bad"),
    ("exclude", "stack --points auto --interval 1M ./reads"),
    ("need --points or --systematic", "stat --keep kept ./reads"),
    ("--weights needs --points FILE", "stat --points auto --weights bad ./reads"),
    ("at most half of --period", "stat --systematic --period 10K ./reads"),
    ("needs a percentage from 0.01 to 100, not 'x'", "stat --systematic --precision x ./reads"),
    ("needs a percentage", "stat --systematic --precision 0% ./reads"),
    ("excludes --points FILE", "stat --points bad --precision 1% ./reads"),
    ("exclude --points", "stat --points auto --multiplex -e cycles ./reads"),
    ("shorter than a point", "stack --points auto --window 1M ./reads"),
    ("this is not a file that --keep has written", "stack --systematic --period 100K --keep bad ./reads"),
])
def test_a_mistake_gets_a_sentence(cli, reads, pattern, words):
    (cli.work / "bad").write_text("x y\n")
    cli.complains(pattern, *words.split())
    assert not (cli.work / "kept").exists() and (cli.work / "bad").read_text() == "x y\n"
