#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prepares the build tree for one target of the Makefile: looks for what the target needs, says what
# is missing,
# installs it, and configures CMake.
#
#   tools/setup.sh build|demo|bench|test
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
    if [ ${#MISSING[@]} -gt 0 ]; then
        [ "$INSTALL" != no ] || refuse "$1" "${MISSING[@]}"
        install_missing
    fi
    leave_out "${MISSING[@]}"
    configure
}

trap 'echo; exit 130' INT # also where the interrupted program answers it with an ordinary failure
[ $# -eq 1 ] || die "usage: tools/setup.sh build|demo|bench|test"
main "$1"
