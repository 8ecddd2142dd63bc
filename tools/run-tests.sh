#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests of the build tree: CTest (C++ and MPI), pytest, then what runs under sanitizers. All run
# even if one fails, and say at the end what they counted and what was skipped. A runner that ran
# nothing has failed.
#
#   tools/run-tests.sh [more|long]    without: all but what is labeled `more` or `long`
#                                     more: that, or the share of it that drawn-share.sh says;
#                                     the core and MPI tests under sanitizers
#                                     long: the core and programs with an MPI, these on all numbers
#                                     of ranks, with all random cases; and what is labeled `long`
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${BUILD:-build}" && pwd)
left_out=$build/setup/left-out
share=all
case ${1:-} in
    '')
        logs=$build/setup/test labels=(-LE '^(more|long|alone)$')
        marks='not more and not long'
        ;;
    more)
        logs=$build/setup/test-all labels=(-L '^more$') marks='more and not long'
        share=$(BUILD=$build "$source/tools/drawn-share.sh")
        case $share in
            first) labels+=(-L '^mpi$' -LE '^others$') ;;
            others) labels+=(-L '^others$') ;;
            packages) labels+=(-LE '^mpi$') ;;
        esac
        [ "$share" = all ] || marks+=" and $share"
        ;;
    long)
        logs=$build/setup/test-long labels=(-L '^(mpi|core|long)$') marks=long
        export TONARI_TEST_EVERY_CASE=1 # tests/support/{oracle,random_cases}.hpp
        ;;
    *) echo "usage: tools/run-tests.sh [more|long]" >&2; exit 2 ;;
esac
status=0
rm -rf "$logs" "$build/results"
mkdir -p "$logs" "$build/results"

# All ranks are on this machine. Looking for networks, too, takes Open MPI 0.2 s for each job.
export OMPI_MCA_pml=${OMPI_MCA_pml:-ob1}

# Python keeps what it compiles in the build tree, also for callers whose Python writes nothing: a
# call of the command line starts in a third of the time then.
export PYTHONPYCACHEPREFIX=$build/setup/pycache
unset PYTHONDONTWRITEBYTECODE

python=$build/venv/bin/python
in_short_slices() { "$python" "$source/tools/short_slices.py" "$@"; }

in_short_slices ctest --test-dir "$build" --output-on-failure --no-tests=error -j 2 \
    "${labels[@]}" 2>&1 | tee "$logs/ctest.txt" || status=1
took="CTest $SECONDS s"
since=$SECONDS

# Three at a time, since much of their time is waiting for jobs to start and end. What else would
# run beside them gets the processor whenever a rank that waits gives it away, and slows down jobs.
# Tests of a file share what they have compiled, so one process has them all. The seed makes all
# processes list parameters that come from sets in one order.
run_pytest() {
    PYTHONPATH="$source/python:$build/python" TONARI_BUILD=$build PYTHONUNBUFFERED=1 \
        PYTHONHASHSEED=0 in_short_slices "$python" -m pytest "$source/tests/python" -m "$marks" \
            --durations=40 -o "cache_dir=$build/setup/pytest" -n 3 --dist loadfile \
            --no-loadscope-reorder --junitxml="$build/results/pytest.xml"
}

# Without Python.h there is no command line to test, but also nobody who has seen it work.
if grep -qs Python.h "$left_out"; then
    echo "pytest: ran nothing, there is no Python.h (package python3-dev)" |
        tee "$logs/pytest.txt"
    status=1
else
    run_pytest 2>&1 | tee "$logs/pytest.txt" || status=1
fi
took+=", pytest $((SECONDS - since)) s"
since=$SECONDS

sanitized() { [ "${1:-}" = more ] && ! grep -qs GoogleTest "$left_out"; }
if sanitized "$@"; then
    "$source/tools/run-sanitized.sh" 2>&1 | tee "$logs/sanitized.txt" || status=1
    took+=", sanitizers and their build $((SECONDS - since)) s"
fi

# A test that only `make test-all` does not skip is found by looking at both; whole ones, since
# another share may run it.
mv "$build/results" "$logs/results"
whole=()
[ "${1:-}" != more ] || [ "$share" != all ] || [ ! -d "$build/setup/test/results" ] ||
    whole=(--whole "$build/setup/test/results")
"$python" "$source/tools/skips.py" "${whole[@]}" "$logs/results" 2>&1 |
    tee "$logs/skips.txt" || status=1

echo
{
    [ "$share" = all ] || echo "Share: $share of three"
    [ ! -s "$left_out" ] || sed 's/^/Left out: /' "$left_out"
    sed -n '/^Skipped: /p; /^error: /p' "$logs/skips.txt"
    grep -hE 'tests passed|No tests were found' "$logs/ctest.txt" ||
        echo "ctest: no summary, see $logs/ctest.txt"
    ! sanitized "$@" ||
        sed -n "/^sanitizers: not run/p; s/.*tests passed.*/Sanitized: &/p" "$logs/sanitized.txt"
    echo "Time: $took"
    tail -n 1 "$logs/pytest.txt"
} | tee "$logs/summary.txt"
exit $status
