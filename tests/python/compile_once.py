# SPDX-License-Identifier: BSD-3-Clause
"""A compiler launcher (CMAKE_CXX_COMPILER_LAUNCHER) for tests that build the library again: what
was compiled already from the same text by the same options is copied, and so is what the build
tree has (compiled_before.py). Else the preprocessor runs on the files that are there, so a missing
or another one is noticed. Targets that TONARI_HOLLOW finds are left hollow (compile_hollow.py)."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from compile_hollow import hollow
from compiled_before import compiled_before

# With a value of their own: what they say is in the preprocessed text, or names a file.
IN_TEXT = {"-I", "-isystem", "-D", "-U", "-MF", "-MT", "-MQ", "-o", "-c"}
# Where files lie, what is warned of, and how much memory the compiler takes.
NOT_IN_CODE = ("-I", "-D", "-U", "-M", "-W", "--param=ggc-")


def options(command: list[str]) -> list[str]:
    """What decides on the code besides the text."""
    kept, words = [], iter(command)
    for word in words:
        if word in IN_TEXT:
            next(words, None)
        elif not word.startswith(NOT_IN_CODE):
            kept.append(word)
    return kept


def compile_once(command: list[str], folder: Path, build: Path | None) -> int:
    before = build and compiled_before(command, build)
    if before:
        shutil.copyfile(before, command[command.index("-o") + 1])
        return 0
    at = command.index("-o")
    target, rest = Path(command[at + 1]), command[:at] + command[at + 2 :]
    read = [word for word in rest if word != "-c"] + ["-E", "-P"]
    done = subprocess.run(read, stdout=subprocess.PIPE)
    if done.returncode:
        return done.returncode
    compiler = os.path.realpath(shutil.which(command[0]) or command[0])  # c++ is g++
    words = "\0".join([compiler, *options(command[1:])]).encode()
    key = hashlib.sha256(words + b"\0" + done.stdout).hexdigest()
    known = folder / key
    with (folder / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test may compile it right now
        if known.is_file():
            shutil.copyfile(known, target)
            return 0
        status = subprocess.run(command).returncode
        if status == 0:
            shutil.copyfile(target, known)
        return status


if __name__ == "__main__":
    words, place = sys.argv[1:], os.environ.get("TONARI_COMPILED")
    if not place or "-c" not in words or "-o" not in words:
        os.execvp(words[0], words)
    found = os.environ.get("TONARI_HOLLOW")
    if found and re.search(found, words[words.index("-o") + 1]):
        sys.exit(hollow(words))
    build = os.environ.get("TONARI_BUILD")
    sys.exit(compile_once(words, Path(place), Path(build).absolute() if build else None))
