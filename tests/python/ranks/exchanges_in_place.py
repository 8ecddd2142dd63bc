# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges in place: what arrives where, of all forms, within as little memory as one byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tonari.mpi
from mpi4py import MPI
from patterns import POISON, RANK, RANKS, WORLD, payload, refused
from tonari import errors

INFOS: list[Any] = [None, {"tonari_inplace_memory": 1}, {"tonari_inplace_memory": "1M"}]


def size(a: int, b: int) -> int:
    """Of v forms: the same for both ranks of a pair."""
    return (a + b + a * b) % 4


def in_all_forms(name: str, spec: Callable[[], Any], check: Callable[[], None]) -> None:
    """spec fills the buffer and names it."""
    once, begun, init = (getattr(tonari.mpi, f) for f in (name, f"i{name}", f"{name}_init"))
    for info in INFOS:
        once(spec(), WORLD, info)
        check()
        request = begun(spec(), WORLD, info)
        request.wait()
        check()
        request.free()
        with init(spec(), WORLD, info) as again:
            assert f"<tonari {name}: " in repr(again)
            for _ in range(2):
                spec()
                again.start()
                again.wait()
                check()


def check_blocks_of_one_size() -> None:
    buf = np.empty((RANKS, 5))

    def fill() -> np.ndarray:
        for j in range(RANKS):
            buf[j] = payload(RANK, j, 5)
        return buf

    def check() -> None:
        for j in range(RANKS):
            np.testing.assert_array_equal(buf[j], payload(j, RANK, 5))

    in_all_forms("alltoall_inplace", fill, check)


def check_blocks_of_any_size() -> None:
    counts = [size(RANK, j) for j in range(RANKS)]
    displs = [5 * (RANKS - 1 - j) for j in range(RANKS)]
    buf = np.empty(5 * RANKS)

    def fill() -> list[Any]:
        buf[:] = POISON
        for j in range(RANKS):
            buf[displs[j] :][: counts[j]] = payload(RANK, j, counts[j])
        return [buf, (counts, displs)]

    def check() -> None:
        right = np.full(5 * RANKS, POISON)
        for j in range(RANKS):
            right[displs[j] :][: counts[j]] = payload(j, RANK, counts[j])
        np.testing.assert_array_equal(buf, right)

    in_all_forms("alltoallv_inplace", fill, check)
    in_all_forms(
        "alltoallw_inplace",
        lambda: [fill()[0], (counts, [8 * d for d in displs]), [MPI.DOUBLE] * RANKS],
        check,
    )


def check_other_sizes_on_the_way_back() -> None:
    """Rank a has a + 1 numbers for each b, one block behind the other, and takes what comes so."""
    out = [RANK + 1] * RANKS
    into = [j + 1 for j in range(RANKS)]
    buf = np.empty(max(sum(out), sum(into)))

    def fill() -> list[Any]:
        blocks = [payload(RANK, j, RANK + 1) for j in range(RANKS)]
        buf[: sum(out)] = np.concatenate(blocks)
        return [buf, out, into]

    def check() -> None:
        right = np.concatenate([payload(j, RANK, j + 1) for j in range(RANKS)])
        np.testing.assert_array_equal(buf[: sum(into)], right)

    in_all_forms("alltoallv_inplace_general", fill, check)


def check_mistakes() -> None:
    last = RANKS - 1
    buf = np.zeros(2 * RANKS)
    fixed = buf.copy()
    fixed.flags.writeable = False
    said = refused(tonari.mpi.alltoall_inplace, fixed if RANK == last else buf, WORLD)
    assert "buf is read-only" in str(said), said
    counts = [3 if RANK == last else 1] * RANKS
    said = refused(tonari.mpi.alltoallv_inplace_init, [buf, counts], WORLD) if RANKS > 1 else None
    assert said is None or said.code in (errors.BUFFERS, errors.ARGUMENT), said
    if RANKS > 1:
        differing = [buf, [1 + (RANK == 0)] * RANKS]
        said = refused(tonari.mpi.alltoallv_inplace, differing, WORLD)
        assert said.code == errors.MISMATCH, said
