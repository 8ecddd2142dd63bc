# shellcheck shell=bash
# Talking to the person at the terminal: sentences, and long steps that show they are alive.

say() { printf '%s\n' "$*"; }
warn() { printf 'note: %s\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Prints where a long step stands: every second on a terminal, every 20 seconds into a log.
heartbeat() { # what seconds log
    if [ -t 1 ]; then
        printf '\r\033[K  %s  %ds  %.60s' "$1" "$2" "$(tail -n 1 "$3" | tr -d '\r\033' | cut -c 1-60)"
    elif [ "$2" -gt 0 ] && [ $(($2 % 20)) -eq 0 ]; then
        say "  $1: still running after $2 s"
    fi
}

# Runs a command with its output in a log file; shows the end of the log if it fails.
step() { # what command...
    local what=$1 log start=$SECONDS last=-1 pid
    shift
    mkdir -p "$BUILD/setup"
    log="$BUILD/setup/log.txt"
    : >"$log"
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        [ $((SECONDS - start)) -eq "$last" ] || heartbeat "$what" "$((last = SECONDS - start))" "$log"
        sleep 0.2
    done
    [ ! -t 1 ] || printf '\r\033[K'
    if wait "$pid"; then
        say "  $what: done in $((SECONDS - start)) s"
    else
        say "  $what: failed; the last lines of its output:"
        tail -n 20 "$log" | sed 's/^/    /'
        return 1
    fi
}
