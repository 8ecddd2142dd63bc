# SPDX-License-Identifier: BSD-3-Clause
"""Machine files that are shipped, each value with its public source, and what they leave out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tonari.errors import ARGUMENT, Error
from tonari.suggestion import did_you_mean

FOLDER = Path(__file__).with_name("machines")
NEEDED = ("L", "o", "g", "G", "eager", "rendezvous", "copy_block", "copy_byte", "typed_block")
OTHERWISE = "otherwise"


@dataclass(frozen=True)
class Value:
    """One parameter as it stands in a file."""

    name: str
    value: str
    source: str  # of a shipped machine where it was published; else empty


@dataclass(frozen=True)
class File:
    """A machine file: what it says, and what it takes from the generic machine."""

    path: Path
    title: str
    values: list[Value]

    @property
    def generic(self) -> list[str]:
        """The parameters that simulations need and the file leaves out."""
        given = {value.name for value in self.values}
        return [name for name in NEEDED if name not in given]


def names() -> list[str]:
    """Of the shipped machines."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def path_of(word: str) -> str:
    """The file that an option means: the name of a shipped machine, or a path. Where there is a
    file of that name, it is that file."""
    if not word or Path(word).exists() or word not in names():
        return word
    return str(FOLDER / f"{word}.txt")


def find(word: str) -> str:
    """The same, and raises with the names where there is neither."""
    path = path_of(word)
    if not Path(path).exists():
        known = names()
        raise Error(
            f"there is no machine '{word}': it is neither a file nor one of those that are "
            f"shipped, {', '.join(known)}" + did_you_mean(word, known),
            ARGUMENT,
        )
    return path


def name_of(path: str) -> str:
    """How people know it: by its name if it is shipped, else by its path."""
    return Path(path).stem if Path(path).parent == FOLDER else path


def read(path: str) -> File:
    """What a file says, which the core has read without an error. Its title is its first line if
    that is a comment; the source of a value is the comment above it, up to an empty line."""
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    first = lines[0] if lines else ""
    values: list[Value] = []
    above: list[str] = []
    for line in lines:
        words, _, comment = line.partition("#")
        flat = words.replace("=", " ").split()
        source = " ".join([*above, *([comment.strip()] if comment else [])])
        values += [Value(name, value, source) for name, value in zip(flat[::2], flat[1::2])]
        above = [] if flat or not comment else [*above, comment.strip()]
    return File(Path(path), first.lstrip("# ") if first.startswith("#") else "", values)
