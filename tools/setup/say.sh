# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Talking to the person at the terminal: sentences, and long steps that show they are alive.

say() { printf '%s\n' "$*"; }
warn() { printf 'note: %s\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Says where a long step stands, for as long as this script lives: every second on a terminal, every
# 20 s into a log.
heartbeat() { # what log
    local seconds=0
    while sleep 1 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        seconds=$((seconds + 1))
        if [ -t 1 ]; then
            printf '\r\033[K  %s: %d s  %s' "$1" "$seconds" \
                "$(tail -n 1 "$2" | tr -d '[:cntrl:]' | cut -c 1-60)"
        elif [ $((seconds % 20)) -eq 0 ]; then
            say "  $1: still running after $seconds s"
        fi
    done
}

# Runs a command with its output in a log file; shows the end of the log if it fails. The command
# runs in the foreground, so that Ctrl-C ends it.
step() { # what command...
    local what=$1 log=$BUILD/setup/log.txt start=$SECONDS beat status=0
    shift
    mkdir -p "$BUILD/setup"
    : >"$log"
    heartbeat "$what" "$log" &
    beat=$!
    "$@" >"$log" 2>&1 </dev/null || status=$?
    kill "$beat" 2>/dev/null || true
    wait "$beat" 2>/dev/null || true
    [ ! -t 1 ] || printf '\r\033[K'
    if [ "$status" -eq 0 ]; then
        say "  $what: done in $((SECONDS - start)) s"
    else
        say "  $what: failed; the last lines of its output:"
        tail -n 20 "$log" | sed 's/^/    /'
    fi
    return "$status"
}
