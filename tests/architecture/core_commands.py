# SPDX-License-Identifier: BSD-3-Clause
"""No file of the core is compiled with an MPI include directory: usage: core_commands.py
COMPILE_COMMANDS SOURCE_ROOT."""

import json
import shlex
import sys
from pathlib import Path

from rooms import CORE


def include_directories(arguments: list[str]):
    for here, following in zip(arguments, arguments[1:] + [""]):
        if here in ("-I", "-isystem", "-include"):
            yield following
        elif here.startswith("-I"):
            yield here[2:]
        elif here.startswith("-isystem"):
            yield here[len("-isystem") :]


def main(commands: Path, root: Path) -> int:
    core = mpi_free = 0
    for entry in json.loads(commands.read_text()):
        path = Path(entry["directory"], entry["file"])
        if (
            not path.is_relative_to(root / "src")
            or path.relative_to(root / "src").parts[0] not in CORE
        ):
            continue
        core += 1
        directories = include_directories(entry.get("arguments") or shlex.split(entry["command"]))
        bad = [
            d
            for d in directories
            if (Path(entry["directory"], d) / "mpi.h").exists() or "mpi" in Path(d).name.lower()
        ]
        mpi_free += not bad
        if bad:
            print(f"{path} is compiled with {', '.join(bad)}")
    print(f"{mpi_free} of {core} files of the core are compiled without an MPI include path")
    return core == 0 or mpi_free != core


sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
