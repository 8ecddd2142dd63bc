# SPDX-License-Identifier: BSD-3-Clause
"""Groups: several exchanges as one request, and what their mistakes say."""

from __future__ import annotations

import numpy as np
from patterns import POISON, RANK, RANKS, WORLD, cartesian, payload, refused
from tonari import errors
from tonari.mpi import Group, Neighborhood, Vector

STEP = 3  # values that each rank owns


def check_one_request_of_many_calls() -> None:
    torus = cartesian()
    near = Neighborhood(torus, "moore:2:1")
    vector = Vector(WORLD, RANK * STEP, STEP, [(RANK * STEP + STEP) % (RANKS * STEP)])
    out, into = np.empty((8, 2)), np.empty((8, 2))
    x, ghosts = np.empty(STEP), np.empty(1)
    with Group(WORLD) as group:
        part = near.alltoall_init(out, into)
        vector.forward_init(x, ghosts)
        assert repr(part) == "<tonari alltoall: part of a group>"
    assert "group of 2 calls" in repr(group.request)
    for time in range(3):
        for i in range(8):
            out[i] = payload(RANK, i, 2, time)
        x[:], into[...], ghosts[:] = payload(RANK, 9, STEP, time), POISON, POISON
        group.request.start()
        group.request.wait()
        for i, source in enumerate(near.sources):
            np.testing.assert_array_equal(into[i], payload(source, i, 2, time))
        assert ghosts[0] == payload((RANK + 1) % RANKS, 9, 1, time)[0]
    assert refused(part.start).code == errors.ARGUMENT
    group.request.free()
    vector.free(), near.free(), torus.Free()


def check_a_group_keeps_its_arrays() -> None:
    with Neighborhood(cartesian(), [[1, 0]]) as near:
        into = np.full((1, 2), POISON)
        with Group(WORLD) as group:
            near.alltoall_init(payload(RANK, 0, 2), into)  # nothing else keeps what is sent
        with group.request:
            group.request.start()
        np.testing.assert_array_equal(into[0], payload(near.sources[0], 0, 2))


def check_exchanges_at_once() -> None:
    with Neighborhood(cartesian(), [[1, 0], [0, 1]]) as near:
        for then in ("run", "start"):
            out = np.array([payload(RANK, i, 3) for i in range(2)])
            first, second = np.empty((2, 3)), np.empty((2, 3))
            with Group(WORLD, then=then) as group:
                near.alltoall_init(out, first)
                near.alltoall_init(out + 1, second)
            if then == "start":
                group.request.wait()
            else:
                assert refused(lambda group=group: group.request).code == errors.ARGUMENT
            right = [payload(source, i, 3) for i, source in enumerate(near.sources)]
            np.testing.assert_array_equal(first, right)
            np.testing.assert_array_equal(second, np.add(right, 1))


def fill(near: Neighborhood, wrong: bool) -> None:
    with Group(WORLD):
        near.alltoall_init(np.zeros(3), np.zeros(3))
        if wrong:
            raise errors.Error("this rank has had enough", errors.ARGUMENT)


def check_a_rank_that_leaves_is_an_error_of_all() -> None:
    with Neighborhood(cartesian(), [[1, 0]]) as near:
        error = refused(fill, near, RANK == 0)
        assert (str(error) == "this rank has had enough") == (RANK == 0)
        with Group(WORLD, then="run"):  # the next one is as if nothing had happened
            near.alltoall_init(np.zeros(3), np.zeros(3))


def check_mistakes() -> None:
    error = refused(Group, WORLD, then="sometimes")
    assert str(error) == "then is 'sometimes'; it must be one of request, start, run"
    group = Group(WORLD)
    assert refused(lambda: group.request).code == errors.ARGUMENT
    with Neighborhood(cartesian(), [[1, 0]]) as near:
        values = np.zeros(3)

        def twice() -> None:
            with Group(WORLD):
                near.alltoall_init(np.zeros(3), values)
                near.alltoall_init(np.zeros(3), values)

        assert refused(twice).code == errors.BUFFERS
