#!/bin/bash
# chroot.sh [FOLDER]: installs the Debian packages of FOLDER, or those that `make deb` makes, in a fresh minimal Debian 12
# and uses them there. Needs root and a mirror. Prints `ok`, `not ok` or `skip` lines.
set -u
cd "$(dirname "$0")/../.." || exit 1
here=$PWD cross=${CROSS:-riscv64-linux-gnu-}
failed=0
ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: $2"; failed=1; }
skip() { echo "skip deb: $1"; exit 0; }

[ "$(id -u)" = 0 ] || skip "debootstrap and chroot need root"
# A mount namespace of its own, so that nothing stays mounted.
if [ -z "${IN_NAMESPACE:-}" ]; then
    unshare -m true 2>/dev/null || skip "unshare -m is not permitted here"
    IN_NAMESPACE=1 exec unshare -m "$0" "$@"
fi
tools/deps.sh debootstrap >/dev/null 2>&1 || skip "debootstrap cannot be installed"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' 'Component: main' | head -1)
[ -n "$mirror" ] || skip "apt knows no archive of Debian 12"
python3 -c 'import sys, urllib.request as r; r.urlopen(sys.argv[1], timeout=30)' "${mirror%/}/dists/bookworm/Release" 2>/dev/null ||
    skip "the mirror $mirror does not answer"

work=$(mktemp -d) || exit 1
root=$work/root
trap 'umount "$root/proc" 2>/dev/null; rm -rf --one-file-system "$work"' EXIT
# inside COMMAND...: runs it in the chroot.
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# works NAME COMMAND...: it ends with status 0.
works() {
    local name=$1
    shift
    if "$@" >"$work/out" 2>&1; then ok "$name"; else not_ok "$name" "status $?: $(tail -c 600 "$work/out" | tr '\n' ' ')"; fi
}
# same NAME WANTED GOT
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "'$3' instead of '$2'"; fi; }

# ---- packages

before=$(git status --porcelain 2>/dev/null)
packages=${1:-build/deb}
[ $# -gt 0 ] || works make-deb make -s deb
same the-checkout-is-as-before "$before" "$(git status --porcelain 2>/dev/null)"
version=$(sed -n 's/.*VERSION "\(.*\)"/\1/p' src/base/version.h)

# ---- a fresh Debian

works debootstrap debootstrap --variant=minbase bookworm "$root" "$mirror"
[ -x "$root/usr/bin/apt-get" ] || exit 1
mount -t proc proc "$root/proc"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
works apt-update inside apt-get -qq update
works install-program inside apt-get -qq -y --no-install-recommends install "/packages/cyclescope_${version}_amd64.deb"

# ---- the program

same version "cyclescope $version" "$(inside cyclescope --version)"
same version-of-the-package "$version" "$(inside dpkg-query -W -f '${Version}' cyclescope)"
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 3; }\n' >"$work/hello.c"
works compile-the-guest "${cross}gcc" -O1 -static -o "$root/hello" "$work/hello.c"
same run "hello
3" "$(inside cyclescope run /hello; echo $?)"
same stack-status 3 "$(inside cyclescope stack --json /stack.json /hello >/dev/null 2>"$work/page"; echo $?)"
if grep -q '^ *base ' "$work/page" && grep -q '"cycles"' "$root/stack.json"; then ok stack; else not_ok stack "$(head -c 600 "$work/page")"; fi
works completion inside bash -c 'source /usr/share/bash-completion/completions/cyclescope && complete -p cyclescope'

# ---- files

for page in docs/*.1; do
    name=$(basename "$page")
    same "$name" "$(cat "$page")" "$(gzip -dc "$root/usr/share/man/man1/$name.gz" 2>/dev/null)"
done
missing=
for file in README.md $(find docs -name '*.md') examples/*.c; do
    cmp -s "$file" "$root/usr/share/doc/cyclescope/$file" || missing="$missing $file"
done
same documents "" "$missing"
same owned "" "$(inside dpkg --verify cyclescope 2>&1)"

# ---- the library

works install-library inside apt-get -qq -y --no-install-recommends install \
    "/packages/libcyclescope0_${version}_amd64.deb" "/packages/libcyclescope-dev_${version}_amd64.deb"
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/x86_64-linux-gnu/pkgconfig
# shellcheck disable=SC2046
works compile-the-example gcc -o "$root/watch" "$here/examples/watch.c" $(pkg-config --cflags --libs cyclescope) \
    -Wl,-rpath-link,"$root/usr/lib/x86_64-linux-gnu"
same example "hello
3" "$(inside /watch /hello | grep hello; inside /watch /hello >/dev/null; echo $?)"

# ---- removed again

works remove inside apt-get -qq -y purge cyclescope libcyclescope0 libcyclescope-dev
same nothing-is-left "" "$(find "$root/usr" -path '*cyclescope*')"
exit $failed
