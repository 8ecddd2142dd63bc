# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# System packages by apt-get, on Debian and Ubuntu, where this user may install them.

can_use_apt() {
    has apt-get && { [ "$(id -u)" -eq 0 ] || has sudo; }
}

# The mpich of Ubuntu 24.04 cannot start more than one rank (Launchpad bug 2072338): its place takes
# the one from PyPI.
debian_mpich() {
    grep -qs '^VERSION_ID="24.04"' /etc/os-release && return
    echo "mpich libmpich-dev"
}

# May ask for the password of sudo, and only where somebody sits at a terminal.
become_root() {
    [ "$(id -u)" -ne 0 ] || return 0
    ! sudo -n true 2>/dev/null || return 0
    [ -t 0 ] && [ -t 1 ] || return 1
    say "sudo needs your password for that. (To do without: Ctrl-C, then the same command with INSTALL=local.)"
    sudo -v
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }

# The packages that there are here: one unknown name (openmpi-bin on an Ubuntu without "universe")
# would make apt-get refuse all.
available() { # packages...
    local package
    for package in "$@"; do
        if [[ $(LC_ALL=C apt-cache policy "$package") == *'Candidate: '[!\(]* ]]; then
            echo "$package"
        else
            warn "the package sources of this machine have no $package."
        fi
    done
}

# Whatever fails here is not the end: what is still missing afterwards comes from PyPI.
debian_install() { # needs...
    local need packages
    packages=$(for need in "$@"; do need_debian "$need"; done | xargs)
    [ -n "$packages" ] || return 0
    say "make $TARGET installs these system packages with apt-get, and what they depend on: $packages"
    become_root || {
        warn "no right to use sudo here: nothing is installed system-wide."
        return 0
    }
    step "reading the package lists" apt_get update || warn "the package lists may be old"
    # shellcheck disable=SC2086 # lists of words
    packages=$(available $packages | xargs)
    [ -n "$packages" ] || return 0
    # shellcheck disable=SC2086
    step "apt-get install" apt_get install -y --no-install-recommends $packages ||
        warn "apt-get failed: what is missing is now looked for on PyPI."
}
