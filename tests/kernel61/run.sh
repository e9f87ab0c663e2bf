#!/bin/bash
# run.sh CYCLESCOPE [TEST...]: guest tests of memory on Debian 12's kernel (Linux 6.1), in a virtual machine. Up to Linux
# 6.16 memory calls that fail leave more behind than later kernels do. The machine has this program, the libraries that it
# needs and the tests; the kernel's package is downloaded and unpacked, not installed. Prints `ok`, `not ok` or `skip` lines.
set -u
cd "$(dirname "$0")/../.." || exit 1
cyclescope=$(realpath "$1")
shift
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(memory_escape memory_half memory_lost memory_map memory_short_file memory_many_maps)
hang=3600 # seconds: more is a hang, on the slowest machine
skip() { echo "skip kernel61: $1"; exit 0; }

tools/deps.sh qemu-system-x86 busybox-static >/dev/null 2>&1 || skip "qemu-system-x86 or busybox-static cannot be installed"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# ---- the kernel

package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-6\.1\..*\)/\1/p' | head -1)
[ -n "$package" ] || skip "apt knows no kernel 6.1 of Debian 12"
(cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$package" >/dev/null 2>&1) ||
    skip "$package cannot be downloaded"
dpkg-deb -x "$work"/linux-image-*.deb "$work/image" || skip "$package cannot be unpacked"
kernel=$(echo "$work"/image/boot/vmlinuz-6.1.*)
[ -e "$kernel" ] || skip "$package has no kernel 6.1"

# ---- its files

root=$work/root
mkdir -p "$root"/{bin,proc,dev,tmp,guest}
cp /bin/busybox "$root/bin/busybox"
cp "$cyclescope" "$root/bin/cyclescope"
ldd "$cyclescope" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done
for name in "${tests[@]}"; do
    cp "build/guest/$name" "$root/guest/$name" || exit 1
done
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t tmpfs tmp /tmp
cd /tmp
echo "kernel $(/bin/busybox uname -r)"
for program in /guest/*; do
    /bin/cyclescope run "$program" </dev/null >/tmp/out 2>&1
    status=$?
    /bin/busybox head -n 3 /tmp/out
    echo "status of ${program#/guest/}: $status"
done
/bin/busybox reboot -f
INIT
chmod 755 "$root/init"
(cd "$root" && find . | busybox cpio -o -H newc) >"$work/initramfs" 2>/dev/null || exit 1

# ---- the machine

timeout -k 60 $hang qemu-system-x86_64 -accel tcg -cpu max -m 3G -smp 1 -nographic -no-reboot -net none \
    -kernel "$kernel" -initrd "$work/initramfs" -append "console=ttyS0 quiet panic=-1" </dev/null >"$work/console" 2>&1
tr -d '\r' <"$work/console" >"$work/text"
failed=0
if grep -aq 'kernel 6\.1\.' "$work/text"; then
    echo "ok boots $(grep -ao 'kernel 6[.]1[.][^ ]*' "$work/text")"
else
    echo "not ok boots: $(tail -c 300 "$work/text" | tr '\n' ' ')"
    exit 1
fi
for name in "${tests[@]}"; do
    status=$(sed -n "s/^status of $name: //p" "$work/text")
    if [ "$status" = 0 ]; then
        echo "ok $name"
    else
        echo "not ok $name: status ${status:-none}: $(grep -aB3 "^status of $name:" "$work/text" | head -c 300 | tr '\n' ' ')"
        failed=1
    fi
done
exit $failed
