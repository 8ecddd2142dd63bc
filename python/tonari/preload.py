# SPDX-License-Identifier: BSD-3-Clause
"""Libraries in front of a job's MPI: which one fits, how launchers pass it on to the ranks but do
not load it themselves, and what the ranks have written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tonari.errors import ARGUMENT, FILE, Error
from tonari.installation import LIBRARIES
from tonari.sites import function, look_up, site

LIBRARY = "libtonari_preload.so"
WATCHING = "libtonari_advise.so"
LAUNCHERS = re.compile(r"(mpiexec|mpirun|orterun|prterun|srun)([.-].+)?")
# What `launcher --version` says, and how the launcher is called here.
KINDS = {
    "openmpi": re.compile(r"Open MPI|OpenRTE|PRRTE|prterun|Open Run-Time"),
    "mpich": re.compile(r"HYDRA|MPICH|Intel\(R\) MPI", re.IGNORECASE),
    "slurm": re.compile(r"^slurm", re.IGNORECASE),
}


def kind_of(command: Sequence[str]) -> str:
    """openmpi, mpich or slurm; empty if the command is no launcher of ranks."""
    if not LAUNCHERS.fullmatch(Path(command[0]).name):
        return ""
    try:
        said = subprocess.run([command[0], "--version"], capture_output=True, text=True)
    except OSError as error:
        raise Error(f"{command[0]} cannot be started: {error.strerror}", ARGUMENT) from None
    for kind, words in KINDS.items():
        if words.search(said.stdout + said.stderr):
            return kind
    raise Error(
        f"{command[0]} is a launcher that tonari does not know: put `env LD_PRELOAD=...` before "
        "your program instead (docs/howto/unmodified-programs.md)",
        ARGUMENT,
    )


def mpi_of(command: Sequence[str], kind: str) -> str:
    """The name of the library that the command's program needs, by what the program is linked with;
    otherwise by its launcher."""
    needs = {
        "abi": b"libmpi_abi.so",
        "openmpi": b"libmpi.so.40",
        "mpich": b"libmpich.so",
    }
    for _, content in _programs(command, kind):
        for mpi, library in needs.items():
            if library in content:
                return mpi
    if kind in needs:
        return kind
    raise Error(
        "tonari cannot tell which MPI the program runs with: say --mpi openmpi, mpich or abi",
        ARGUMENT,
    )


def _programs(command: Sequence[str], kind: str) -> Iterator[tuple[str, bytes]]:
    """The words of a command that are compiled programs, without its launcher."""
    for word in command[1 if kind else 0 :]:
        found = shutil.which(word)
        if found and not Path(found).is_dir():
            content = Path(found).read_bytes()
            if content.startswith(b"\x7fELF"):
                yield word, content


def library_of(command: Sequence[str], kind: str, mpi: str, name: str = LIBRARY) -> Path:
    """The library for a command, whose MPI may be named."""
    library = library_for(mpi or mpi_of(command, kind), name)
    needed = _name_of_mpich(library.read_bytes())
    for word, content in _programs(command, kind):
        other = _name_of_mpich(content)
        if needed and other and other != needed:
            raise Error(
                f"{word} needs {other}, but {library} needs {needed}, and two versions of MPICH "
                "cannot be mixed: build tonari with the mpicxx of the program's MPI, and set "
                "TONARI_BUILD to that build",
                ARGUMENT,
            )
    return library


def _name_of_mpich(content: bytes) -> str:
    """libmpi.so.12, as PyPI and Intel call it, or libmpich.so.12, as Debian does; empty if a
    program is linked with neither."""
    found = re.search(rb"\0(libmpi(?:ch)?\.so\.12)\0", content)
    return found[1].decode() if found else ""


def library_for(mpi: str, name: str = LIBRARY) -> Path:
    """In the build tree, or as installed."""
    build = Path(os.environ.get("TONARI_BUILD") or "build").absolute()
    places = [build / mpi / "lib", *(folder / "tonari" / mpi for folder in LIBRARIES)]
    for place in places:
        if (place / name).is_file():
            return place / name
    raise Error(
        f"there is no {name} for {mpi} in {build} nor beside this package: build tonari for "
        "that MPI, or set TONARI_BUILD",
        FILE,
    )


def before(library: Path) -> str:
    """For LD_PRELOAD: other libraries that are to be loaded keep their places behind ours."""
    others = os.environ.get("LD_PRELOAD", "")
    return f"{library}:{others}" if others else str(library)


def with_variables(command: Sequence[str], kind: str, variables: Mapping[str, str]) -> list[str]:
    """The command, so that its ranks have these variables; the launcher has not."""
    launcher, rest = command[0], list(command[1:])
    pairs = [f"{name}={value}" for name, value in variables.items()]
    if kind == "openmpi":  # programs of several kinds have options each, after a colon
        options = [word for pair in pairs for word in ("-x", pair)]
        behind = [[word, *options] if word == ":" else [word] for word in rest]
        return [launcher, *options, *(word for words in behind for word in words)]
    if kind == "mpich":
        options = [word for item in variables.items() for word in ("-genv", *item)]
        return [launcher, *options, *rest]
    if kind == "slurm":
        return [launcher, f"--export=ALL,{','.join(pairs)}", *rest]
    return ["env", *pairs, *command]


SIGN = "loaded"  # a file in the folder of a job


def sign_in(folder: str) -> dict[str, str]:
    """What makes ranks leave a sign there when they initialize MPI with the library loaded."""
    return {"TONARI_RUN_LOADED": f"{folder}/{SIGN}"}


def was_loaded(folder: str) -> bool:
    """Whether any rank has done so."""
    return (Path(folder) / SIGN).exists()


def has_ended(folder: str) -> bool:
    """Whether any rank that writes records has come to its end."""
    return any(Path(folder).glob("*.jsonl"))


def read_records(folder: Path) -> list[dict[str, Any]]:
    """What all processes of a job have written; a line that one was killed in is left out."""
    return [
        json.loads(line)
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines(keepends=True)
        if line.endswith("\n")
    ]


def rows(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row for each place that calls: numbers of all ranks together, times as means of calls."""
    merged: dict[tuple[str, str, int, int, str], dict[str, Any]] = {}
    for record in records:
        key = tuple(record[name] for name in ("call", "file", "offset", "line", "function"))
        row = merged.setdefault(key, {name: 0 for name in NUMBERS} | {"why": record["why"]})
        for name in NUMBERS:
            row[name] += record[name]
    look_up((file, offset) for _, file, offset, line, _ in merged if not line)
    return [_row(*key, row) for key, row in sorted(merged.items())]


NUMBERS = (
    "calls",
    "through_tonari",
    "bytes",
    "timed",
    "seconds",
    "native_timed",
    "native_seconds",
    "setups",
    "setup_seconds",
)


def _row(
    call: str, file: str, offset: int, line: int, name: str, total: Mapping[str, Any]
) -> dict[str, Any]:
    """line: of a script, else 0."""
    return {
        "call": call,
        "site": f"{Path(file).name}:{line}" if line else site(file, offset),
        "function": name if line else function(file, offset),
        "calls": total["calls"],
        "through_tonari": total["through_tonari"],
        "bytes": total["bytes"],
        "us": _mean(total["seconds"], total["timed"]),
        "native_us": _mean(total["native_seconds"], total["native_timed"]),
        "setup_us": _mean(total["setup_seconds"], total["setups"]),
        "why": total["why"],
    }


def _mean(seconds: float, calls: int) -> float | None:
    return round(seconds / calls * 1e6, 3) if calls else None
