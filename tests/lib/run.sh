#!/bin/bash
# run.sh BUILD: libcyclescope as its users get it: installed to a folder, compiled against with nothing but pkg-config's words.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1 here=$PWD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cross=${CROSS:-riscv64-linux-gnu-}
failed=0
sanitize= cc=gcc cxx=g++
case $build in *sanitize*) sanitize=-fsanitize=address,undefined cc=clang cxx=clang++ ;; esac
strict="-Wall -Wextra -Wshadow -Werror -pedantic"

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: $2"; failed=1; }
# works NAME COMMAND...: it does, without a word on standard error
works() {
    local name=$1
    shift
    if "$@" >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ]; then ok "$name"; else not_ok "$name" "$(head -c 1000 "$work/err")"; fi
}
# same NAME WANTED GOT
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "'$3' instead of '$2'"; fi; }

# ---- installed

works install make -s -o all install BUILD="$build" DESTDIR="$work/dest" PREFIX=/opt/cyclescope
lib=$work/dest/opt/cyclescope/lib
export PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/dest
cflags=$(pkg-config --cflags cyclescope) libs=$(pkg-config --libs cyclescope)
mkdir "$work/static" && cp "$lib/libcyclescope.a" "$work/static"
static="-L$work/static $(pkg-config --libs --static cyclescope | sed "s|-L$lib||")"
same pkg-config-version "$("$build/cyclescope" --version | grep -o '[0-9.]*$')" "$(pkg-config --modversion cyclescope)"
names=$(sed -n 's/^CYCLESCOPE_API .*[ *]\(cyclescope_[a-z_]*\)(.*/\1/p' include/cyclescope/cyclescope.h | sort)
same declared-names 10 "$(echo "$names" | wc -l)"
same names-of-the-shared-library "$names" "$(nm -D --defined-only "$lib/libcyclescope.so" | sed -n 's/.* [TDBR] \([^@]*\).*/\1/p' | sort)"
same names-of-the-static-library "$names" "$(nm -g --defined-only "$lib/libcyclescope.a" | sed -n 's/.* [A-Z] //p' | grep -v '^__\|^DW.ref' | sort)"
same soname libcyclescope.so.0 "$(objdump -p "$lib/libcyclescope.so" | awk '$1 == "SONAME" { print $2 }')"

# ---- compiled against

cd "$work" || exit 1
echo '#include <cyclescope/cyclescope.h>' >alone.c
for std in c99 c11 gnu17; do works "header-$std" gcc -std=$std $strict $cflags -fsyntax-only alone.c; done
for std in c++11 c++20; do works "header-$std" g++ -x c++ -std=$std $strict $cflags -fsyntax-only alone.c; done
works header-clang clang -std=c11 $strict $cflags -fsyntax-only alone.c
works header-guest "${cross}gcc" -std=c11 $strict $cflags -fsyntax-only alone.c
works compile-shared $cc $strict $sanitize -o check $cflags "$here/tests/lib/check.c" $libs -lpthread
works compile-static $cc $strict $sanitize -o check-static $cflags "$here/tests/lib/check.c" $static -lpthread
works compile-c++ $cxx -x c++ $strict $sanitize -o watch-c++ $cflags "$here/examples/watch.c" -x none $libs
works compile-watch $cc $strict $sanitize -o watch $cflags "$here/examples/watch.c" $libs
works compile-guest "${cross}gcc" -O1 $strict -static -o guest $cflags "$here/tests/lib/guest.c"
works compile-self-tuning "${cross}gcc" -O2 $strict -static -o self_tuning $cflags "$here/examples/self_tuning.c"
# The environment is the guest's, too, and its length moves its stack.
# The limit is against hangs.
run() { env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH="$lib" timeout -k 60 3600 "$@"; }

# Inner names of the library are free for its users.
cat >own_names.c <<'C'
#include <cyclescope/cyclescope.h>
int core_new(void), error_set(void), process_new(void), simulate_process(void);
int core_new(void) { return 1; }
int error_set(void) { return 2; }
int process_new(void) { return 3; }
int simulate_process(void) { return 4; }
int main(int argc, char **argv)
{
    struct cyclescope_result r = {0};
    struct cyclescope *run = argc > 1 ? cyclescope_start(argv + 1, NULL, NULL) : NULL;
    int code = run ? cyclescope_finish(run, &r, NULL) : -1;
    cyclescope_free(run);
    return code == 0 && r.exit_status == 3 && core_new() + error_set() + process_new() + simulate_process() == 10 ? 0 : 1;
}
C
works compile-own-names gcc $sanitize -o own_names $cflags own_names.c $static
works own-names run ./own_names ./guest spin 10

# ---- used

for check in check check-static; do
    run "./$check" ./guest >log 2>&1
    status=$?
    sed -n "s/^\(ok\|not ok\) /\1 $check-/p" log
    [ $status = 0 ] || not_ok "$check" "status $status: $(grep -v '^ok' log | head -c 500)"
done
run "$here/$build/cyclescope" stat --quiet --json stat.json ./guest spin 30000
same same-counts-as-stat "$(python3 -c 'import json; r = json.load(open("stat.json")); print("total", r["cycles"], "cycles,", r["instructions"], "instructions")')" \
    "$(tail -n 1 log)"

same self-unmonitored 'first -2' "$(run "$here/$build/cyclescope" run ./guest self)"
same self-monitored 'first 0
later 1, adds up
then 1, newer
forked 0' "$(run env WATCH_INTERVAL=200000 ./watch ./guest self | grep '^first\|^later\|^then\|^forked')"
same watch-c++ "$(run ./watch ./guest spin 30000)" "$(run ./watch-c++ ./guest spin 30000)"
same watch-status 3 "$(run ./watch ./guest spin 10 >/dev/null; echo $?)"
same watch-complains 125 "$(run ./watch ./nothing 2>/dev/null; echo $?)"

# A program that tunes itself beats both of its fixed ways, and all get the same result.
if [ -z "$sanitize" ]; then
    for way in pointer blocked tuned; do
        run env WATCH_INTERVAL=50000 ./watch ./self_tuning $way >"$way"
        declare "$way=$(sed -n 's/.* \([0-9]*\) cycles in .*/\1/p' "$way")"
    done
    same self-tuning-result 1 "$(cat pointer blocked tuned | sed -n 's/.*: sum \([0-9]*\),.*/\1/p' | sort -u | wc -l)"
    same self-tuning-switches-there-and-back yes "$(sed -n 's/.*, \([0-9]*\) switches/\1/p' tuned | awk '$1 >= 2 { print "yes" }')"
    if [ $((tuned * 100)) -lt $((blocked * 95)) ] && [ $((tuned * 100)) -lt $((pointer * 95)) ]; then
        ok self-tuning-wins
    else
        not_ok self-tuning-wins "pointer $pointer, blocked $blocked, tuned $tuned cycles"
    fi
    same self-tuning-unmonitored "$(sed -n 's/^pointer: \(sum [0-9]*\),.*/\1/p' pointer)" \
        "$(run "$here/$build/cyclescope" run ./self_tuning tuned | grep -o 'sum [0-9]*')"
fi
exit $failed
