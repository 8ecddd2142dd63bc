# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges on neighborhoods that follow schedules. Arguments: a JSON file with [from, to] pairs of
the pattern, and what the infos of the neighborhoods say, as in tonari_schedule=FILE. Prints for
each the messages that every rank sends in an all-to-all."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI
from tonari.mpi import Neighborhood

comm = MPI.COMM_WORLD
rank = comm.rank
pairs = [tuple(pair) for pair in json.loads(Path(sys.argv[1]).read_text())]
sources = [a for a, b in pairs if b == rank]
targets = [b for a, b in pairs if a == rank]
ELEMENTS = 5


def payload(sender: int, receiver: int, time: int) -> np.ndarray:
    return 1e6 * time + 1e4 * sender + 100.0 * receiver + np.arange(ELEMENTS)


def messages_of(info: dict[str, str]) -> list[int] | None:
    with Neighborhood.adjacent(comm, sources, targets, info) as near:
        out, into = np.empty((len(targets), ELEMENTS)), np.empty((len(sources), ELEMENTS))
        request = near.alltoall_init(out, into, info={"tonari_tune": "off"})
        for time in range(3):
            into[:] = -1
            for i, target in enumerate(targets):
                out[i] = payload(rank, target, time)
            request.start()
            request.wait()
            for row, source in zip(into, sources, strict=True):
                np.testing.assert_array_equal(row, payload(source, rank, time))
        if "tonari_schedule" in info:
            assert request.info.algorithm == "schedule", request.describe()
            assert info["tonari_schedule"] in request.describe(), request.describe()
        gathered = np.full((len(sources), ELEMENTS), -1.0)
        near.allgather(payload(rank, 0, 7), gathered)
        for row, source in zip(gathered, sources, strict=True):
            np.testing.assert_array_equal(row, payload(source, 0, 7))
        messages = comm.gather(request.info.messages)
        request.free()
        return messages


counts = [messages_of(dict([word.split("=", 1)])) for word in sys.argv[2:]]
if rank == 0:
    print(json.dumps(counts))
