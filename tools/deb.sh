#!/bin/sh
# deb.sh FOLDER: makes Debian packages of the checkout as it is, in FOLDER. The packages are built in a copy, so that the
# checkout stays clean.
set -eu
cd "$(dirname "$0")/.."
folder=$1
version=$(sed -n 's/.*VERSION "\(.*\)"/\1/p' src/base/version.h)
if [ "$(dpkg-parsechangelog -S Version)" != "$version" ]; then
    echo "deb.sh: debian/changelog has no entry of version $version, which src/base/version.h names" >&2
    exit 1
fi

rm -rf "$folder"
mkdir -p "$folder/cyclescope-$version"
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard
else
    find . -name build -prune -o -type f -print0
fi | tar -c --null --files-from=- --ignore-failed-read | tar -x -C "$folder/cyclescope-$version"
cd "$folder/cyclescope-$version"
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" \
    dpkg-buildpackage --build=binary --no-sign >../log 2>&1 || {
    tail -30 ../log >&2
    echo "deb.sh: dpkg-buildpackage failed: see $folder/log" >&2
    exit 1
}
cd ..
rm -rf "cyclescope-$version"
for package in *.deb; do echo "$folder/$package"; done
