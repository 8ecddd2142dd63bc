# SPDX-License-Identifier: BSD-3-Clause
"""What this machine has of what figures need."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

from tonari.benchmark.launch import build_tree
from tonari.errors import FILE, Error
from tonari.reproduce.figures import Here


def look(short: bool, mpi: str, matrices: Path | None, folder: Path) -> Here:
    """Asks the build and the system. mpi: which one comes first, if any is named."""
    if matrices and not matrices.is_dir():
        raise Error(f"{matrices} is no folder; --matrices names one with files of .mtx", FILE)
    return Here(
        short=short,
        mpis=_mpis(mpi),
        root=_makes_hosts(),
        gpu=Path("/dev/nvidiactl").exists(),
        matrices=matrices,
        scratch=folder,
    )


def _mpis(first: str) -> tuple[str, ...]:
    """Of the build; the standard ABI's is another build for one of the others."""
    tree = build_tree()
    if not tree:
        return ("abi",)
    names = [n for n in json.loads((tree / "tonari-config.json").read_text())["mpis"] if n != "abi"]
    if first and first not in names:
        raise Error(f"the build has no {first}, only {', '.join(names) or 'no MPI at all'}", FILE)
    return tuple(sorted(names, key=lambda name: name != first))


def _makes_hosts() -> bool:
    """Whether network namespaces can be made, as --hosts does."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        return False
    try:
        tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def machine(here: Here) -> str:
    """A sentence for the report. It has no name of the machine."""
    cores = len(os.sched_getaffinity(0))
    mpis = " and ".join(here.mpis) or "no MPI"
    return f"Made on {cores} cores of one {platform.machine()} machine, with {mpis}."
