# SPDX-License-Identifier: BSD-3-Clause
"""Sums of y = A x by columns over routes of vectors. Arguments: a JSON file with `cuts`, the first
row of each rank, and `entries`, (row, column) of A; and the routes. Prints for each route what
every rank sends: its messages in each hop, and all its bytes."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI
from tonari.mpi import Vector

comm = MPI.COMM_WORLD
given = json.loads(Path(sys.argv[1]).read_text())
cuts = given["cuts"]
first, end = cuts[comm.rank], cuts[comm.rank + 1]
entries = sorted(map(tuple, given["entries"]))
rows = sorted({i for i, j in entries if first <= j < end})  # to which this rank contributes
INFO = {"tonari_tune": "off", "tonari_channel": "p2p-packed", "tonari_algorithm": "linear"}


def value(row: int, column: int, time: int) -> int:
    return (31 * row + 17 * column + 7 * time) % 101 - 50


def partial(row: int, lower: int, upper: int, time: int) -> int:
    return sum(value(row, j, time) for i, j in entries if i == row and lower <= j < upper)


def sent_by(route: str) -> tuple[list[int], int]:
    with Vector(comm, first, end - first, np.array(rows), {"tonari_route": route}) as vector:
        parts, y = np.zeros(len(rows)), np.zeros(end - first)
        with vector.reverse_init(parts, y, info=INFO) as add:
            for time in range(3):
                parts[:] = [partial(row, first, end, time) for row in rows]
                y[:] = 0
                add.start()
                add.wait()
                whole = [partial(row, 0, cuts[-1], time) for row in range(first, end)]
                np.testing.assert_array_equal(y, whole)
            told = list(map(int, re.findall(r"sends: (\d+) messages", add.describe())))
            assert told[0] == add.info.messages == sum(told[1:])
            return told[1:], add.info.bytes


counts = [comm.gather(sent_by(route)) for route in sys.argv[2:]]
if comm.rank == 0:
    print(json.dumps(counts))
