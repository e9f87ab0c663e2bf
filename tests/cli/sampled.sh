#!/bin/bash
# sampled.sh CYCLESCOPE: --points and --systematic as a user meets them: the run itself is as without them and leaves the same
# traces, estimates hold the truth and add up, an interrupted run goes on, and what each mistake says.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT
shapes=$PWD/build/workloads/phase_shapes memory=$PWD/build/workloads/memory_bound
cd "$work" || exit 1

names='
def whole(d):
    return all(sum(c.values()) == d["cycles"] for c in d["stack_cycles"].values())

def near_whole(d):
    return all(abs(sum(c.values()) - d["cycles"]) <= 9 for c in d["stack_cycles"].values())

def inside(truth, interval, doubt):
    """Chance, and a share for caches and predictors that are not quite as warm."""
    return interval[0] - doubt * truth <= truth <= interval[1] + doubt * truth
def half(interval):
    return (interval[1] - interval[0]) / 2
'

# Writes, appends, reads back, renames and removes files, makes a folder, prints as it goes.
compile files -static <<'C'
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
int main(void)
{
    char line[64];
    int both = open("both", O_RDWR | O_CREAT | O_TRUNC, 0644), add = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    ftruncate(both, 4096);
    char *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, both, 0);
    struct flock lock = {.l_type = F_WRLCK};
    for (int i = 0; i < 40; i++) {
        toss(40000);
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
        close(fd);
        printf("%d\n", i);
        fflush(stdout);
        unlink(line);
    }
    mkdir("folder", 0755);
    rename("log", "renamed");
    chmod("renamed", 0600);
    printf("%u\n", sum);
    return sum == 0;
}
C

# traces FOLDER: what a run left there, with what it printed
traces() { (cd "$1" && find . -printf '%p %m %s\n' | sort && cat out both renamed); }

# as_without NAME OPTIONS...: the program leaves and prints what it does without them
as_without() {
    local name=$1 status
    shift
    mkdir -p "$name"
    (cd "$name" && timeout -k 5 300 "$cyclescope" "$@" ../files >out 2>../err)
    status=$?
    if [ $status != 0 ]; then
        not_ok "$name" "status $status: $(head -c 300 err)"
    elif [ "$(traces "$name" | cksum)" != "$plain" ]; then
        not_ok "$name" "traces: $(traces "$name" | head -c 400)"
    else
        ok "$name"
    fi
}
mkdir plain
(cd plain && "$cyclescope" run ../files >out) || not_ok files "it fails"
plain=$(traces plain | cksum)
small='--window 50K --lead 200K'
as_without leaves-traces-once stack --points auto $small --json "$work/json"
holds nothing-strays 'r["sampled"]["strayed"] == 0 and r["sampled"]["failed"] == 0'
as_without leaves-traces-once-systematic stat --systematic --period 100K --window 5K --lead 200K --json "$work/json"
holds nothing-strays-systematic 'r["sampled"]["strayed"] == 0 and r["sampled"]["failed"] == 0'
mkdir -p piped
(cd piped && "$cyclescope" stack --points auto $small --quiet ../files | cksum >../sum)
[ "$(cat sum)" = "$(cksum <plain/out)" ] && ok output-once-in-a-pipe || not_ok output-once-in-a-pipe "other output"

# Pipes, event counters and epoll sets of its own are each copy's own, with what is in them.
compile inside -static <<'C'
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
C
output=$("$cyclescope" run ./inside)
gives inside-points 0 "$output" "$cyclescope" stack --quiet --points auto $small --json json ./inside
holds inside-points-go-on 'r["sampled"]["strayed"] == 0 and r["sampled"]["failed"] == 0'
gives inside-systematic 0 "$output" "$cyclescope" stack --quiet --systematic --period 200K --window 5K --lead 400K --json json ./inside
holds inside-systematic-goes-on 'r["sampled"]["strayed"] == 0 and r["sampled"]["failed"] == 0 and r["sampled"]["windows"] > 20'

# ---- estimates beside the truth

run() { # OPTIONS...: of the shapes' cyclic one, with JSON
    timeout -k 5 300 env -i "$cyclescope" "$@" --json json "$shapes" cyclic 20000 >out 2>err </dev/null
}
run stack --quiet || not_ok truth "$(cat err)"
cp json before
holds whole-is-whole 'whole(r)'
run stack --points auto $small
# Of a run this short its start, which is like nothing else, counts for 4 %.
holds points 'near_whole(r) and inside(b["cpi"], r["sampled"]["cpi"], 0.05) and r["instructions"] == b["instructions"] and
    r["sampled"]["method"] == "points" and abs(sum(p["weight"] for p in r["sampled"]["points"]) - 1) < 1e-6'
holds points-by-component 'all(inside(b["stacks"]["fmt"][c], i, 0.1) or abs(b["stacks"]["fmt"][c] - r["stacks"]["fmt"][c]) < 0.02
    for c, i in r["stack_intervals"]["fmt"].items())'
says points-page 'Estimated from [0-9]+ points of 50,000 instructions in [0-9]+ phases, [0-9.]+ % of'
never_says points-page-quiet-about-trouble 'could not|another way'
run stack --systematic --period 100K --window 5K --lead 500K --method all
holds systematic 'near_whole(r) and inside(b["cpi"], r["sampled"]["cpi"], 0.02) and r["sampled"]["windows"] >= 40 and
    len(r["stack_intervals"]) > 3'
run stat --systematic --period 100K --window 5K --lead 500K -e cycles,instructions,mispredictions
holds events 'all(c["interval"][0] <= c["value"] <= c["interval"][1] for c in r["counters"]) and
    [c["value"] for c in r["counters"]][:1] == [r["cycles"]] and abs(r["counters"][1]["value"] - r["instructions"]) <= 1'
says events-page '± [0-9.]+ %'

# What warming leaves in doubt: nothing of the program's own counts, 1 % of what caches and predictors decide, 0.3 % of
# the cycles; and nobody knows how much of what wrong paths left in the second cache.
timeout -k 5 300 env -i "$cyclescope" stat --systematic --period 100K --window 5K --lead 500K --json json \
    -e loads,loads:spec,l1d-accesses,l2-access-misses,rob-full-cycles,bus-transactions,l2-access-misses:spec "$memory" >out 2>err </dev/null
holds doubts '(lambda c: half(c[0]["interval"]) < 0.005 * c[0]["value"] and
    all(0.01 <= half(c[i]["interval"]) / c[i]["value"] < 0.015 for i in (1, 2, 3)) and
    0.003 <= half(c[4]["interval"]) / r["cycles"] < 0.005 and c[5]["interval"] == c[6]["interval"] == [None, None])(r["counters"])'
holds doubts-of-all-counts '(lambda i: half(i["cycles"]) >= 0.003 * r["cycles"] and half(i["instructions"]) == 0 and
    0 < half(i["branches"]) < 0.005 * e["branches"] and half(i["l1d_misses"]) >= 0.01 * e["l1d_misses"] > 0 and
    None not in i["l2d_access_misses"] + i["l2d_accesses_spec"] and
    i["l2d_access_misses_spec"] == i["bus_reads"] == i["l2d_misses_spec"] == [None, None])(r["event_intervals"])'
says doubt-not-known 'bus-transactions .*interval not known'
run stalls --systematic --period 100K --window 5K --lead 500K
holds stalls 'abs(sum(r["stall_cycles"].values()) - r["cycles"]) <= 9 and set(r["stalls_error"]) <= set(r["stalls"])'

# Points that cover everything: each is like the same stretch of the whole run.
"$cyclescope" run --count "$shapes" cyclic 2000 >out 2>count
python3 - <<'P' >all
import re
n = int(re.search(r"(\d+) instructions", open("count").read()).group(1))
print("\n".join("%d %d" % (i, i) for i in range(n // 10000)))
P
timeout 300 env -i "$cyclescope" stack --quiet --interval 10K --json before "$shapes" cyclic 2000 >out 2>err </dev/null
timeout 300 env -i "$cyclescope" stack --quiet --json json --points all --window 10K --lead 10M "$shapes" cyclic 2000 >out 2>err </dev/null
holds points-everywhere 'len(r["sampled"]["points"]) > 40 and
    all(abs(p["cpi"] / i["cpi"] - 1) < 0.01 for p, i in zip(r["sampled"]["points"], b["intervals"]))'

# ---- interrupted

args="--points auto $small --jobs 1 --keep kept"
timeout -k 5 300 env -i "$cyclescope" stack --quiet $args --json before "$shapes" cyclic 20000 >out 2>err </dev/null
whole=$(wc -l <kept)
rm kept
env -i "$cyclescope" stack --quiet $args --json json "$shapes" cyclic 20000 >out 2>err </dev/null &
for i in $(seq 600); do
    [ "$(cat kept 2>/dev/null | wc -l)" -ge 4 ] && break
    sleep 0.05
done
{ kill -KILL $!; wait $!; } 2>/dev/null
at=$(wc -l <kept)
[ "$at" -ge 4 ] && [ "$at" -le "$whole" ] && ok interrupted || not_ok interrupted "$at of $whole lines"
head -n 3 kept >first && head -c 100 <(sed -n 4p kept) >>first && mv first kept # as if killed in the middle of a line
timeout -k 5 300 env -i "$cyclescope" stack --quiet $args --json json "$shapes" cyclic 20000 >out 2>err </dev/null
holds goes-on 'r["stack_cycles"] == b["stack_cycles"] and r["sampled"]["windows"] == b["sampled"]["windows"]'
[ "$(wc -l <kept)" = "$whole" ] && ok goes-on-keeps || not_ok goes-on-keeps "$(wc -l <kept) lines instead of $whole"
complains kept-of-another 'the file is of another run' env -i "$cyclescope" stack $args --core modern "$shapes" cyclic 20000
complains kept-is-no-such-file 'this file is something else' env -i "$cyclescope" stack --systematic --keep count "$shapes" flat 10

# ---- what cannot be, and mistakes

compile reads -static <<'C'
#include <stdio.h>
int main(void)
{
    unsigned long sum = 0;
    for (int c; (c = getchar()) != EOF;)
        for (int i = 0; i < 20; i++)
            sum = sum * 31 + c;
    return printf("%lu\n", sum) < 0;
}
C
head -c 100000 /dev/zero >zeros
gives input-of-a-file 0 "$("$cyclescope" run ./reads <zeros)" bash -c "'$cyclescope' stack --quiet --points auto --window 50K ./reads <zeros"
cat zeros | timeout 60 "$cyclescope" stack --points auto --window 50K ./reads >out 2>err
[ $? = 125 ] && grep -q 'points cannot be chosen: it uses descriptor 0, which only the run itself can have' err &&
    ok input-of-a-pipe || not_ok input-of-a-pipe "$(cat err)"
complains no-such-points 'nowhere: No such file' "$cyclescope" stack --points nowhere ./reads
echo 'x y' >bad
complains no-points 'line 1: not a point' "$cyclescope" stack --points bad ./reads
echo '100000 0' >far
gives beyond-the-end 125 "$("$cyclescope" run ./reads </dev/null)" "$cyclescope" stack --points far --window 10K ./reads
says beyond-the-end-says 'the program ends before it'
complains two-ways 'different ways to choose' "$cyclescope" stack --points auto --systematic ./reads
complains with-skip 'exclude --points' "$cyclescope" stack --points auto --skip 1M ./reads
complains with-restore 'exclude' "$cyclescope" stat --points auto --restore kept
complains with-interval 'exclude' "$cyclescope" stack --points auto --interval 1M ./reads
complains keep-alone 'need --points or --systematic' "$cyclescope" stat --keep kept ./reads
complains weights-of-nothing '--weights needs --points FILE' "$cyclescope" stat --points auto --weights bad ./reads
complains period-too-short 'at most half of --period' "$cyclescope" stat --systematic --period 10K ./reads
complains with-multiplex 'exclude --points' "$cyclescope" stat --points auto --multiplex -e cycles ./reads
complains too-short 'shorter than a point' "$cyclescope" stack --points auto "$shapes" flat 1
exit $failed
