#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unpacks the headers of Debian's Python into a folder, without root: apt-get works on package lists
# of its own here.
#   unpack_python_headers.sh PYTHON WORK DESTINATION
set -euo pipefail

python=$1 work=$2 destination=$3
package=$("$python" -c 'import sys; print("libpython%d.%d-dev" % sys.version_info[:2])')
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$destination"
cd "$work"

apt_get() { apt-get -o Dir::State="$work" -o Dir::State::status=/var/lib/dpkg/status -o \
    Dir::Cache="$work/cache" "$@"; }
apt_get update
apt_get download "$package"
dpkg-deb -x "$package"_*.deb unpacked

# Debian's pyconfig.h includes <TRIPLET/pythonX.Y/pyconfig.h>: that path has to stay below the
# folder of Python.h.
for triplet in unpacked/usr/include/*-linux-*; do
    cp -r "$triplet" "$destination/"
done
cp -r unpacked/usr/include/python3*/. "$destination/"
rm -rf "$work"
