# SPDX-License-Identifier: BSD-3-Clause
"""Sparse exchanges with unknown receivers, against what every rank sends by definition."""

from __future__ import annotations

import gc

import numpy as np
from mpi4py import MPI
from patterns import RANK, RANKS, WORLD, payload, refused
from tonari import errors
from tonari.mpi import Messages, isparse_alltoallv, sparse_alltoallv

Sent = tuple[list[int], list[int], np.ndarray]


def sent_by(rank: int, time: int, longest: int = 9) -> Sent:
    """Some ranks several times, some never, this rank itself, and empty messages."""
    random = np.random.default_rng([rank, time])
    destinations = random.integers(0, RANKS, random.integers(0, 7)).tolist()
    counts = random.integers(0, longest, len(destinations)).tolist()
    parts = [payload(rank, k, n, time) for k, n in enumerate(counts)]
    return destinations, counts, np.concatenate([np.empty(0), *parts])


def expect(got: Messages, time: int, longest: int = 9) -> None:
    came = [
        (rank, payload(rank, k, n, time))
        for rank in range(RANKS)
        for k, (to, n) in enumerate(zip(*sent_by(rank, time, longest)[:2], strict=True))
        if to == RANK
    ]
    assert [rank for rank, _ in came] == [rank for rank, _ in got] == got.sources.tolist()
    assert [len(values) for _, values in came] == got.counts.tolist()
    assert len(got) == len(came)
    for (_, right), (_, values) in zip(came, got, strict=True):
        np.testing.assert_array_equal(values, right)
        assert not values.flags.writeable


def check_messages_arrive() -> None:
    for time in range(6):
        destinations, counts, values = sent_by(RANK, time)
        got = sparse_alltoallv(destinations, [values, counts], WORLD)
        expect(got, time)
        assert got.algorithm in repr(got)


def check_long_messages_arrive() -> None:
    for time in range(3):
        destinations, counts, values = sent_by(RANK, time, 4000)
        expect(sparse_alltoallv(destinations, [values, counts], WORLD), time, 4000)


def check_algorithms_are_chosen() -> None:
    for name in ("nbx", "personalized", "store-and-forward/1"):
        destinations, counts, values = sent_by(RANK, 9)
        info = {"tonari_algorithm": name}
        got = sparse_alltoallv(destinations, [values, counts], WORLD, info)
        expect(got, 9)
        assert got.algorithm == name


def check_several_in_flight() -> None:
    flying = []
    for time in range(20, 24):
        destinations, counts, values = sent_by(RANK, time)
        flying.append((time, isparse_alltoallv(destinations, [values, counts], WORLD)))
        del values  # the request keeps it
    assert "not here yet" in repr(flying[-1][1].messages) or flying[-1][1].test()
    for time, request in reversed(flying):
        request.wait()
        expect(request.messages, time)


def check_columns_arrive_without_gaps() -> None:
    """A rank sends a column of its matrix to the next one."""
    matrix = payload(RANK, 0, 12).reshape(4, 3)
    column = MPI.DOUBLE.Create_vector(4, 1, 3).Commit()
    got = sparse_alltoallv([(RANK + 1) % RANKS], [matrix, ([1], [0]), column], WORLD)
    column.Free()
    ((source, values),) = got
    assert source == (RANK - 1) % RANKS
    np.testing.assert_array_equal(values, payload(source, 0, 12).reshape(4, 3)[:, 0])


def check_what_came_outlives_its_messages() -> None:
    values = sparse_alltoallv([RANK], [payload(RANK, 3, 5), [5]], WORLD).data
    gc.collect()
    sparse_alltoallv([RANK], [np.zeros(5), [5]], WORLD)
    np.testing.assert_array_equal(values, payload(RANK, 3, 5))


def check_mistakes_of_one_rank_are_errors_of_all() -> None:
    to = [RANKS] if RANK == 0 else [0]
    error = refused(sparse_alltoallv, to, [np.zeros(2), [2]], WORLD)
    assert error.code == errors.ARGUMENT and "rank 0" in str(error)
    counts = [3] if RANK == RANKS - 1 else [2]
    error = refused(sparse_alltoallv, [0], [np.zeros(2), counts], WORLD)
    assert error.code in (errors.ARGUMENT, errors.BUFFERS)
    error = refused(isparse_alltoallv, [0.5], [np.zeros(2), [2]], WORLD)
    assert (
        str(error)
        == "destinations must be a list of integers, not an array of shape (1,) of float64"
    )
