#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A package of sources, and a wheel that pip installs in seconds, without a compiler, on every Linux
# with glibc 2.28 (2018) or newer: PyPI's ziglang compiles against that, auditwheel looks that
# nothing newer is needed. MPI is left out: it is that of the program.
#
#   tools/wheel.sh BUILD FOLDER [options of pip wheel]...    the two files go into FOLDER
set -euo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
glibc=2.28 # that of PyPI's mpich, without which the wheel would serve few
python=$BUILD/venv/bin/python
tools=$BUILD/manylinux
cd "$SOURCE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=tools/setup/say.sh
. "$SOURCE/tools/setup/say.sh"

# A program that calls a part of zig. It would trap undefined behavior, for which shared libraries
# lack the runtime.
tool() { # name words
    printf '#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR=%s ZIG_LOCAL_CACHE_DIR=%s\nexec %s "$@"\n' \
        "$tools/cache" "$tools/cache" "$zig $2" >"$tools/bin/$1"
    chmod +x "$tools/bin/$1"
}

use_old_glibc() {
    local target
    zig=$("$python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig
    target="-target $(uname -m)-linux-gnu.$glibc -fno-sanitize=undefined"
    mkdir -p "$tools/bin"
    tool cc "cc $target"
    tool c++ "c++ $target"
    tool ar ar
    tool ranlib ranlib
    export CC=$tools/bin/cc CXX=$tools/bin/c++
}

sources() {
    "$python" -c "from scikit_build_core.build import build_sdist; build_sdist('$folder')"
}

compile() { # options of pip wheel...
    "$python" -m pip --disable-pip-version-check wheel --verbose --no-deps --no-index \
        --no-build-isolation -C "cmake.define.CMAKE_AR=$tools/bin/ar" \
        -C "cmake.define.CMAKE_RANLIB=$tools/bin/ranlib" "$@" \
        -w "$work" "$folder"/tonari-*.tar.gz
}

repair() {
    "$python" -m auditwheel repair --only-plat --plat "manylinux_${glibc/./_}_$(uname -m)" \
        --exclude 'libmpi_abi.so.*' --exclude 'libmpi.so.*' -w "$folder" "$work"/tonari-*.whl
}

use_old_glibc
export PATH=$BUILD/local/abi/bin:$BUILD/venv/bin:$PATH
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
rm -f "$folder"/tonari-*.{tar.gz,whl}
step "sources" sources
step "compiling" compile "$@"
step "auditwheel" repair
say "$(ls "$folder"/tonari-*.{tar.gz,whl})"
