"""The rooms of src/ from the ground up, and who may include whom. A room sees its own files and the floors below, no sibling."""

from pathlib import Path

FLOORS = [
    ["base"],
    ["topology", "plan", "copy", "memory"],
    ["planners", "inplace", "layout", "sharing"],
    ["cost"],
    ["graphs"],
    ["select"],
    ["channels"],
    ["engine"],
    ["api"],
    ["grid", "vector"],
]
CORE = {"base", "topology", "plan", "copy", "memory", "planners", "inplace", "layout", "sharing", "cost", "graphs", "select"}
SOURCES = {".hpp", ".h", ".cpp", ".c"}

FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def sources(root: Path):
    """All files of src/ as (room, path)."""
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in SOURCES:
            yield path.relative_to(root / "src").parts[0], path


def core_headers(root: Path) -> list[Path]:
    return [path for room, path in sources(root) if room in CORE and path.suffix in {".hpp", ".h"}]


def public_headers(root: Path) -> list[Path]:
    return [path for path in sorted((root / "include").rglob("*")) if path.suffix in {".hpp", ".h"}]


def other_headers(root: Path) -> list[Path]:
    return public_headers(root) + [path for room, path in sources(root) if room not in CORE and path.suffix in {".hpp", ".h"}]
