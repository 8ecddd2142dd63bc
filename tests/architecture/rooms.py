# SPDX-License-Identifier: BSD-3-Clause
"""The rooms of src/ from the ground up, and who may include whom. A room sees its own files and the
floors below, no sibling. Rooms may lie in each other."""

from pathlib import Path

FLOORS = [
    ["base"],
    ["topology", "plan", "copy", "memory", "report"],
    ["planners/offsets", "planners/patterns", "planners/in_place", "layout", "device"],
    ["cost", "packing"],
    ["planners/graphs"],
    ["planners"],
    ["select"],
    ["mpi"],
    ["channels"],
    ["channels/streams"],
    ["engine/wait"],
    ["engine/comm"],
    ["engine/run"],
    ["engine/tune"],
    ["request", "one_shot"],
    ["neighborhood"],
    ["cells", "in_place", "sparse"],
    ["blocks", "grid", "vector"],
    ["fortran", "petsc", "preload"],
    ["watch"],
    ["simulate"],  # not part of libtonari, as analysis
    ["analysis"],  # not part of libtonari: the command line and the tests use it
]
CORE = {room for floor in FLOORS[: FLOORS.index(["select"]) + 1] for room in floor} | {
    "analysis",
    "simulate",
}
# What these need is not on every machine; there they are not compiled, and have no tests.
OPTIONAL = {"petsc"}
SOURCES = {".hpp", ".h", ".cpp", ".c"}

FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def room_of(file: str) -> str:
    """The room of "room/file", the innermost where rooms lie in each other; empty if there is
    none."""
    folder = file.rpartition("/")[0]
    while folder and folder not in FLOOR:
        folder = folder.rpartition("/")[0]
    return folder


def sources(root: Path):
    """All files of src/ as (room, path)."""
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in SOURCES:
            yield room_of(path.relative_to(root / "src").as_posix()), path


def core_headers(root: Path) -> list[Path]:
    return [path for room, path in sources(root) if room in CORE and path.suffix in {".hpp", ".h"}]


def core_sources(root: Path) -> list[Path]:
    return [path for room, path in sources(root) if room in CORE and path.suffix == ".cpp"]


def other_sources(root: Path) -> list[Path]:
    return [
        path
        for room, path in sources(root)
        if room not in CORE | OPTIONAL and path.suffix == ".cpp"
    ]


def public_headers(root: Path) -> list[Path]:
    return [path for path in sorted((root / "include").rglob("*")) if path.suffix in {".hpp", ".h"}]


def other_headers(root: Path) -> list[Path]:
    return [
        path
        for room, path in sources(root)
        if room not in CORE | OPTIONAL and path.suffix in {".hpp", ".h"}
    ]
