# What the command-line tests share; to be sourced with CYCLESCOPE as $1. Leaves the project's folder as the current one, and
# a folder of its own in $work, which the caller removes at its end.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
cyclescope=$(realpath "$1")
work=$(mktemp -d) || exit 1
cross=${CROSS:-riscv64-linux-gnu-}
failed=0

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: $2"; failed=1; }

# complains NAME PATTERN COMMAND...: status 125, one line on standard error that matches, nothing on standard output
complains() {
    local name=$1 pattern=$2 status
    shift 2
    timeout -k 5 60 "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    if [ $status != 125 ]; then
        not_ok "$name" "status $status: $(head -c 200 "$work/err")"
    elif [ "$(wc -l <"$work/err")" != 1 ] || ! grep -Eq -- "^cyclescope: .*$pattern" "$work/err"; then
        not_ok "$name" "says: $(head -c 300 "$work/err")"
    elif [ -s "$work/out" ]; then
        not_ok "$name" "prints to standard output"
    else
        ok "$name"
    fi
}

# gives NAME STATUS OUTPUT COMMAND...: exit status and standard output
gives() {
    local name=$1 want=$2 output=$3 status
    shift 3
    timeout -k 5 60 "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    if [ $status != "$want" ]; then
        not_ok "$name" "status $status instead of $want: $(head -c 200 "$work/err")"
    elif [ "$(cat "$work/out")" != "$output" ]; then
        not_ok "$name" "printed: $(head -c 200 "$work/out")"
    else
        ok "$name"
    fi
}

compile() { # NAME [FLAGS]: a guest program from the C on standard input
    local name=$1
    shift
    "${cross}gcc" -O1 -w -x c -o "$work/$name" - "$@" || not_ok "compile-$name" "the cross compiler failed"
}

# says NAME PATTERN: so did the last command on standard error
says() { if grep -Eq -- "$2" "$work/err"; then ok "$1"; else not_ok "$1" "says: $(head -c 2000 "$work/err")"; fi; }
never_says() { if grep -Eq -- "$2" "$work/err"; then not_ok "$1" "says: $(grep -E -- "$2" "$work/err")"; else ok "$1"; fi; }

# holds NAME EXPRESSION: Python over the JSON documents r (the last one) and b (one kept before), with e for the events of
# r, work for the folder, and what `names` defines
names=''
holds() {
    python3 - "$work" "$names" "$2" <<'P' && ok "$1" || not_ok "$1" "$2"
import json, os, sys
work = sys.argv[1]
r, b = (json.load(open(f)) if os.path.exists(f) else None for f in (work + "/json", work + "/before"))
e = (r or {}).get("events")
exec(sys.argv[2])
sys.exit(not eval("(" + sys.argv[3] + ")"))
P
}

# The guest `work [N [M]]`: N branches that cannot be foreseen, so that there is a wrong path, and M more in a process that it
# forks. Prints `done` and exits with 3, with M with 5.
compile_work() {
    compile work -static <<'C'
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
C
}
