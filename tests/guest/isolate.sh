#!/bin/bash
# isolate.sh [CYCLESCOPE]: an attacking guest under --isolate must neither read nor change what is outside.
set -u
cd "$(dirname "$0")/../.." || exit 1
cyclescope=$(realpath "${1:-build/cyclescope}")
work=$(realpath "$(mktemp -d)") || exit 1
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
hang=3600 # seconds: more is a hang, on the slowest machine
failed=0

result() { # STATUS NAME WHY
    if [ "$1" = 0 ]; then
        echo "ok $2"
    else
        echo "not ok $2: $3"
        failed=1
    fi
}

mkdir -p "$work"/{secret,root/{bin,tmp,deep/er,data,etc},shared/inner,readonly,outside}
echo 'TOP SECRET' >"$work/secret/secret.txt"
for folder in readonly shared/inner root/data; do
    echo text >"$work/$folder/file"
done
echo inside >"$work/root/etc/inside"
ln -s "$work/secret/secret.txt" "$work/root/absolute"
ln -s ../secret/secret.txt "$work/root/relative"
ln -s ../../../secret/secret.txt "$work/root/deep/er/relative"
ln -s "$work/secret" "$work/root/folder"
ln -s .. "$work/root/up"
ln -s "/proc/self/root$work/secret/secret.txt" "$work/root/through_proc"
ln -s /deep/er/relative "$work/root/chain"
ln -s /etc/inside "$work/root/inside"
ln -s "$work/secret/secret.txt" "$work/shared/absolute"
ln -s ../secret/secret.txt "$work/shared/relative"
ln -s ../secret "$work/shared/folder"
ln -s ../secret/secret.txt "$work/readonly/relative"
for program in attack sockets; do
    "${CROSS:-riscv64-linux-gnu-}gcc" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-result -static -pthread \
        -o "$work/root/bin/$program" tests/guest/isolate/$program.c || exit 1
done
cp build/guest/file_pty build/guest/file_shm "$work/root/bin/" || exit 1

run() { # ARGUMENTS: the attacker with the folders bound
    timeout -k 60 $hang "$cyclescope" run --isolate --sysroot "$work/root" --bind "$work/shared" \
        --bind "$work/readonly:ro" --bind "$work/shared/inner:ro" --bind "$work/root/data:ro" -- /bin/attack "$work" "$@"
}

before=$(cd "$work" && find secret readonly shared/inner root/data -type f -exec stat -c '%n %s %a %U %Y' {} + | sort)
cd "$work/outside" || exit 1
run folder <"$work/secret" 7<"$work/secret" 2>"$work/err"
result $? "the attacker came to its end" "$(head -c 300 "$work/err")"
run file <"$work/secret/secret.txt" 2>"$work/err"
result $? "the attacker with a file came to its end" "$(head -c 300 "$work/err")"
after=$(cd "$work" && find secret readonly shared/inner root/data -type f -exec stat -c '%n %s %a %U %Y' {} + | sort)
[ "$before" = "$after" ]
result $? "nothing outside and nothing read-only has changed" "$(diff <(echo "$before") <(echo "$after") | tr '\n' ' ')"
[ "$(cat "$work/shared/made" 2>&1)" = made ]
result $? "what the guest wrote in a bound folder is there" "it is not"
[ ! -e "$work/root/stolen" ]
result $? "nothing was linked in" "$work/root/stolen exists"

attempt() { # NAME COMMAND...
    local name=$1
    shift
    timeout -k 60 $hang "$@" </dev/null >/dev/null 2>"$work/err"
    result $? "$name" "$(head -c 300 "$work/err" | tr '\n' ' ')"
}
attempt "pseudo-terminals in isolation" "$cyclescope" run --isolate --sysroot "$work/root" --chdir /tmp /bin/file_pty
for command in run "stat --max-insns 100K"; do # the second ends before the program does
    mkdir -p "$work/temporary"
    # shellcheck disable=SC2086  # a command and its options
    attempt "/dev/shm in isolation: $command" env TMPDIR="$work/temporary" "$cyclescope" $command --isolate \
        --sysroot "$work/root" --chdir /tmp /bin/file_shm
    attempt "/dev/shm leaves nothing behind: $command" rmdir "$work/temporary"
done
attempt "sockets, under qemu" qemu-riscv64 "$work/root/bin/sockets"
attempt "sockets with --allow-net" "$cyclescope" run --allow-net "$work/root/bin/sockets"
attempt "sockets with --allow-net and --sysroot" "$cyclescope" run --allow-net --sysroot "$work/root" /bin/sockets
attempt "sockets with --allow-net in isolation" "$cyclescope" run --allow-net --isolate --sysroot "$work/root" \
    --chdir /tmp /bin/sockets
exit $failed
