# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154 # what other parts set: MPI_ROOT, TARGET, VENV, ...
# Runs CMake in the build tree, if the arguments are new.

# What could not be had. Some things may be missing: they cost some tests, an example or the command
# line, and every run says so.
leave_out() { # needs...
    local need
    rm -f "$BUILD/setup/left-out"
    mkdir -p "$BUILD/setup"
    for need in "$@"; do
        case $need in
            gtest) echo "tests that use GoogleTest: it is not there (package libgtest-dev)" ;;
            headers) echo "the Python extension, the command line and their tests: there is no Python.h (package python3-dev)" ;;
            checkers) echo "tests of packages (tools/requirements-test.txt)" ;;
            abi) echo "the library for the standard ABI of MPI 5 (PyPI: $(pin mpich))" ;;
            intel) echo "tests of that ABI under Intel MPI (PyPI: $(pin impi-rt))" ;;
            fftw) echo "the example fft3d and its tests: there is no FFTW (package libfftw3-dev)" ;;
            fftw_mpi) echo "the comparison of the example fft3d with FFTW's own MPI transform (package libfftw3-mpi-dev)" ;;
            manylinux) echo "tests of the wheel of \`make wheel\` (tools/requirements-wheel.txt)" ;;
            abidiff) echo "the comparison with the last version (package abigail-tools)" ;;
            nvcc) echo "compiling the kernels for CUDA by nvcc (tools/requirements-cuda.txt)" ;;
            fortran) echo "tests of the Fortran module and its example: there is no Fortran compiler (package gfortran)" ;;
            *) die "$(need_what "$need") is missing, and there was no way to install it here." ;;
        esac >>"$BUILD/setup/left-out"
    done
    [ ! -s "$BUILD/setup/left-out" ] || sed 's/^/note: left out: /' "$BUILD/setup/left-out" >&2
}

cached() { sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt" 2>/dev/null; }

# The demo needs one MPI and no tests, and builds no more, except in a tree that has more already.
chosen_mpis() {
    local name
    for name in openmpi mpich abi; do
        [[ $TARGET != demo || -z ${chosen:-} || ";$(cached TONARI_MPI);" == *";$name;"* ]] ||
            continue
        find_mpi "$name" || continue
        chosen="${chosen:+$chosen;}$name"
    done
}

# The library of the first MPI is compiled as users have it, those of the others only for tests; for
# `make build`, `install` and `bench` all are. Documentation and the demo leave that as it is.
tested_mpis() { # chosen MPIs, with semicolons
    case $TARGET in
        test) echo "$1" | cut -s -d ';' -f 2- ;;
        demo | docs) cached TONARI_TESTED_MPIS || true ;; # there may be no build yet
    esac
}

# Examples and benchmarks are compiled as users have them, unless only tests run them.
tested_programs() {
    case $TARGET in
        test) echo ON ;;
        demo | docs) cached TONARI_TESTED_PROGRAMS || true ;;
    esac
}

# MPIs that run what is built for the standard ABI, besides the one that it is built with.
abi_others() {
    local name others=
    for name in intel openmpi; do
        ! has_standard_abi "$name" || others="${others:+$others;}$name=$LOCAL/$name"
    done
    echo "$others"
}

cmake_arguments() {
    local chosen='' rpath='' name tests=OFF python=ON fftw=OFF fftw_mpi=OFF
    chosen_mpis
    [[ $TARGET != test && $(cached TONARI_TESTS) != ON ]] || tests=ON
    has_headers || python=OFF
    ARGUMENTS=(-G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_COMPILER=$CXX_FOUND" \
        -DCMAKE_UNITY_BUILD=ON "-DTONARI_TESTS=$tests"
        "-DTONARI_MPI=${chosen:-none}" "-DTONARI_PYTHON=$python"
        "-DTONARI_TESTED_MPIS=$(tested_mpis "$chosen")"
        "-DTONARI_TESTED_PROGRAMS=$(tested_programs)"
        "-DPython_EXECUTABLE=$VENV/bin/python")
    for name in ${chosen//;/ }; do
        [ -n "${MPI_ROOT[$name]}" ] || continue
        ARGUMENTS+=("-DTONARI_${name^^}_ROOT=${MPI_ROOT[$name]}")
        [ "$name" != abi ] || continue # programs bring the MPI
        rpath="${rpath:+$rpath;}${MPI_ROOT[$name]}/lib"
    done
    ARGUMENTS+=("-DTONARI_ABI_OTHERS=$(abi_others)")
    [ -z "$rpath" ] || ARGUMENTS+=("-DCMAKE_BUILD_RPATH=$rpath" "-DCMAKE_INSTALL_RPATH=$rpath")
    [[ $CXX_FOUND != *zig* ]] || ARGUMENTS+=("-DCMAKE_C_COMPILER=$LOCAL/bin/zig-cc"
        "-DCMAKE_AR=$LOCAL/bin/zig-ar" "-DCMAKE_RANLIB=$LOCAL/bin/zig-ranlib")
    [[ $PYTHON_HEADERS != "$BUILD"/* ]] || ARGUMENTS+=("-DPython_INCLUDE_DIR=$PYTHON_HEADERS")
    [[ $tests = OFF ]] || ! has_gtest || [ -z "$GTEST_PREFIX" ] ||
        ARGUMENTS+=("-DGTEST_ROOT=$GTEST_PREFIX")
    # CMake looks for FFTW by itself; with other arguments it looks again. The demo does not use it.
    if [[ $TARGET != demo || $(cached TONARI_FFTW) = ON ]]; then
        ! has_fftw || fftw=ON
        ! has_fftw_mpi || fftw_mpi=ON
    fi
    ARGUMENTS+=("-DTONARI_FFTW=$fftw" "-DTONARI_FFTW_MPI=$fftw_mpi")
    local extra
    read -ra extra <<<"${CMAKE_ARGS:-}"
    ARGUMENTS+=("${extra[@]}")
}

configure() {
    find_cxx
    cmake_arguments
    local now
    now=$(printf '%s\n' "${ARGUMENTS[@]}")
    [ ! -f "$BUILD/build.ninja" ] || [ "$now" != "$(cat "$BUILD/setup/arguments" 2>/dev/null)" ] ||
        return 0
    # A changed compiler needs an empty cache; anything else keeps the objects, and forgets what was
    # found with other MPIs.
    local forget=(-U 'TONARI_*' -U 'Python_*' -U 'GT*' -U 'CMAKE_*_RPATH')
    [ "$(cached CMAKE_CXX_COMPILER)" = "$CXX_FOUND" ] || forget=(--fresh)
    step "CMake" cmake "${forget[@]}" -S "$SOURCE" -B "$BUILD" "${ARGUMENTS[@]}" ||
        die "CMake could not configure $BUILD."
    echo "$now" >"$BUILD/setup/arguments"
    # The demo needs nothing but an MPI: what else there is or is not would be noise.
    local told='^-- tonari'
    [ "$TARGET" != demo ] || told+=': building'
    grep -- "$told" "$BUILD/setup/log.txt" || true
}
