#!/bin/bash
# checkpoint.sh SECONDS: fuzzes the reader of checkpoints under sanitizers. Seeds are the fields of checkpoints of a small
# program, which has threads, timers, signals, files and a folder, at several points; checksums are made right again for
# whatever becomes of them. Fails if anything is found; the input that did it is kept in build/fuzz-checkpoint.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build} cross=${CROSS:-riscv64-linux-gnu-}
work=$(realpath -m "$build/fuzz-checkpoint")
rm -rf "$work/root" "$work/seeds"
mkdir -p "$work/root/folder" "$work/seeds" "$work/corpus"
for fd in /proc/$$/fd/*; do # the guest must not inherit what the caller left open
    fd=${fd##*/}
    [ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-"
done
printf 'some text\n' >"$work/root/folder/file"
"${cross}gcc" -O1 -s -static -nostdlib -ffreestanding -fno-stack-protector -Wl,--no-relax -x c -o "$work/root/program" - <<'C'
static long call(long n, long a, long b, long c, long d, long e)
{
    register long a7 __asm__("a7") = n, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c,
                  a3 __asm__("a3") = d, a4 __asm__("a4") = e;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a7) : "memory");
    return a0;
}
static volatile int word, ticks;
static char stack[2][1024] __attribute__((aligned(16)));
static void tick(int sig)
{
    ticks += sig;
    for (volatile int i = 0; i < 40; i++)
        ;
}
static void work(void)
{
    static long pause[2] = {0, 5000};
    for (;;) {
        call(98, (long)&word, 0, 0, (long)pause, 0); /* futex: wait, with a timeout */
        call(101, (long)pause, 0, 0, 0, 0);          /* nanosleep */
        word = 0;
    }
}
/* A thread begins here, on its own stack, below what its caller would have kept there. */
static void begin(char *end)
{
    register long a7 __asm__("a7") = 220, a0 __asm__("a0") = 0x50f00, a1 __asm__("a1") = (long)end,
                  a2 __asm__("a2") = 0, a3 __asm__("a3") = 0, a4 __asm__("a4") = 0;
    __asm__ volatile("ecall\nbnez a0, 1f\njr %[work]\n1:"
                     : "+r"(a0)
                     : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a7), [work] "r"(work)
                     : "memory");
}
void _start(void)
{
    static char buffer[128];
    static long action[3] = {0}, often[4] = {0, 3, 0, 3}, ignored[3] = {1}, mask = 1 << 9;
    action[0] = (long)tick;
    call(134, 14, (long)action, 0, 8, 0);                             /* rt_sigaction: SIGALRM */
    call(134, 13, (long)ignored, 0, 8, 0);                            /* SIGPIPE */
    call(135, 0, (long)&mask, 0, 8, 0);                               /* block SIGUSR1 */
    call(103, 0, (long)often, 0, 0, 0);                               /* setitimer */
    long file = call(56, -100, (long)"/folder/file", 0, 0, 0);        /* openat */
    long folder = call(56, -100, (long)"/folder", 0200000, 0, 0);
    call(23, file, 0, 0, 0, 0);                                       /* dup */
    call(56, -100, (long)"/proc/self/maps", 0, 0, 0);
    call(61, folder, (long)buffer, sizeof buffer, 0, 0);              /* getdents64 */
    call(222, 0, 3 * 4096, 3, 0x22, -1);                              /* mmap */
    begin(stack[0] + sizeof stack[0]);
    begin(stack[1] + sizeof stack[1]);
    call(129, call(172, 0, 0, 0, 0, 0), 10, 0, 0, 0);                 /* kill: it waits */
    for (volatile int i = 0;; i++) {
        if (i % 100 == 0)
            call(63, file, (long)buffer, 1, 0, 0);                    /* read */
        if (i % 300 == 0)
            call(98, (long)&word, 1, 1, 0, 0);                        /* futex: wake */
    }
}
C
for at in 20 60 150 400 1500 4000 9000 20000; do
    "$build/cyclescope" checkpoint --quiet --sysroot "$work/root" --isolate --thread-quantum 700 --at $at \
        -o "$work/checkpoint" /program </dev/null >/dev/null || exit 1
    "$build/fuzz_checkpoint" --seed "$work/checkpoint" "$work/seeds/at-$at"
done
FUZZ_ROOT=$work/root "$build/fuzz_checkpoint" -max_total_time="$1" -max_len=131072 -len_control=0 -timeout=20 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$work/" "$work/corpus" "$work/seeds"
