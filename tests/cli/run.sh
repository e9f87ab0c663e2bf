#!/bin/bash
# run.sh CYCLESCOPE: the command line as a user meets it: what works, and what each mistake says.
. "$(dirname "$0")/common.sh"
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
target=/usr/${cross%-} # the cross compiler's libraries, a sysroot for small programs

compile hello -static <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("%s\n", argv[i]);
    if (getenv("GREETING"))
        puts(getenv("GREETING"));
    return argc;
}
C
compile dynamic <<<'int main(void) { return 0; }'
"${cross}gcc" -shared -fPIC -nostdlib -x c -o "$work/libgone.so" - <<<'int gone(void) { return 0; }'
compile needs-library -L"$work" -lgone <<<'int gone(void); int main(void) { return gone(); }' && rm "$work/libgone.so"
compile pie -static-pie -fPIE -nostdlib -Wl,--no-dynamic-linker <<'C'
void _start(void)
{
    __asm__ volatile("lla a1, 1f; li a0, 1; li a2, 4; li a7, 64; ecall; li a0, 7; li a7, 93; ecall; 1: .ascii \"pie\\n\"");
}
C
compile object -c <<<'int x;'
chmod +x "$work/object"

# ---- what works
gives status-passes-through 3 $'a\nb c' "$cyclescope" run "$work/hello" a 'b c'
gives dashes-end-options 2 --count "$cyclescope" run -- "$work/hello" --count
gives arguments-are-the-programs 2 --help "$cyclescope" run "$work/hello" --help
gives env 1 hi "$cyclescope" run --env GREETING=hi "$work/hello"
gives env-replaces 1 hi env GREETING=bye "$cyclescope" run --env=GREETING=hi "$work/hello"
gives static-pie 7 pie "$cyclescope" run "$work/pie"
gives dynamic 0 '' "$cyclescope" run --sysroot "$target" "$work/dynamic"
gives help-names-the-commands 0 "$("$cyclescope" --help)" "$cyclescope" help
gives version 0 "cyclescope 0.1.0" "$cyclescope" --version
if "$cyclescope" run --help | grep -q -- '--sysroot DIR'; then ok run-help; else not_ok run-help "does not list --sysroot"; fi

"$cyclescope" run --count "$work/hello" 2>"$work/err"
if grep -Eq '^cyclescope: [0-9]+ instructions, [0-9.]+ seconds, [0-9.]+ MIPS$' "$work/err"; then ok count
else not_ok count "says: $(cat "$work/err")"; fi
compile closes -static <<<'#include <unistd.h>
int main(void) { close(1); close(2); return 0; }'
"$cyclescope" run --count --json - "$work/closes" >"$work/out" 2>"$work/err"
if grep -q instructions "$work/err" && grep -q '"instructions"' "$work/out"; then ok count-though-the-guest-closes-everything
else not_ok count-though-the-guest-closes-everything "$(cat "$work/err" "$work/out")"; fi
"$cyclescope" run --count="$work/first" "$work/hello"
"$cyclescope" run --count="$work/second" "$work/hello"
if [ -s "$work/first" ] && [ "$(cut -d, -f1 "$work/first")" = "$(cut -d, -f1 "$work/second")" ]; then ok count-repeats
else not_ok count-repeats "$(cat "$work/first" "$work/second")"; fi
"$cyclescope" run --json "$work/json" "$work/hello" x >/dev/null
if python3 - "$work/json" <<'P'
import json, sys
r = json.load(open(sys.argv[1]))
ok = (r["command"] == "run" and r["exit_status"] == 2 and r["instructions"] > 1000 and r["program"].endswith("/hello")
      and r["host"]["seconds"] > 0 and r["host"]["mips"] > 0 and r["version"])
sys.exit(not ok)
P
then ok json; else not_ok json "$(cat "$work/json")"; fi

# A session is a guest's, whatever the host calls it: in a pid namespace of its own, the host's session is 0.
compile session -static <<<'#include <unistd.h>
int main(void) { return getsid(0) <= 0 || getpgid(0) <= 0; }'
if unshare -p -f true 2>/dev/null; then gives session-of-another-namespace 0 '' unshare -p -f "$cyclescope" run "$work/session"
else gives session 0 '' "$cyclescope" run "$work/session"; fi

# ---- how a guest dies
for case in "abort 134 abort();" "bad-jump 139 ((void (*)(void))0x1234567000)();" \
    "null-store 139 *(volatile int *)0 = 1;" "stack-overflow 139 return f(n + 1) + n;" \
    "kernel-address 139 return *(volatile int *)0xffffffff80000000;" "illegal 132 __asm__ volatile(\".4byte 0\");" \
    "breakpoint 133 __asm__ volatile(\"ebreak\");" \
    "endless-allocation 3 for (;;) { char *p = malloc(1 << 20); if (!p) exit(3); p[n % 4096] = 1; }"; do
    read -r name status code <<<"$case"
    compile "$name" -static <<<"#include <stdlib.h>
        __attribute__((noinline)) int f(volatile int n) { $code }
        int main(void) { return f(1); }"
    gives "dies-by-$name" "$status" '' "$cyclescope" run --quiet --memory 512M "$work/$name"
done

# ---- mistakes
complains no-program 'no program given' "$cyclescope" run
complains unknown-command "'walk' is not a command" "$cyclescope" walk
complains unknown-option "unknown option '--cuont'.*--count" "$cyclescope" run --cuont "$work/hello"
complains option-without-value '--sysroot needs a value' "$cyclescope" run --sysroot
complains bad-number "--seed needs a number, not 'many'" "$cyclescope" run --seed many "$work/hello"
complains bad-size "--memory needs a size" "$cyclescope" run --memory 12X "$work/hello"
complains flag-with-value '--isolate takes no value' "$cyclescope" run --isolate=yes "$work/hello"
complains bad-env '--env needs NAME=VALUE' "$cyclescope" run --env GREETING "$work/hello"
complains no-sysroot 'no such folder' "$cyclescope" run --sysroot /no/such/folder "$work/hello"
complains sysroot-is-a-file 'is a file, not a folder' "$cyclescope" run --sysroot "$work/hello" "$work/hello"
complains isolate-without-sysroot '--isolate needs --sysroot' "$cyclescope" run --isolate "$work/hello"
complains bind-without-isolate '--bind needs --isolate' "$cyclescope" run --bind /tmp "$work/hello"
complains bind-nowhere 'no such folder' "$cyclescope" run --isolate --sysroot "$work" --bind /no/where "$work/hello"
complains chdir-nowhere '/no/where' "$cyclescope" run --chdir /no/where "$work/hello"
complains no-such-file "there is no $work/missing" "$cyclescope" run "$work/missing"
cp "$work/hello" "$work/plain"; chmod -x "$work/plain"
complains not-executable 'chmod \+x' "$cyclescope" run "$work/plain"
complains a-directory 'is a (directory|folder)' "$cyclescope" run "$work"
complains missing-interpreter 'needs the interpreter /lib/ld-linux-riscv64-lp64d.so.1.*--sysroot' "$cyclescope" run "$work/dynamic"
"$cyclescope" run --sysroot "$target" "$work/needs-library" 2>"$work/err"
status=$?
if [ $status = 125 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q 'libgone.so' "$work/err"; then ok missing-library
else not_ok missing-library "status $status: $(cat "$work/err")"; fi
complains an-object-file 'relocatable' "$cyclescope" run "$work/object"
complains a-host-program 'x86-64' "$cyclescope" run /bin/true
: >"$work/empty"; chmod +x "$work/empty"
complains an-empty-file 'empty' "$cyclescope" run "$work/empty"
echo 'just some text' >"$work/text"; chmod +x "$work/text"
complains a-text-file 'not an ELF' "$cyclescope" run "$work/text"
patch_byte() { # FILE OFFSET OCTAL
    cp "$work/hello" "$work/$1"
    printf "\\$3" | dd of="$work/$1" bs=1 seek="$2" conv=notrunc status=none
}
patch_byte 32-bit 4 001
complains a-32-bit-program '32-bit' "$cyclescope" run "$work/32-bit"
patch_byte big-endian 5 002
complains a-big-endian-program 'big-endian' "$cyclescope" run "$work/big-endian"
patch_byte other-machine 18 267
complains an-aarch64-program '(AArch64|aarch64|ARM64)' "$cyclescope" run "$work/other-machine"
head -c 40 "$work/hello" >"$work/cut-header"; chmod +x "$work/cut-header"
complains a-cut-header 'truncated' "$cyclescope" run "$work/cut-header"
head -c 5000 "$work/hello" >"$work/cut"; chmod +x "$work/cut"
complains a-cut-program 'truncated' "$cyclescope" run "$work/cut"
cp "$work/hello" "$work/unreadable"; chmod 0 "$work/unreadable"
if [ "$(id -u)" != 0 ]; then
    complains an-unreadable-file 'cannot be read: permission denied' "$cyclescope" run "$work/unreadable"
else # root reads everything: another user tries, with a copy that it can reach
    chmod 755 "$work" && cp "$cyclescope" "$work/copy"
    complains an-unreadable-file 'cannot be read: permission denied' \
        setpriv --reuid 65534 --clear-groups "$work/copy" run "$work/unreadable"
fi
complains count-file-cannot-be-written '/no/where/count' "$cyclescope" run --count=/no/where/count "$work/hello"
exit $failed
