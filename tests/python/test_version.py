# SPDX-License-Identifier: BSD-3-Clause
"""CMake's project(VERSION) is the version, and all that names one agrees with it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from built import c_compiler, with_program

SOURCE = Path(__file__).resolve().parents[2]
HEADER = "include/tonari/tonari.h"
# Every other place, and what is in front of the version there.
PLACES = {
    "python/tonari/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "packaging/conda/recipe.yaml": r'^  version: "(.+)"$',
    "CHANGELOG.md": r"^## \[(\d.*?)\] - ",  # the topmost
}
BUILDS = with_program("../lib/libtonari.so")
PROJECT = r"^project\(tonari VERSION (\S+)"
SHOWS = """#include <stdio.h>
#include <tonari/tonari.h>
#if TONARI_VERSION_NUMBER < {number}
#error "the headers are of an earlier version"
#endif
int main(void) {{ return puts(tonari_version_string()) < 0; }}
"""


def first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else "none"


def of_header(text: str) -> str:
    parts = ["MAJOR", "MINOR", "PATCH"]
    return ".".join(first(rf"^#define TONARI_VERSION_{part} (\d+)$", text) for part in parts)


def of_pyproject(text: str) -> str:
    return tomllib.loads(text)["project"]["version"]


def versions(read: Callable[[str], str]) -> dict[str, str]:
    """By file; read gives the text of a file."""
    found = {file: first(pattern, read(file)) for file, pattern in PLACES.items()}
    found[HEADER] = of_header(read(HEADER))
    found["pyproject.toml"] = of_pyproject(read("pyproject.toml"))
    return found


def problems(read: Callable[[str], str]) -> list[str]:
    wanted = first(PROJECT, read("CMakeLists.txt"))
    return [
        f"{file} says {found}, but CMakeLists.txt says {wanted}"
        for file, found in versions(read).items()
        if found != wanted
    ]


def read(file: str) -> str:
    return (SOURCE / file).read_text(encoding="utf-8")


def now() -> str:
    return first(PROJECT, read("CMakeLists.txt"))


def test_all_files_name_one_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", now())
    assert problems(read) == []


@pytest.mark.parametrize("file", [*PLACES, HEADER, "pyproject.toml"])
def test_another_version_is_noticed(file: str) -> None:
    major, minor, patch = now().split(".")
    later = f"{major}.{minor}.{int(patch) + 1}"

    def bent(name: str) -> str:
        text = read(name)
        if name != file:
            return text
        text = re.sub(r"(VERSION_PATCH) \d+", rf"\1 {int(patch) + 1}", text)
        return text.replace(now(), later)

    assert problems(bent) == [f"{file} says {later}, but CMakeLists.txt says {now()}"]


def test_the_command_line_says_it(tonari: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    assert tonari("--version").stdout == f"tonari {now()}\n"


@pytest.mark.parametrize("mpi", BUILDS)
def test_the_library_says_it(mpi: str, tmp_path: Path) -> None:
    """A program asks for it without MPI_Init."""
    build = BUILDS[mpi]
    library = Path(build["bin"]).parent / "lib"
    major, minor, patch = map(int, now().split("."))
    source, program = tmp_path / "version.c", tmp_path / "version"
    number = 10000 * major + 100 * minor + patch
    source.write_text(SHOWS.format(number=number), encoding="utf-8")
    places = [f"-I{SOURCE / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-ltonari"]
    subprocess.run([c_compiler(build), source, "-o", program, *places], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said == now() + "\n"
