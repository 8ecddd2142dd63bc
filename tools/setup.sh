#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prepares the build tree for one target of the Makefile: looks for what the target needs, says what
# is missing,
# installs it, and configures CMake.
#
#   tools/setup.sh build|demo|bench|docs|test|wheel
#
# INSTALL=yes    system packages by apt-get where this user may install them, otherwise as `local`
#                (default)
# INSTALL=local  only into the build tree, from PyPI
# INSTALL=no     nothing: say what is missing and fail
# BUILD, PYTHON, CXX, CMAKE_ARGS: the build tree, the Python, the compiler, further arguments for
# CMake
set -euo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${BUILD:=build}"
BUILD=$(cd "$BUILD" && pwd)
LOCAL=$BUILD/local # what comes without root, the virtual environment apart
PYTHON=${PYTHON:-python3}
export PATH="$LOCAL/bin:$PATH"

for part in say pypi mpi needs debian local configure; do
    # shellcheck source=/dev/null
    . "$SOURCE/tools/setup/$part.sh"
done

# Seconds of processor time, as seen on a machine of 2023: what the demo compiles.
DEMO_SECONDS=140

# Said at the start of the first demo of a tree.
announce() {
    local cores whole
    [ "$TARGET" = demo ] && [ -z "$(ls "$BUILD"/*/bin/heat3d 2>/dev/null)" ] || return 0
    cores=$(nproc 2>/dev/null || echo 1)
    whole=$(((DEMO_SECONDS / cores + 9) / 10 * 10))
    say "make demo compiles the library first: about $whole s on $cores core(s). Then it runs 10 s."
    [ ${#MISSING[@]} -eq 0 ] || say "Before that it installs what is missing, below."
}

install_missing() {
    if [ "$INSTALL" = yes ] && can_use_apt; then
        debian_install "${MISSING[@]}"
        look_for "${NEEDS[@]}"
    fi
    if [ ${#MISSING[@]} -gt 0 ]; then
        local_install "${MISSING[@]}"
        look_for "${NEEDS[@]}"
    fi
}

main() {
    INSTALL=${INSTALL:-yes}
    case $INSTALL in
        yes | local | no) ;;
        *) die "INSTALL is '$INSTALL'; it must be yes, local or no." ;;
    esac
    needs_of "$1"
    look_for "${NEEDS[@]}"
    local need needed=()
    for need in "${MISSING[@]}"; do
        is_optional "$need" || needed+=("$need")
    done
    [ ${#needed[@]} -eq 0 ] || [ "$INSTALL" != no ] || refuse "$1" "${needed[@]}"
    announce
    [ ${#MISSING[@]} -eq 0 ] || [ "$INSTALL" = no ] || install_missing
    [ "$TARGET" != wheel ] || [ ${#MISSING[@]} -eq 0 ] ||
        die "make wheel needs $(what_is "${MISSING[@]}"), which could not be installed here."
    leave_out "${MISSING[@]}"
    [ "$TARGET" = wheel ] || configure # pip has a build tree of its own
}

trap 'echo; exit 130' INT # also where the interrupted program answers it with an ordinary failure
[ $# -eq 1 ] || die "usage: tools/setup.sh build|demo|bench|docs|test|wheel"
main "$1"
