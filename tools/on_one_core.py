#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command on one core that no other command of this kind has, or, if all are taken, on all.

    tools/on_one_core.py FOLDER COMMAND [ARGUMENT...]

Two ranks on two cores spin while they wait, as they should. Where two such jobs run side by side,
four ranks spin on two cores, and wait for each other's time slices. On one core a job's ranks take
turns: two jobs of engine_tests (MPICH 4.0.2, OutOfMemory, two cores that also compiled) took 9.5 s
side by side so, and 20.4 s on all cores. FOLDER has a file for each core, which is locked for as
long as the command and what it starts hold it open.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path


def take_core(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    cores = sorted(os.sched_getaffinity(0))
    for core in cores:
        file = os.open(folder / f"core-{core}", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
        else:
            os.set_inheritable(file, True)
            os.sched_setaffinity(0, {core})
            return


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        take_core(Path(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
