#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Formats all sources: clang-format for C and C++, ruff for Python, in the versions of
# tools/requirements.txt. Versions differ in what they make of the same rules, so those of the build
# tree's environment are taken.
#
#   tools/format.sh [--check]    --check changes nothing; it names what is not formatted and fails
#
# BUILD: the build tree (default: build)
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=$(cd "${BUILD:-$source/build}" && pwd)/venv/bin
cd "$source"
case ${1:-} in
    '') cpp=(-i) python=() ;;
    --check) cpp=(--dry-run -Werror) python=(--check) ;;
    *) echo "usage: tools/format.sh [--check]" >&2; exit 2 ;;
esac
folders=(src include bench tests examples python)

status=0
find "${folders[@]}" '(' -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' ')' -print0 |
    xargs -0 -n 50 -P 2 "$bin/clang-format" "${cpp[@]}" || status=1
"$bin/ruff" format --no-cache --quiet "${python[@]}" "${folders[@]}" tools packaging || status=1
exit $status
