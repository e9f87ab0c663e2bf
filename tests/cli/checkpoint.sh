#!/bin/bash
# checkpoint.sh CYCLESCOPE: `checkpoint` and --restore as a user meets them: what goes on, and what each refusal says.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT
for fd in /proc/$$/fd/*; do # what the caller left open is none of the guests'
    fd=${fd##*/}
    [ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-"
done

# Threads that hand numbers on, a timer whose handler counts, sleeps, a file that is read and one that is written.
compile busy -static -pthread <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#include <sys/random.h>
static volatile unsigned long ticks, noise;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int number;
static void tick(int sig)
{
    ticks += sig == SIGALRM;
    for (int i = 0; i < 2000; i++)
        noise = noise * 31 + ticks;
}
static void *count(void *own)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        while (number % 3 != (int)(long)own)
            pthread_cond_wait(&changed, &lock);
        number++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        usleep(300);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    struct itimerval often = {{0, 50}, {0, 50}};
    pthread_t t[3];
    char line[64];
    unsigned dice;
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, count, (void *)i);
    for (int i = 0; fgets(line, sizeof line, in); i++) {
        getrandom(&dice, sizeof dice, 0);
        fprintf(out, "%d %s", i, line);
        fflush(out);
        printf("%d %u %lu\n", i, dice, ticks);
        fflush(stdout);
        usleep(100);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%d %lu %lu\n", number, ticks, noise);
    return 7;
}
C
seq 1000 1040 >"$work/lines"
busy() { (cd "$work" && "$cyclescope" "$@"); }
insns() { sed -En 's/^cyclescope: ([0-9]+) instructions.*/\1/p' "$1"; }

busy run --count ./busy lines copy >"$work/whole" 2>"$work/whole.err"
total=$(insns "$work/whole.err")
cp "$work/copy" "$work/whole.copy"
problem=
for k in 1 2 3 4 5 6 7 8 9 10 11; do
    at=$((total * k / 12 + k * 37))
    busy checkpoint --quiet --at $at -o point ./busy lines copy >"$work/first" 2>"$work/err" || problem+="not saved at $at: $(cat "$work/err") "
    busy run --count --restore point >"$work/second" 2>"$work/second.err"
    [ $? = 7 ] || problem+="wrong status from $at: $(cat "$work/second.err") "
    cat "$work/first" "$work/second" | cmp -s - "$work/whole" || problem+="other output from $at "
    cmp -s "$work/copy" "$work/whole.copy" || problem+="another file from $at "
    [ "$(insns "$work/second.err")" = "$total" ] || problem+="other instructions from $at "
done
if [ -z "$problem" ]; then ok threads-timers-and-files-go-on; else not_ok threads-timers-and-files-go-on "$problem"; fi

# ---- points that are known to lie inside a signal handler, and between the beginnings and ends of several threads: nothing
# sleeps, so the guest's clock counts instructions
compile handlers -static -pthread <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
enum { MOST = 64 };
static volatile long enter[MOST], leave[MOST], work;
static volatile int count;
static long now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000 + ts.tv_nsec;
}
static void tick(int sig)
{
    if (count == MOST)
        return;
    enter[count] = now();
    for (int i = 0; i < 300; i++)
        work += sig;
    leave[count] = now();
    count++;
}
static void *run(void *own)
{
    for (long i = 0; i < 60000; i++)
        work ^= i * (long)own;
    return NULL;
}
int main(void)
{
    struct itimerval often = {{0, 20}, {0, 20}};
    pthread_t t[3];
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, run, (void *)(i + 1));
    long first = now();
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    long last = now();
    printf("%ld\n", work);
    for (int i = 0; i < count; i++)
        fprintf(stderr, "handler %ld %ld\n", enter[i], leave[i]);
    fprintf(stderr, "threads %ld %ld\nend %ld\n", first, last, now());
    return 5;
}
C
busy run --count --thread-quantum 5000 ./handlers >"$work/whole" 2>"$work/whole.err"
total=$(insns "$work/whole.err") end=$(awk '/^end/ { print $2 }' "$work/whole.err")
points=$(awk '/^threads/ { first = $2; last = $3 } /^handler/ { from[n] = $2; to[n++] = $3 }
    END { for (i = 0; i < n; i += 7) if (from[i] > first && to[i] < last) print int((from[i] + to[i]) / 2) }' "$work/whole.err")
hits=0 problem=
[ $((total - end)) -lt 100000 ] && [ $((total - end)) -ge 0 ] || problem="the clock does not count instructions: $end, $total "
for at in $points; do
    busy checkpoint --quiet --thread-quantum 5000 --at "$at" -o point ./handlers >/dev/null 2>"$work/err" || problem+="not saved at $at: $(cat "$work/err") "
    busy run --count --restore point >"$work/second" 2>"$work/second.err"
    [ $? = 5 ] || problem+="wrong status from $at "
    cmp -s "$work/whole" "$work/second" && [ "$(sed 's/,.*//' "$work/second.err")" = "$(sed 's/,.*//' "$work/whole.err")" ] || problem+="it went on otherwise from $at "
    hits=$((hits + 1))
done
if [ -z "$problem" ] && [ $hits -ge 3 ]; then ok inside-handlers-with-threads; else not_ok inside-handlers-with-threads "$hits points: $problem"; fi

# ---- the core counts the same from a checkpoint as behind what was skipped
compile_work
events() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["instructions"], r["cycles"], r["events"])' "$1"; }
busy checkpoint --quiet --at 30000 -o point ./work 20000
busy stat --quiet --json skipped --skip 30000 ./work 20000 >/dev/null
busy stat --quiet --json restored --restore point >/dev/null
if [ "$(events "$work/skipped")" = "$(events "$work/restored")" ] && [ -n "$(events "$work/restored")" ]; then ok stat-counts-the-same
else not_ok stat-counts-the-same "$(events "$work/skipped"; events "$work/restored")"; fi
busy stack --quiet --csv skipped --skip 30000 ./work 20000 >/dev/null
busy stack --quiet --csv restored --restore point >/dev/null
if [ -s "$work/restored" ] && cmp -s "$work/skipped" "$work/restored"; then ok stack-counts-the-same
else not_ok stack-counts-the-same "$(cat "$work/skipped" "$work/restored")"; fi
busy validate --quiet --csv skipped --skip 30000 ./work 20000 >/dev/null
busy validate --quiet --csv restored --restore point >"$work/out"
if [ "$(wc -l <"$work/restored")" = 9 ] && cmp -s "$work/skipped" "$work/restored" && [ "$(cat "$work/out")" = done ]; then
    ok validate-counts-the-same
else not_ok validate-counts-the-same "$(cat "$work/out" "$work/skipped" "$work/restored")"; fi
complains validate-through-a-pipe 'every run reads the checkpoint for itself' "$cyclescope" validate --restore -
busy checkpoint --quiet --at 60000 -o later --restore point 2>"$work/err"
gives checkpoint-of-a-checkpoint 3 done "$cyclescope" run --restore "$work/later"
busy checkpoint --quiet --at 30000 -o - ./work 20000 2>"$work/err" | busy run --restore - >"$work/out"
if [ "$(cat "$work/out")" = done ]; then ok through-a-pipe; else not_ok through-a-pipe "$(cat "$work/out" "$work/err")"; fi

# ---- warm caches and predictors go with it; each choice of their parts has its own state
same_warm() { # NAME CORE SETTINGS
    local set=() setting
    for setting in ${3-}; do set+=(--set "$setting"); done
    busy checkpoint --quiet --warm --core "$2" "${set[@]}" --at 40000 -o warm ./work 20000 >"$work/err" 2>&1
    busy stat --quiet --json skipped --core "$2" "${set[@]}" --skip 40000 --warm ./work 20000 >/dev/null
    busy stat --quiet --json restored --core "$2" "${set[@]}" --restore warm >/dev/null 2>>"$work/err"
    if [ -n "$(events "$work/restored")" ] && [ "$(events "$work/skipped")" = "$(events "$work/restored")" ]; then ok "warm-$1"
    else not_ok "warm-$1" "$(cat "$work/err") $(events "$work/skipped" | head -c 300) $(events "$work/restored" | head -c 300)"; fi
}
for core in $("$cyclescope" list cores | awk '{ print $1 }'); do same_warm "$core" "$core"; done
for predictor in static bimodal gshare hybrid tage; do same_warm "$predictor" eyerman2006 "branch.predictor=$predictor"; done
same_warm plru eyerman2006 "l1d.replacement=plru l1d.prefetch=stride l2.replacement=random l1i.prefetch=next_line"
busy stat --quiet --json cold --skip 40000 ./work 20000 >/dev/null
busy checkpoint --quiet --warm --at 40000 -o warm ./work 20000
busy stat --quiet --json restored --restore warm >/dev/null
if [ "$(events "$work/cold")" != "$(events "$work/restored")" ]; then ok warm-is-not-cold; else not_ok warm-is-not-cold "the counts are those of cold caches"; fi
complains warm-other-core 'are of another core: there l1d.size=[0-9]+K, here l1d.size=128K' "$cyclescope" stat --restore "$work/warm" --set l1d.size=128K
gives warm-ignored-by-run 3 done "$cyclescope" run --restore "$work/warm"
busy checkpoint --quiet --warm --at 20000 -o warm ./work 20000
busy checkpoint --quiet --warm --at 40000 -o later2 --restore warm
busy stat --quiet --json again --restore later2 >/dev/null
if [ "$(events "$work/again")" = "$(events "$work/restored")" ]; then ok warm-in-two-steps; else not_ok warm-in-two-steps "$(events "$work/again" | head -c 300) $(events "$work/restored" | head -c 300)"; fi
complains core-without-warm 'need --warm' "$cyclescope" checkpoint --core eyerman2006 --at 5 -o x "$work/work"

# ---- several points on one way
busy checkpoint --quiet --at 60K,30K,45000 -o 'way.%d.ckpt' ./work 20000
busy checkpoint --quiet --warm --at "$(seq -s, 30000 7 30700),60K,45K" -o 'warm.%d.ckpt' ./work 20000
problem=
for at in 30000 45000 60000; do
    busy checkpoint --quiet --at $at -o alone ./work 20000
    cmp -s "$work/alone" "$work/way.$at.ckpt" || problem+="another at $at "
done
for at in 30000 30147 30294 30441 30588 30700 45000 60000; do # what is in flight at a point retires later all the same
    busy checkpoint --quiet --warm --at $at -o alone ./work 20000
    cmp -s "$work/alone" "$work/warm.$at.ckpt" || problem+="another, warm, at $at "
done
if [ -z "$problem" ]; then ok several-points; else not_ok several-points "$problem$(ls "$work")"; fi
rm -f "$work"/way.* "$work"/warm.*
printf '6 1\n3 0\n0 2\n' >"$work/points.simpoints"
busy checkpoint --quiet --points points.simpoints --interval 10K -o 'way.%d.ckpt' ./work 20000
busy checkpoint --quiet --at 30000 -o alone ./work 20000
if [ "$(cd "$work" && echo way.*)" = "way.0.ckpt way.30000.ckpt way.60000.ckpt" ] && cmp -s "$work/alone" "$work/way.30000.ckpt"; then ok simpoints-file
else not_ok simpoints-file "$(ls "$work")"; fi
gives from-the-very-start 3 done "$cyclescope" run --restore "$work/way.0.ckpt"
complains at-and-points 'exclude each other' "$cyclescope" checkpoint --at 5 --points x -o x.%d "$work/work"
complains several-in-one-file 'several points need -o with %d' "$cyclescope" checkpoint --at 5,6 -o x "$work/work"
complains no-number "'x' is no number of instructions" "$cyclescope" checkpoint --at 5,x -o x.%d "$work/work"
complains twice "has 5000 twice" "$cyclescope" checkpoint --at 5K,5000 -o x.%d "$work/work"

# ---- a plain standard input goes on where it was
compile twice -static <<'C'
#include <unistd.h>
int main(void)
{
    char c;
    volatile int i;
    while (read(0, &c, 1) == 1) {
        for (i = 0; i < 1000; i++);
        write(1, &c, 1);
    }
    return 0;
}
C
printf abcdefgh >"$work/letters"
(cd "$work" && "$cyclescope" checkpoint --quiet --at 45000 -o point ./twice <letters >first)
(cd "$work" && "$cyclescope" run --restore point </dev/null >second)
if [ "$(cat "$work/first" "$work/second")" = abcdefgh ] && [ -s "$work/first" ] && [ -s "$work/second" ]; then ok input-goes-on
else not_ok input-goes-on "$(cat "$work/first") and $(cat "$work/second")"; fi

# ---- what cannot be saved
compile refused -static <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int fds[2];
    switch (argv[1][0]) {
    case 'p': pipe(fds); break;
    case 's': socketpair(AF_UNIX, SOCK_STREAM, 0, fds); break;
    case 'e': epoll_create1(0); break;
    case 'd': open("gone", O_CREAT | O_RDWR, 0600); unlink("gone"); break;
    case 'l': flock(open("locked", O_CREAT | O_RDWR, 0600), LOCK_EX); break;
    case 'c': if (fork() == 0) for (;;); break;
    case 'z': if (fork() == 0) _exit(0); break;
    case 'g': setsid(); break;
    }
    for (volatile long i = 0; i < 100000000; i++);
    return 0;
}
C
cd "$work" || exit 1
refuses() { complains "refuses-$1" "$3" "$cyclescope" checkpoint --at 20M -o never ./refused "$2"; }
refuses pipe p 'descriptor [0-9]+ cannot be saved: it is a pipe'
refuses socket s 'descriptor [0-9]+ cannot be saved: it is a socket'
refuses epoll e 'eventpoll.*only the kernel knows'
refuses deleted d 'gone.* has no name in any folder'
refuses lock l 'it holds a lock on its file'
refuses child c 'its child 1001 still runs'
refuses zombie z 'its child 1001 has ended, but it has not waited for it'
complains refuses-host-time 'host-time a program cannot be saved' "$cyclescope" checkpoint --host-time --at 20000 -o never ./refused x
if [ -e never ] || ls never.* >/dev/null 2>&1; then not_ok refusals-leave-no-file "$(ls)"; else ok refusals-leave-no-file; fi

# ---- a pipe that the caller left open: the one who restores may give another, or none
compile left_open -static <<'C'
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    char got[64] = "";
    for (volatile long i = 0; i < 1000000; i++);
    if (read(dup(251), got, sizeof got - 1) < 0)
        strcpy(got, strerror(errno));
    printf("%s\n", got);
    return 0;
}
C
"$cyclescope" checkpoint --quiet --at 1M -o left "$PWD/left_open" 251< <(sleep 1)
echo "$? $(echo other | "$cyclescope" run --restore left 251<&0) $("$cyclescope" run --restore left)" >said
if [ "$(cat said)" = "0 other Bad file descriptor" ]; then ok left-open; else not_ok left-open "$(cat said)"; fi

# ---- mistakes
complains no-at 'checkpoint needs --at N' "$cyclescope" checkpoint -o x ./work
complains no-file 'checkpoint needs -o FILE' "$cyclescope" checkpoint --at 5 ./work
complains no-folder 'nowhere/x cannot be written: No such file' "$cyclescope" checkpoint --at 5 -o nowhere/x ./work
complains too-late 'ended after [0-9]+ instructions, before 100000000000' "$cyclescope" checkpoint --quiet --at 100G -o x ./twice
complains no-checkpoint 'none cannot be opened: No such file' "$cyclescope" run --restore none
complains foreign 'lines is no checkpoint of Cyclescope' "$cyclescope" run --restore lines
complains with-program "takes no program: './work'" "$cyclescope" run --restore later ./work
complains with-seed 'only --sysroot can be changed' "$cyclescope" stat --restore later --seed 3
complains restore-and-with '--with and --restore exclude' "$cyclescope" stat --restore later --with ./work
head -c 2000 later >cut
complains cut-off 'cut was cut off in block 0' "$cyclescope" run --restore cut
touch work
complains changed 'work has changed since the checkpoint was taken' "$cyclescope" run --restore later
rm work
complains removed 'work.* cannot be opened again: No such file' "$cyclescope" run --restore later

# ---- a writer that is killed leaves nothing under the name, or all of it
compile large -static <<'C'
#include <stdlib.h>
#include <string.h>
enum { BYTES = 48 << 20 };
int main(void)
{
    unsigned long *data = malloc(BYTES), seed = 1;
    for (long i = 0; i < BYTES / 8; i++)
        data[i] = seed = seed * 6364136223846793005 + 1442695040888963407; /* nothing that could be compressed */
    return data[BYTES / 16] % 50 + 1;
}
C
busy run ./large
status=$?
save_large=("$cyclescope" checkpoint --quiet --at 31M -o "$work/kills/large.ckpt" ./large)
mkdir kills
start=$(date +%s%N)
"${save_large[@]}"
took=$((($(date +%s%N) - start) / 1000000))
problem= kept=0 killed=0
for k in $(seq 1 24); do
    [ $((k % 3)) = 0 ] || rm -f kills/large.ckpt # with and without one that it replaces
    before=$(stat -c %i kills/large.ckpt 2>/dev/null)
    "${save_large[@]}" & # most of the time goes into writing: the later kills are closer together
    pid=$!
    sleep "$(awk -v k="$k" -v t="$took" 'BEGIN { print t / 1000 * (0.2 + 0.85 * sqrt(k / 24)) }')"
    kill -KILL $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
    if [ -e kills/large.ckpt ]; then
        kept=$((kept + 1))
        "$cyclescope" run --restore kills/large.ckpt
        [ $? = $status ] || problem+="kill $k left a file that is not whole "
    fi
    [ -z "$before" ] || [ -e kills/large.ckpt ] || problem+="kill $k took the old file away "
    [ -z "$(find kills -name 'large*' ! -name large.ckpt)" ] || problem+="kill $k left $(ls kills) "
done 2>/dev/null
if [ -z "$problem" ] && [ $killed -ge 8 ]; then ok kills-leave-whole-files; else not_ok kills-leave-whole-files "$killed kills, $kept files: $problem"; fi

# ---- no room
rm -rf kills && mkdir kills
complains full-device 'the checkpoint cannot be written: No space left' "$cyclescope" checkpoint --quiet --at 31M -o /dev/full ./large
(ulimit -f 1000; complains file-too-large 'the checkpoint cannot be written: File too large' "$cyclescope" checkpoint --quiet --at 31M -o kills/large.ckpt ./large; exit $failed) || failed=1
if [ -z "$(ls -A kills)" ]; then ok no-room-leaves-no-file; else not_ok no-room-leaves-no-file "$(ls -A kills)"; fi

# ---- through a pipe and other programs, and with a sysroot that has moved
compile reader -static <<'C'
#include <stdio.h>
int main(void)
{
    char line[64];
    FILE *in = fopen("/data/lines", "r");
    for (volatile int i = 0; i < 30000; i++);
    for (int n = 0; fgets(line, sizeof line, in); n++)
        if (n % 10 == 0)
            fputs(line, stdout);
    return 4;
}
C
mkdir -p root/data && mv reader root && cp -p lines root/data
"$cyclescope" checkpoint --quiet --at 100K -o - --sysroot root --isolate /reader | gzip -1 >moved.gz
gzip -dc moved.gz | "$cyclescope" run --restore - >said
if [ $? = 4 ] && [ "$(wc -l <said)" = 5 ]; then ok through-pipes-and-gzip; else not_ok through-pipes-and-gzip "$(cat said)"; fi
mv root elsewhere
gzip -dc moved.gz >moved.ckpt
complains sysroot-gone 'root' "$cyclescope" run --restore moved.ckpt
gives sysroot-elsewhere 4 "$(cat said)" "$cyclescope" run --sysroot elsewhere --restore moved.ckpt
touch elsewhere/data/lines
complains sysroot-changed 'lines has changed since' "$cyclescope" run --sysroot elsewhere --restore moved.ckpt

cd - >/dev/null || exit 1
tests/cli/checkpoint_points.py "$cyclescope" || failed=1
exit $failed
