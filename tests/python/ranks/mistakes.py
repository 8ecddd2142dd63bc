# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong on one rank is an error on all that would wait for it, and nothing is lost."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tonari.mpi
from mpi4py import MPI
from patterns import RANK, RANKS, WORLD, cartesian, refused
from tonari import Error, errors
from tonari.mpi import dlpack

LAST = RANKS - 1
Near = tonari.mpi.Neighborhood


@contextmanager
def ring() -> Iterator[Near]:
    """Each rank sends to the next one and to the one before, and to itself."""
    cart = cartesian(1)
    with Near(cart, [[1], [-1], [0]]) as near:
        yield near
    cart.Free()


def arrays(elements: int = 4, dtype: Any = float) -> tuple[np.ndarray, np.ndarray]:
    send = np.arange(3 * elements).reshape(3, elements).astype(dtype)
    return send + np.asarray(100 * RANK, dtype), np.zeros_like(send)


def on_all(error: Error) -> list[Error]:
    return [Error(*words) for words in WORLD.allgather((str(error), error.code))]


def works(near: Near) -> None:
    """It can be used after what went wrong."""
    send, recv = arrays()
    with near.alltoall_init(send, recv) as request:
        request.start()
        request.wait()
    near.alltoall(send, recv)
    for i, source in enumerate(near.sources):
        np.testing.assert_array_equal(recv[i], np.arange(4 * i, 4 * i + 4) + 100.0 * source)


def check_ranks_that_differ_get_one_sentence() -> None:
    with ring() as near:
        send, recv = arrays(4 + (RANK == LAST))
        if RANKS > 1:
            said = on_all(refused(near.alltoall_init, send, recv))
            assert len({str(error) for error in said}) == 1
            assert {error.code for error in said} == {errors.MISMATCH}
            assert "bytes at the sender" in str(said[0])
            offsets = [[1], [-1 - (RANK == LAST)]]
            cart = cartesian(1)
            said = on_all(refused(Near, cart, offsets))
            assert len({str(error) for error in said}) == 1 and "offset" in str(said[0]), said
            cart.Free()
        works(near)


def one_rank_is_wrong(near: Near, call: Callable[..., Any], sentence: str, *wrong: Any) -> None:
    """All ranks read what is wrong on the last one; of one-shot calls those that exchange blocks
    with it, and the rest of them completes."""

    def complete(*arguments: Any) -> None:
        request = call(*arguments)
        if call == near.ialltoall:  # of other ranks' mistakes it hears later
            request.wait()

    given = wrong if RANK == LAST else arrays()
    if call == near.alltoall_init or LAST in near.targets + near.sources:
        mistake = refused(complete, *given)
        assert sentence in str(mistake), mistake
        assert str(mistake).startswith(f"rank {LAST}: ") or RANK == LAST or RANKS == 1, mistake
        assert "\n" not in str(mistake)
    else:
        complete(*given)
    works(near)


def said_by_last(mistake: Error) -> bool:
    """On every rank, unless there is no other."""
    return RANKS == 1 or str(mistake).startswith(f"rank {LAST}: ")


class OnDevice:
    """A tensor in memory that tonari does not take."""

    def __init__(self, device: int = 10) -> None:
        self._device = device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("nobody asks for it")


def check_one_wrong_rank_keeps_nobody_waiting() -> None:
    send, recv = arrays()
    fixed = recv.copy()
    fixed.flags.writeable = False
    cases: list[tuple[str, Any, Any]] = [
        ("send has 88 bytes, which are no 3 blocks", send.ravel()[:11], recv),
        ("recv is not contiguous", send, recv[:, ::2]),
        ("recv is read-only memory", send, fixed),
        ("recv is read-only memory", send, bytes(96)),
        ("send holds Python objects", send.astype(object), recv),
        ("send is a int; it must be an array", 5, recv),
        ("send is memory of a device of ROCm; tonari takes that of the host", OnDevice(), recv),
        ("recv is memory of a device of another kind (DLPack's number 18)", send, OnDevice(18)),
        ("recv has 96 bytes, and its blocks reach from byte 0 to 120", send, [recv, 5, MPI.DOUBLE]),
        ("recv has a count of -2", send, [recv, -2, MPI.DOUBLE]),
        ("all blocks have one size", send, [recv, [4, 4, 4]]),
        ("send must read [array, counts, type]", [send, 1, 2, 3], recv),
    ]
    with ring() as near:
        for sentence, *wrong in cases:
            first = sentence == cases[0][0]
            for form in (near.alltoall_init, near.alltoall, near.ialltoall)[: 3 if first else 1]:
                one_rank_is_wrong(near, form, sentence, *wrong)


def check_lists_of_wrong_lengths() -> None:
    send, recv = arrays()
    with ring() as near:
        cases: list[tuple[Any, str, Any]] = [
            (near.alltoallv_init, "send's counts has 2 entries; it must have 3", [send, [1, 1]]),
            (near.alltoallv_init, "reach from byte -8 to", [send, ([1, 1, 1], [0, -1, 2])]),
            (near.alltoallv_init, "send's counts has an entry", [send, [1, 2**40, 1]]),
            (near.alltoallv_init, "must be a list of integers", [send, [1.0, 1.0, 1.0]]),
            (near.alltoallw_init, "send has 2 arrays; there are 3 neighbors", [send[0], send[1]]),
            (near.alltoallw_init, "must have a list of 3 types", [send, ([1] * 3, [0] * 3), []]),
        ]
        for form, sentence, wrong in cases:
            right = {"alltoallv_init": [send, [4] * 3], "alltoallw_init": list(send)}
            other = {"alltoallv_init": [recv, [4] * 3], "alltoallw_init": list(recv)}
            name = form.__name__
            mistake = refused(form, wrong if RANK == LAST else right[name], other[name])
            assert sentence in str(mistake) and said_by_last(mistake), mistake
            works(near)


def check_neighborhoods_of_wrong_arguments() -> None:
    cart = cartesian(2)
    right = [[0, 1], [1, 0]]
    for wrong, sentence in (
        ([[1, 0, 0]], "offsets has shape (1, 3)"),
        ([[0.5, 1.0]], "float64"),
        ("mooore:2:1", "mooore"),
    ):
        mistake = refused(Near, cart, wrong if RANK == LAST else right)
        assert sentence in str(mistake) and said_by_last(mistake), mistake
    mistake = refused(Near.adjacent, WORLD, [0], [[0]] if RANK == LAST else [0])
    assert "destinations must be a list of integers" in str(mistake) and said_by_last(mistake)
    mistake = refused(Near.from_destinations, WORLD, [RANKS if RANK == LAST else 0])
    assert str(RANKS) in str(mistake)
    assert "topology" in str(refused(Near.from_comm, WORLD))
    assert refused(Near, cart, right, {"tonari_algorythm": "linear"}).code == errors.ARGUMENT
    cart.Free()


def check_the_life_of_a_request() -> None:
    with ring() as near:
        send, recv = arrays()
        request = near.alltoall_init(send, recv)
        request.start()
        assert refused(request.start).code == errors.ACTIVE
        assert refused(request.free).code == errors.ACTIVE
        request.wait()
        assert request.test()
        wrong = [
            (send[:2], recv, errors.BUFFERS),
            (send.astype("f4"), recv, errors.ARGUMENT),
            (send, send, errors.BUFFERS),
            (send, recv[:, ::2], errors.ARGUMENT),
        ]
        for out, into, code in wrong:
            assert refused(request.start_with, out, into).code == code
        request.start()
        request.wait()
        assert "alltoall" in request.describe()
        request.free()
        request.free()
        assert repr(request) == "<tonari alltoall: freed>"
        assert refused(request.start).code == errors.ARGUMENT
        views = near.alltoallw_init(list(send), list(recv))
        assert "is bound to those of init" in str(refused(views.start_with, send, recv))
        views.free()
        once = near.ialltoall(send, recv)
        once.wait()
        assert refused(once.start).code == errors.ARGUMENT
    assert repr(near) == "<tonari Neighborhood: freed>"
    assert "was freed" in str(refused(near.alltoall, send, recv))


def check_which_arrays_a_request_keeps() -> None:
    """Those of its last start, and no others."""
    with ring() as near:
        send, recv = arrays()
        request = near.alltoall_init(send, recv)
        before, other = weakref.ref(recv), recv.copy()
        request.start_with(send, other)
        request.wait()
        after = weakref.ref(other)
        del recv, other
        gc.collect()
        assert before() is None and after() is not None
        request.free()
        gc.collect()
        assert after() is None


def check_what_is_dropped() -> None:
    """A request that nobody has any more is complete; its arrays live until then."""
    with ring() as near:
        for _ in range(3):
            send, recv = arrays()
            near.ialltoall(send, recv)
            works(near)
            for i, source in enumerate(near.sources):
                np.testing.assert_array_equal(recv[i], np.arange(4 * i, 4 * i + 4) + 100.0 * source)
            request = near.alltoall_init(send.copy(), recv)
            recv[:] = 0
            gc.collect()
            request.start()
            del request
            for i, source in enumerate(near.sources):
                np.testing.assert_array_equal(recv[i], np.arange(4 * i, 4 * i + 4) + 100.0 * source)
    cart = cartesian(1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        near = Near(cart, [[1]])
        handle = near._handle
        del near
        gc.collect()
    assert [str(w.message) for w in caught if w.category is ResourceWarning][0].startswith(
        "a Neighborhood of tonari was not freed"
    )
    tonari.mpi.library.freed("neighborhood_free", handle)
    cart.Free()


def check_kinds_of_memory() -> None:
    import array
    import ctypes

    class Tensor:
        """Nothing but DLPack."""

        def __init__(self, values: np.ndarray) -> None:
            self._values = values

        def __dlpack__(self, **keywords: Any) -> Any:
            return self._values.__dlpack__(**keywords)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self._values.__dlpack_device__()

    numbers = np.arange(12.0) + 100 * RANK
    kinds: list[tuple[Any, Any]] = [
        (numbers, np.zeros(12)),
        (numbers.tobytes(), bytearray(96)),
        (array.array("d", numbers), array.array("d", [0] * 12)),
        (memoryview(numbers), (ctypes.c_double * 12)()),
        (Tensor(numbers), Tensor(np.zeros(12))),
        (Tensor(numbers), np.zeros((3, 2), complex)),
    ]
    with ring() as near:
        for send, recv in kinds:
            wanted = [np.arange(4 * i, 4 * i + 4) + 100.0 * s for i, s in enumerate(near.sources)]
            with near.alltoall_init(send, recv) as request:
                request.start()
                request.wait()
            got = recv._values if isinstance(recv, Tensor) else np.frombuffer(recv)
            np.testing.assert_array_equal(got, np.concatenate(wanted))
            near.alltoall([send, MPI.BYTE], [recv, MPI.BYTE])


class ByDlpack:
    """Nothing but DLPack; NumPy's, with other numbers where they are given."""

    def __init__(self, values: np.ndarray, **changed: int) -> None:
        self._values, self._changed = values, changed

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._values.__dlpack_device__()

    def __dlpack__(self, *, max_version: tuple[int, int], copy: bool) -> Any:
        capsule = self._values.__dlpack__(max_version=max_version, copy=copy)
        whole = dlpack._Versioned.from_address(dlpack._pointer(capsule, b"dltensor_versioned"))
        for name, number in self._changed.items():
            setattr(whole.tensor.type if hasattr(dlpack._Type, name) else whole, name, number)
        return capsule


class BeforeVersion1(ByDlpack):
    def __dlpack__(self, stream: None = None) -> Any:  # type: ignore[override]
        return self._values.__dlpack__()


def check_tensors_of_the_host() -> None:
    numbers = np.arange(24.0).reshape(4, 6) + 100 * RANK
    with ring() as near:
        for of_numpy in (numbers[:3], numbers[:3].astype("f2"), numbers[:3] > 4, numbers[:3] + 1j):
            for kind in (ByDlpack, BeforeVersion1):
                got = np.zeros_like(of_numpy)
                near.alltoall(kind(of_numpy), ByDlpack(got))
                wanted = np.zeros_like(of_numpy)
                near.alltoall(of_numpy, wanted)
                np.testing.assert_array_equal(got, wanted)
                assert got.any()
        bfloat16 = {"code": 4, "bits": 16}
        got = np.zeros((3, 6), "u2")
        near.alltoall(ByDlpack(numbers[:3].astype("u2"), **bfloat16), ByDlpack(got, **bfloat16))
        np.testing.assert_array_equal(got[:, 0] % 100, [0, 6, 12])
        columns = [ByDlpack(numbers[:, k]) for k in range(3)]
        into = np.zeros((3, 4))
        near.alltoallw(columns, [ByDlpack(into[k]) for k in range(3)])
        np.testing.assert_array_equal(into[:, 1] % 100, [6, 7, 8])


def check_capsules_are_given_back() -> None:
    """When nobody has the request any more, not before."""

    class Held(np.ndarray):
        """What NumPy's capsule keeps."""

    with ring() as near:
        send, recv = (np.zeros((3, 4)).view(Held) for _ in range(2))
        seen = [weakref.ref(send), weakref.ref(recv)]
        request = near.alltoall_init(ByDlpack(send), ByDlpack(recv))
        near.alltoall(ByDlpack(send), ByDlpack(recv))
        del send, recv
        gc.collect()
        assert all(array() is not None for array in seen)
        request.free()
        assert not any(array() for array in seen)


def check_wrong_tensors() -> None:
    numbers = np.zeros((3, 4))
    fixed = numbers.copy()
    fixed.flags.writeable = False

    class NoCapsule(ByDlpack):
        def __dlpack__(self, **_: Any) -> Any:
            return 5

    cases: list[tuple[Any, Any, str]] = [
        (numbers, ByDlpack(fixed), "recv is read-only memory, and would be written"),
        (
            numbers,
            BeforeVersion1(numbers.copy()),
            "recv comes by a DLPack older than 1.0, which does not say whether it may be written;"
            " receive into an array of another library, or of a newer version",
        ),
        (
            ByDlpack(numbers, major=2),
            numbers,
            "send comes by version 2 of DLPack; tonari reads version 1 and those before it",
        ),
        (
            ByDlpack(numbers, code=17, bits=4),
            numbers,
            "send has elements of 4 bits; tonari moves whole bytes",
        ),
        (NoCapsule(numbers), numbers, "send has a __dlpack__ that gives no capsule of DLPack"),
        (
            ByDlpack(np.zeros((3, 8))[:, ::2]),
            numbers,
            "send is not contiguous in C order; give alltoallw a list of arrays, one per neighbor,"
            " which may be any views",
        ),
    ]
    with ring() as near:
        for send, recv, sentence in cases:
            one_rank_is_wrong(near, near.alltoall_init, sentence, send, recv)


def check_pictures() -> None:
    with ring() as near:
        send, recv = arrays()
        assert repr(near) == (
            f"<tonari Neighborhood: 3 offsets on a torus {RANKS};"
            " this rank sends to 3, receives from 3>"
        )
        assert near._repr_html_().count("<rect") == (0 if RANKS == 1 else 3)
        with near.alltoall_init(send, recv, info={"tonari_algorithm": "torus"}) as request:
            assert ": torus " in repr(request)
            drawn = request._repr_html_()
            assert drawn.startswith("<div><code>&lt;tonari alltoall: torus ")
            rounds = {1: "0 messages in 0 rounds", 2: "1 message in 1 round"}
            assert f"torus: {rounds.get(RANKS, '2 messages in 1 round')}<" in drawn, drawn
    graph = Near.adjacent(WORLD, [RANK], [RANK])
    assert "any graph; this rank sends to 1" in repr(graph)
    assert "<svg" not in graph._repr_html_()
    graph.free()
