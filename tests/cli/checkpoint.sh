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
busy checkpoint --quiet --at 60000 -o later --restore point 2>"$work/err"
gives checkpoint-of-a-checkpoint 3 done "$cyclescope" run --restore "$work/later"
busy checkpoint --quiet --at 30000 -o - ./work 20000 2>"$work/err" | busy run --restore - >"$work/out"
if [ "$(cat "$work/out")" = done ]; then ok through-a-pipe; else not_ok through-a-pipe "$(cat "$work/out" "$work/err")"; fi

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

# ---- mistakes
complains no-at 'checkpoint needs --at N' "$cyclescope" checkpoint -o x ./work
complains no-file 'checkpoint needs -o FILE' "$cyclescope" checkpoint --at 5 ./work
complains no-folder 'nowhere/x cannot be written: No such file' "$cyclescope" checkpoint --at 5 -o nowhere/x ./work
complains too-late 'ended after [0-9]+ instructions, before --at 100000000000' "$cyclescope" checkpoint --quiet --at 100G -o x ./twice
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

# ---- a writer that is killed leaves nothing under the name
{ timeout -s KILL 1 "$cyclescope" checkpoint --at 1000G -o killed ./refused x; } >/dev/null 2>&1
if [ -e killed ]; then not_ok kill-leaves-no-file "there is one"; else ok kill-leaves-no-file; fi

cd - >/dev/null || exit 1
tests/cli/checkpoint_points.py "$cyclescope" || failed=1
exit $failed
