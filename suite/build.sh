#!/bin/bash
# usage: build.sh [DEST]
#
# Assembles DEST/sysroot, a root folder of Debian riscv64 programs, as packages.list describes it,
# and DEST/packages.txt, the name, version and digest of every package in it.  Packages are
# downloaded with a private apt (own lists, cache and state) from the archive that this machine's
# apt is configured for, verified with this machine's archive keyring, and unpacked; maintainer
# scripts are not run.  Root rights are not needed.
#
# Everything is put together in a folder beside DEST that takes its place at the end, so DEST is
# either absent or complete.  A DEST that this recipe made before is left as it is.
#
#   CYCLESCOPE_SUITE    the default of DEST; else cyclescope/suite in the user's cache folder
#   CYCLESCOPE_MIRROR   the archive to use instead of the configured one
#   CYCLESCOPE_KEYRING  the keyring to use instead of the installed one
#
# Exit status: 0 DEST is there, 1 an error, 2 wrong usage, 3 the packages cannot be had here.
set -euo pipefail
export LC_ALL=C
umask 022

RELEASE=trixie
ARCH=riscv64
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
KEYRING=${CYCLESCOPE_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

say()         { printf 'suite: %s\n' "$*" >&2; }
fail()        { say "$*"; exit 1; }
unavailable() { say "$*"; exit 3; }

# The words of all lines of packages.list that start with the verb $1, one per line.
listed() { awk -v verb="$1" '$1 == verb { for (i = 2; i <= NF; i++) print $i }' "$HERE/packages.list"; }

# Identifies the recipe: whatever changes here or in the list makes an existing DEST stale.
recipe() { cat "$HERE/build.sh" "$HERE/packages.list" | sha256sum | cut -d' ' -f1; }

# Archives that could hold RELEASE, one address per line, the most likely first.
archives() {
  if [ -n "${CYCLESCOPE_MIRROR:-}" ]; then echo "${CYCLESCOPE_MIRROR%/}"; return; fi
  # Address of every configured archive; apt knows them even before its first update.
  apt-get update --print-uris 2>/dev/null |
    sed -n "s#^'\(.*\)/dists/.*/\(In\)\{0,1\}Release'.*#\1#p" | awk '!seen[$0]++'
}

# Writes the configuration of the private apt.  APT_CONFIG is read before the machine's own files,
# so naming empty places for those keeps hooks, pins and extra index files of the machine out.  Its
# transport settings (proxies, certificates) are the exception: without them there may be no way out.
configure_apt() {
  local apt=$1 transport
  mkdir -p "$apt"/{lists/partial,cache/archives/partial,log}
  : > "$apt/status"
  transport=$(apt-config dump | grep -E '^Acquire::(http|https|Retries|ForceIPv[46])\b' || true)
  cat > "$apt/apt.conf" <<CONF
$transport
APT::Architecture "$ARCH";
APT::Architectures { "$ARCH"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Log "$apt/log";
CONF
}

# Points the private apt at the first archive that serves RELEASE for ARCH.
choose_archive() {
  local apt=$1 found
  found=$(archives)
  [ -n "$found" ] || unavailable "this machine's apt has no archive configured (CYCLESCOPE_MIRROR can name one)"
  export APT_CONFIG=$apt/apt.conf
  local archive
  for archive in $found; do
    echo "deb [arch=$ARCH signed-by=$KEYRING] $archive $RELEASE main" > "$apt/sources.list"
    if apt-get -qq -o APT::Update::Error-Mode=any update 2>> "$apt/errors"; then return; fi
  done
  sed -n 's/^E:/suite:  /p' "$apt/errors" >&2
  unavailable "no configured archive gives Debian $RELEASE for $ARCH, or the network is down (CYCLESCOPE_MIRROR can name one)"
}

# Downloads the dependency closure of the list into the folder $1.
download() {
  local debs=$1 closure wanted
  # shellcheck disable=SC2046  # lists of names are meant to be split
  closure=$(apt-get -qq -s install $(listed get) | awk '$1 == "Inst" { print $2 }')
  [ -n "$closure" ] || fail "the dependencies of packages.list cannot be resolved"
  wanted=$( { printf '%s\n' "$closure"; listed alone; } | sort -u | grep -vxF -f <(listed omit))
  say "downloading $(wc -w <<< "$wanted") packages"
  mkdir -p "$debs"
  # shellcheck disable=SC2086
  (cd "$debs" && apt-get -qq download $wanted) || unavailable "the download of packages broke off"
}

# One line per package in the folder $1: name, version, digest.
inventory() {
  local deb
  for deb in "$1"/*.deb; do
    # shellcheck disable=SC2016  # dpkg-deb expands these two
    echo "$(dpkg-deb -W --showformat='${Package} ${Version}' "$deb") $(sha256sum < "$deb" | cut -d' ' -f1)"
  done | sort
}

# Unpacks the packages of folder $1 into a root folder $2 whose /bin, /sbin and /lib lie in /usr.
unpack() {
  local debs=$1 root=$2 deb name
  mkdir -p "$root"/usr/{bin,sbin,lib} "$root"/{dev,etc,proc,root,sys,tmp,var/tmp}
  chmod 1777 "$root/tmp" "$root/var/tmp"
  for name in bin sbin lib; do ln -s "usr/$name" "$root/$name"; done

  local prune=() pattern
  while read -r pattern; do prune+=("--exclude=$pattern"); done < <(listed prune)
  for deb in "$debs"/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" |
      tar --extract --directory="$root" --no-same-owner --keep-directory-symlink "${prune[@]}"
  done
}

# What maintainer scripts would have done and the programs rely on.
finish() {
  local root=$1 libs=$1/usr/lib/$ARCH-linux-gnu
  ln -sf blas/libblas.so.3 "$libs/libblas.so.3"
  ln -sf lapack/liblapack.so.3 "$libs/liblapack.so.3"
  ln -sf libtachyon-serial.so.0 "$libs/libtachyon.so.0"
  ln -sf dash "$root/usr/bin/sh"
  ln -sf gawk "$root/usr/bin/awk"
  ln -sf gcc-14 "$root/usr/bin/gcc"
  # What `dot -c` would write, with no more than the layouts of dot as SVG.
  [ ! -d "$libs/graphviz" ] || cat > "$libs/graphviz/config6a" <<CONFIG
/usr/lib/$ARCH-linux-gnu/graphviz/libgvplugin_dot_layout.so.6 dot_layout {
  layout { dot 0 }
}
/usr/lib/$ARCH-linux-gnu/graphviz/libgvplugin_core.so.6 core {
  render { svg 1 }
  device { svg:svg 1 }
}
CONFIG
  echo 'root:x:0:0:root:/root:/bin/sh' > "$root/etc/passwd"
  echo 'root:x:0:' > "$root/etc/group"
}

main() {
  [ $# -le 1 ] || { sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 2; }
  local dest=${1:-${CYCLESCOPE_SUITE:-${XDG_CACHE_HOME:-$HOME/.cache}/cyclescope/suite}}
  mkdir -p "$(dirname "$dest")"
  dest=$(cd "$(dirname "$dest")" && pwd)/$(basename "$dest")

  # One build at a time: the parent folder is the lock, so no lock file stays behind.
  exec 9< "$(dirname "$dest")"
  flock 9
  if [ "$(cat "$dest/recipe" 2>/dev/null)" = "$(recipe)" ]; then return; fi
  if [ -e "$dest" ] && [ ! -e "$dest/recipe" ] && ! rmdir "$dest" 2>/dev/null; then
    fail "$dest exists and is no suite folder"
  fi

  local tool
  for tool in apt-get apt-config dpkg-deb tar; do
    command -v "$tool" > /dev/null || unavailable "'$tool' is missing: the suite is made of Debian packages"
  done
  [ -r "$KEYRING" ] || unavailable "no archive keyring at $KEYRING (package debian-archive-keyring)"

  rm -rf "$dest".new.*   # of builds that were killed
  work=$dest.new.$$      # not local: the trap outlives this function
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM HUP
  mkdir "$work"

  configure_apt "$work/apt"
  choose_archive "$work/apt"
  download "$work/debs"
  inventory "$work/debs" > "$work/packages.txt"
  unpack "$work/debs" "$work/sysroot"
  finish "$work/sysroot"
  rm -rf "$work/apt" "$work/debs"
  recipe > "$work/recipe"

  if [ -e "$dest" ]; then mv "$dest" "$work/old"; fi
  mv "$work" "$dest"
  rm -rf "$dest/old"
  say "$(du -sh "$dest/sysroot" | cut -f1) in $dest"
}

main "$@"
