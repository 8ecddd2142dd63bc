# SPDX-License-Identifier: BSD-3-Clause
"""Where the parts for programs in C and C++ lie that were installed with this package, by pip or by
`make install`.

cc app.c -I$(python -c 'import tonari; print(tonari.get_include())') ...
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tonari.errors import FILE, Error

PACKAGE = Path(__file__).resolve().parent
# pip puts include and lib into the package; `make install` puts the package into
# lib/tonari/python, where lib may also be lib64, or lib/x86_64-linux-gnu.
LIBRARIES = (PACKAGE / "lib", *PACKAGE.parents[2:3])
PREFIXES = (PACKAGE, *PACKAGE.parents[3:5])


def get_include() -> str:
    """The folder of the headers: `#include <tonari/tonari.h>` works with -I and this."""
    return str(_find(PREFIXES, "include/tonari/tonari.h").parents[1])


def get_library() -> str:
    """The file of the library for the standard ABI of MPI 5, to be linked with, or loaded by
    ctypes. It runs with every MPI that has this ABI, and brings none along."""
    return str(_find(LIBRARIES, "tonari/abi/libtonari_abi.so.*"))


def get_cmake_dir() -> str:
    """The folder for CMake: `find_package(tonari)` works with -Dtonari_DIR= and this."""
    return str(_find(LIBRARIES, "cmake/tonari/tonariConfig.cmake").parent)


def programs() -> Path | None:
    """The folder of the benchmark programs that pip installed."""
    folder = PACKAGE / "lib" / "tonari" / "abi"
    return folder if (folder / "tonari_bench").is_file() else None


def _find(folders: Iterable[Path], pattern: str) -> Path:
    for folder in folders:
        if found := sorted(folder.glob(pattern)):
            return found[0]
    raise Error(
        f"there is no {pattern} beside {PACKAGE}: this tonari was not installed with what "
        "programs need; use `pip install tonari`, or `make install` with an mpicxx_abi on PATH",
        FILE,
    )
