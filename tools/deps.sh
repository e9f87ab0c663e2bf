#!/bin/sh
# deps.sh PACKAGE...: installs those of the Debian packages that are missing, without asking. When all are installed it
# does nothing and needs no root.
set -eu
missing=
for package in "$@"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root="sudo"
else
    echo "missing packages:$missing; sudo is not available: install them as root" >&2
    exit 1
fi
echo "installing:$missing"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 update
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends install \
    $missing >/dev/null
