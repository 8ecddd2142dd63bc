# SPDX-License-Identifier: BSD-3-Clause
"""What `make` has compiled already, for compile_once.py: the object of the build tree for the same
target and source, if it was made of files with the same contents, by options that mean the same."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
# How fast the code is, what debuggers and linkers see of it, and what is warned of.
ALIKE = ("-O", "-g", "-W", "-M", "--param=ggc-", "-ffunction-sections", "-fdata-sections")
# Below these folders of a build tree, objects lie at the same place in every tree.
PLACE = re.compile(r"(?:^|/)((?:src|bench|python)/CMakeFiles/.+)")


@dataclass
class Call:
    """One call of the compiler; `headers` are precompiled ones, which say nothing new."""

    compiler: str
    target: str = ""
    source: str = ""
    folders: list[str] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)
    macros: set[str] = field(default_factory=set)
    options: list[str] = field(default_factory=list)
    debug: str = "-g0"
    headers: str = ""


def parsed(words: list[str]) -> Call:
    call = Call(os.path.realpath(shutil.which(words[0]) or words[0]))
    rest = iter(words[1:])
    for word in rest:
        if word in ("-MF", "-MT", "-MQ"):
            next(rest)
        elif word == "-isystem":
            call.systems.append(next(rest))
        elif word == "-o":
            call.target = next(rest)
        elif word == "-c":
            call.source = next(rest)
        elif word == "-include":
            call.headers = next(rest)
        elif word.startswith("-I"):
            call.folders.append(word[2:])
        elif word.startswith("-D"):
            call.macros.add(word)
        elif not word.startswith(ALIKE):
            call.options.append(word)
        elif word.startswith("-g"):
            call.debug = word
    return call


def in_tree(place: str, build: Path) -> Call | None:
    """What compiled that object of the build tree."""
    for row in json.loads((build / "compile_commands.json").read_text()):
        if f" -o {place} " in row["command"]:
            return parsed(shlex.split(row["command"]))
    return None


def means_the_same(call: Call, other: Call) -> bool:
    """Only a tree's own precompiled headers are known to be read by the source anyway."""
    same = ("compiler", "macros", "options")
    return (
        call.debug in ("-g0", "-g1")
        and not call.headers
        and Path(other.headers).name in ("", "cmake_pch.hxx")
        and all(getattr(call, name) == getattr(other, name) for name in same)
    )


def listed(words: str) -> set[str]:
    return {os.path.normpath(word) for word in words.split()}


def tell_sources(command: list[str], call: Call) -> None:
    """The rule for make, where the files read are those of the tree."""
    rule = Path(command[command.index("-MF") + 1])
    rule.parent.mkdir(parents=True, exist_ok=True)
    rule.write_text(f"{call.target}: {call.source}\n")


def files_read(command: list[str]) -> set[str]:
    """What the preprocessor opens now; make's rule goes where the command wants it (-MF)."""
    at = command.index("-o")
    read = [word for word in command[:at] + command[at + 2 :] if word not in ("-c", "-MD")]
    if subprocess.run([*read, "-M"], stderr=subprocess.DEVNULL).returncode:
        return set()  # the compiler will say why
    rule = Path(command[command.index("-MF") + 1]).read_text()
    return listed(rule.partition(": ")[2].replace("\\\n", " "))


def files_of(place: str, build: Path) -> set[str]:
    """What the object of the tree was made of, as Ninja remembers."""
    ninja = re.search(
        r"^CMAKE_MAKE_PROGRAM:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M
    )
    done = subprocess.run(
        [ninja[1], "-C", build, "-t", "deps", place], capture_output=True, text=True
    )
    return listed("\n".join(line for line in done.stdout.splitlines() if line[:1] == " "))


def root_of(call: Call, tree: Call) -> str | None:
    """Where the copy lies of which the command compiles a source."""
    if len(call.folders) != len(tree.folders):
        return None
    for mine, its in zip(call.folders, tree.folders, strict=True):
        if its == f"{SOURCE}/src":
            return mine.removesuffix("/src")
    return None


def counterpart(file: str, root: str) -> str:
    """The file of these sources, for one of a copy of them."""
    return f"{SOURCE}/{file[len(root) + 1 :]}" if file.startswith(f"{root}/") else file


def same_text(path: str, root: str, known: str) -> bool:
    """Batches of sources name them with their places."""
    if path == known:
        return True
    text = Path(path).read_text().replace(f'"{root}/', f'"{SOURCE}/')
    return text == Path(known).read_text()


def newer(file: str, than: Path) -> bool:
    return not os.path.isfile(file) or os.stat(file).st_mtime_ns > than.stat().st_mtime_ns


def compiled_before(command: list[str], build: Path) -> Path | None:
    """None: that has to be compiled."""
    call = parsed(command)
    found = PLACE.search(call.target)
    if not found or "-MF" not in command or not (build / found[1]).is_file():
        return None
    known = build / found[1]
    tree = in_tree(found[1], build)
    root = root_of(call, tree) if tree and means_the_same(call, tree) else None
    if not tree or not root:
        return None
    made_of = files_of(found[1], build)
    if tree.headers:
        made_of |= files_of(f"{os.path.relpath(tree.headers, build)}.gch", build)
    if any(newer(file, known) for file in made_of):
        return None  # the tree is not up to date
    if (call.folders, call.systems) == (tree.folders, tree.systems):
        # the same files, of which none has changed: the preprocessor would say nothing new
        if not same_text(call.source, root, tree.source):
            return None
        tell_sources(command, call)
        return known
    pairs = {file: counterpart(file, root) for file in files_read(command)}
    if not pairs:
        return None
    pairs[os.path.normpath(call.source)] = os.path.normpath(tree.source)
    same = all(its in made_of and same_text(mine, root, its) for mine, its in pairs.items())
    return known if same else None
