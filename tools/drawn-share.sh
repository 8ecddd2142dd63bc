#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints which share of `make test-all` runs: first, others, packages or all. SHARE names it; with
# turns, as in .ci/run, the commit draws it. Where there is one MPI, all is one share
# (docs/adr/0097).
#
#   tools/drawn-share.sh            the share
#   tools/drawn-share.sh targets    what builds it
#   tools/drawn-share.sh number     what the commit's name draws: below 256, or nothing where there
#                                   is no repository; run-sanitized.sh takes its rest by six
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
commit=$(git -C "$source" rev-parse HEAD 2>/dev/null || true)
number=${commit:+$((16#${commit: -2}))}
if [ "${1:-}" = number ]; then
    echo "$number"
    exit
fi

share=${SHARE:-all}
case $share in
    first | others | packages | all) ;;
    turns)
        shares=(first others packages)
        share=${number:+${shares[number / 6 % 3]}}
        ;;
    *)
        echo "SHARE is '$share'; it must be first, others, packages, all or turns." >&2
        exit 2
        ;;
esac
if [ -z "$share" ] || ! grep -qs '^TONARI_MPI:[A-Z]*=.*;' "${BUILD:-build}/CMakeCache.txt"; then
    share=all
fi
if [ "${1:-}" = targets ] && [ "$share" != all ]; then
    share=tonari_share_of_$share
fi
echo "$share"
