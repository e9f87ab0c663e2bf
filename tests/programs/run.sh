#!/bin/bash
# run.sh CYCLESCOPE: Debian programs that need timers, signals, terminals, shared memory and users as a real machine has
# them: PostgreSQL, tmux, Erlang, a program of GHC, Python's multiprocessing, git and make. Each runs isolated in a folder
# of its own. Skips all if the packages cannot be had. They stay in cyclescope/programs of the user's cache folder, or in
# CYCLESCOPE_PROGRAMS.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
cyclescope=$(realpath "$1") || exit 1
packages=${CYCLESCOPE_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/cyclescope/programs}
hang=3600 # seconds: more is a hang, on the slowest machine
failed=0

why=$("$here/build.sh" "$packages" 2>&1)
case $? in
0) ;;
3) echo "skip programs: $(tail -n 1 <<<"$why")" && exit 0 ;;
*) echo "not ok programs: $(tail -n 1 <<<"$why")" && exit 1 ;;
esac
work=$(realpath "$(mktemp -d)") || exit 1
trap 'rm -rf "$work"' EXIT

# PostgreSQL wants its user to have a name. Guests are user 1000.
printf 'root:x:0:0::/:/bin/sh\ntester:x:1000:1000::/:/bin/sh\n' >"$packages/passwd.$$"
mv "$packages/passwd.$$" "$packages/sysroot/etc/passwd"

# program NAME EXPECTED OPTION... SCRIPT: the script prints what is expected.
program() {
    local name=$1 expected=$2 got
    local options=("${@:3:$#-3}") script=${*: -1}
    mkdir "$work/folder"
    got=$(timeout -k 60 $hang "$cyclescope" run --isolate --sysroot "$packages/sysroot" --bind "$work" \
        --chdir "$work/folder" --env PATH=/usr/lib/postgresql/17/bin:/usr/bin --env HOME="$work/folder" \
        --env LC_ALL=C.UTF-8 --env TERM=xterm --env PYTHONDONTWRITEBYTECODE=1 --env TMPDIR="$work/folder" \
        "${options[@]}" -- /bin/sh -eu -c "$script" </dev/null 2>"$work/err")
    local status=$?
    if [ $status = 0 ] && [ "$got" = "$expected" ]; then
        echo "ok $name"
    else
        echo "not ok $name: status $status, $(head -c 300 <<<"$got" | tr '\n' ' ')," \
            "not $(tr '\n' ' ' <<<"$expected"): $(tail -c 300 "$work/err" | tr '\n' ' ')"
        failed=1
    fi
    rm -rf "$work/folder" "$work/err"
}

program "postgres makes a database and answers alone" 'answer = "42"' '
initdb -D data -A trust -U me --no-sync >initdb.log
echo "select 6 * 7 as answer" | postgres --single -D data postgres >answer
grep -o "answer = \"[0-9]*\"" answer'
program "postgres serves clients over a socket" $'server started\n500500\nserver stopped' --allow-net '
initdb -D data -A trust -U me --no-sync >initdb.log
pg_ctl -D data -l log -w -o "-k $PWD -c listen_addresses=" start | tail -n 1
psql -qh "$PWD" -U me -c "create table t as select generate_series(1, 1000) as a" postgres
psql -h "$PWD" -U me -Atc "select sum(a) from t" postgres
pg_ctl -D data -m fast stop | tail -n 1'
program "tmux types into a shell" 42 --allow-net '
export TMUX_TMPDIR=$PWD
tmux -f /dev/null new-session -d -x 80 -y 24 /bin/sh
tmux send-keys "echo \$((6 * 7)) >answer; tmux wait-for -S done" Enter
tmux wait-for done
cat answer
tmux kill-server'
program "Erlang sums" 5050 '
erl -noshell -eval "io:format(\"~p~n\", [lists:sum(lists:seq(1, 100))]), halt()."'
program "a program of GHC finds a mistake" 'script:2:6: note: Double quote to prevent globbing and word splitting. [SC2086]' '
printf "#!/bin/sh\necho \$1\n" >script
shellcheck -f gcc script || true'
program "Python spawns a program on a terminal" $'hi\r\n0' '
python3 -c "import pty; print(pty.spawn([\"/bin/echo\", \"hi\"]))"'
for method in fork spawn; do
    program "Python's multiprocessing by $method" $'[0, 1, 4, 9, 16]\n3 42' '
cat >parallel.py <<END
import multiprocessing as mp
from multiprocessing import shared_memory
def square(x):
    return x * x
def add(lock, value, name):
    with lock:
        value.value += 1
    memory = shared_memory.SharedMemory(name, track=False)
    memory.buf[0] = 42
    memory.close()
if __name__ == "__main__":
    mp.set_start_method("'$method'")
    with mp.Pool(2) as pool:
        print(pool.map(square, range(5)))
    lock, value = mp.Lock(), mp.Value("i", 0)
    memory = shared_memory.SharedMemory(create=True, size=100)
    tasks = [mp.Process(target=add, args=(lock, value, memory.name)) for _ in range(3)]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join()
    print(value.value, memory.buf[0])
    memory.close()
    memory.unlink()
END
python3 parallel.py'
done
program "git commits what make made" $'made\n1 file changed, 1 insertion(+)' '
printf "all: a b\n\tcat a b >made\na b:\n\techo \$@ >\$@\n" >Makefile
make -sj2
git init -qb main
git add made && sed -i d made && echo made >made && git add made
git -c user.name=me -c user.email=me@here commit -qm made
git log --format=%s --shortstat | sed "/^$/d; s/^ //"'
exit $failed
