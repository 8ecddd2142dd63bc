# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The virtual environment in the build tree, and packages from PyPI.

VENV="$BUILD/venv"

# The line of a package in the list of pinned tools, comment removed.
pin() { sed -n "s/^\($1==[^ #]*\).*/\1/p" "$SOURCE/tools/requirements-local.txt"; }

# Python compiles a module when it is first imported: most modules of these packages never are.
pip_install() {
    "$VENV/bin/python" -m pip --disable-pip-version-check install --no-input --no-compile "$@"
}

# Pinned packages that the environment does not have, or has in another version.
missing_pins() { # list in tools/
    "$VENV/bin/python" "$SOURCE/tools/setup/missing_pins.py" "$SOURCE/tools/$1"
}

has_pins() { [ -x "$VENV/bin/python" ] && [ -z "$(missing_pins "$1" 2>&1)" ]; }

install_pins() { # what list
    "$VENV/bin/python" -c 'import pip' 2>/dev/null || local_pip || return 1
    step "$1" pip_install -r "$SOURCE/tools/$2"
}

# Debian splits pip's bundle off into python3-venv; without it pip comes from its wheel, which can
# run itself.
make_venv() {
    if "$PYTHON" -c 'import ensurepip' 2>/dev/null; then
        "$PYTHON" -m venv "$VENV"
        return
    fi
    local wheel="$BUILD/setup/pip-25.3-py3-none-any.whl"
    "$PYTHON" -m venv --without-pip "$VENV" &&
        fetch "$wheel" 9655943313a94722b7774661c21049070f6bbb0a1516bf02f7c8d5d9201514cd pip &&
        "$VENV/bin/python" "$wheel/pip" --disable-pip-version-check install --no-index "$wheel"
}

# A single file of a PyPI project, by name and checksum, where pip cannot do it.
fetch() { # destination sha256 project
    "$PYTHON" "$SOURCE/tools/setup/fetch_pypi.py" "$3" "$(basename "$1")" "$2" "$1"
}
