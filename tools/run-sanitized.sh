#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The core's tests and some MPI tests once more, under AddressSanitizer and
# UndefinedBehaviorSanitizer, in a build tree of their own. SANITIZE=no leaves them out. planners,
# core (the rest of it) or mpi is a third of them, and turns is a third under one sanitizer, which
# the commit draws (docs/adr/0097).
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${BUILD:-build}" && pwd)
tree=$build/sanitize

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

compiler=$(cached CMAKE_CXX_COMPILER)
mkdir -p "$tree"
echo 'int main() {}' >"$tree/try.cpp"
why_not=
parts=${SANITIZE:-yes}
sanitizers=address,undefined
if [ "$parts" = turns ]; then
    drawn=$(BUILD=$build "$source/tools/drawn-share.sh" number)
    if [ -n "$drawn" ]; then
        thirds=(planners core mpi) each=(address undefined)
        parts=${thirds[drawn % 3]} sanitizers=${each[drawn / 3 % 2]}
    else # no repository
        parts=yes
    fi
    echo "sanitizers: $parts, $sanitizers"
fi
case $parts in
    yes | planners | core | mpi) ;;
    *) why_not="SANITIZE=$SANITIZE" ;;
esac
if [ -n "$why_not" ]; then
    :
elif ! "$compiler" -fsanitize=$sanitizers "$tree/try.cpp" -o "$tree/try" >/dev/null 2>&1 ||
    ! "$tree/try"; then
    why_not="$compiler cannot link with them"
fi
if [ -n "$why_not" ]; then
    echo "sanitizers: not run, $why_not"
    exit
fi

mpi=$(cached TONARI_MPI | cut -d ';' -f 1)
root=$(cached "TONARI_${mpi^^}_ROOT")
cmake -G Ninja -S "$source" -B "$tree" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-Og -g1" "-DCMAKE_CXX_COMPILER=$compiler" \
    "-DCMAKE_UNITY_BUILD=$(cached CMAKE_UNITY_BUILD)" \
    "-DTONARI_SANITIZE=$sanitizers" -DTONARI_PYTHON=OFF "-DTONARI_MPI=$mpi" \
        ${root:+"-DTONARI_${mpi^^}_ROOT=$root"} \
    "-DGTEST_ROOT=$(cached GTEST_ROOT)" "-DPython_EXECUTABLE=$(cached Python_EXECUTABLE)" \
        >"$tree/configure.txt" || { cat "$tree/configure.txt"; exit 1; }
targets=()
tests=none
part() { [ "$parts" = yes ] || [ "$parts" = "$1" ]; }
if part planners; then
    targets+=(planner_tests)
    tests+="|planners\.[0-9]+"
fi
if part core; then
    targets+=(core_tests cuda_tests)
    tests+="|core\.[0-9]+|cuda\.0"
fi
if part mpi; then
    targets+=("api_tests_$mpi" "blocks_tests_$mpi" "grid_tests_$mpi" "vector_tests_$mpi")
    # On three ranks alone: memory is used the same way on two.
    tests+="|(exchange|errors|blocks|grid|vector)\.$mpi\.3|in_place\.$mpi\.2"
fi
rm -rf "$tree/results"
cmake --build "$tree" --target "${targets[@]}"

# What MPI libraries never free is not ours to report; what tonari does not free, tests/engine
# counts.
export ASAN_OPTIONS=detect_leaks=0
status=0
ctest --test-dir "$tree" --output-on-failure --no-tests=error -j 2 -R "^($tests)\$" || status=$?
mkdir -p "$build/results"
rm -rf "$build/results/sanitized"
mv "$tree/results" "$build/results/sanitized"
exit $status
