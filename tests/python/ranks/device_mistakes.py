# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with arrays in memory of a GPU is one sentence, and nothing is lost."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tonari.mpi
from gpu_arrays import GPU, CudaArray, DlpackArray, OldDlpackArray, Tensor, Values
from patterns import RANK, RANKS, WORLD, cartesian, refused
from tonari import errors
from tonari.mpi import streams

LAST = RANKS - 1
STREAM = GPU.stream()


@contextmanager
def ring() -> Iterator[tonari.mpi.Neighborhood]:
    """Each rank sends to the next one, and to itself."""
    cart = cartesian(1)
    with tonari.mpi.Neighborhood(cart, [[1], [0]]) as near:
        yield near
    cart.Free()


def numbers() -> np.ndarray:
    return np.array([[RANK, 1.0], [RANK, 2.0]])


def pair(kind: type[Values]) -> tuple[Values, Values]:
    return kind(GPU, numbers()), kind(GPU, np.zeros((2, 2)))


def works(near: tonari.mpi.Neighborhood) -> None:
    send, recv = pair(CudaArray)
    near.alltoall(send, recv)
    np.testing.assert_array_equal(
        recv.get(), [[rank, k + 1] for k, rank in enumerate(near.sources)]
    )


class Changed(CudaArray):
    """Its interface says something else."""

    changed: dict[str, Any]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return super().__cuda_array_interface__ | self.changed


def changed(**entries: Any) -> Changed:
    made = Changed(GPU, numbers())
    made.changed = entries
    return made


def fixed(kind: type[Values]) -> Values:
    made = kind(GPU, np.zeros((2, 2)))
    made.read_only = True
    return made


def check_arrays_that_are_refused() -> None:
    """The last rank's; all ranks hear of them."""
    read_only = "recv is read-only memory, and would be written"
    wide = np.zeros((2, 4))
    cases: list[tuple[Any, Any, str, int]] = [
        (None, fixed(CudaArray), read_only, errors.BUFFERS),
        (None, fixed(DlpackArray), read_only, errors.BUFFERS),
        (
            None,
            OldDlpackArray(GPU, np.zeros((2, 2))),
            "recv comes by a DLPack older than 1.0, which does not say whether it may be written;"
            " receive into an array of another library, or of a newer version",
            errors.BUFFERS,
        ),
        (
            CudaArray(GPU, wide[:, ::2]),
            None,
            "send is not contiguous in C order; give alltoallw a list of arrays, one per neighbor,"
            " which may be any views",
            errors.ARGUMENT,
        ),
        (
            None,
            DlpackArray(GPU, wide[:, ::2]),
            "recv is not contiguous in C order; give alltoallw a list of arrays, one per neighbor,"
            " which may be any views",
            errors.ARGUMENT,
        ),
        (
            changed(version=1),
            None,
            "send has version 1 of the CUDA array interface; tonari reads versions 2 and 3",
            errors.ARGUMENT,
        ),
        (changed(mask=5), None, "send has a mask; tonari moves plain memory", errors.ARGUMENT),
        (
            changed(typestr="|O"),
            None,
            "send holds Python objects; tonari moves plain memory",
            errors.ARGUMENT,
        ),
        (
            None,
            changed(stream=0),
            "recv gives 0 for its stream, which the CUDA array interface does not allow: it must"
            " be None, 1, 2 or a handle",
            errors.ARGUMENT,
        ),
        (
            CudaArray(GPU, np.zeros(3)),
            None,
            "send has 24 bytes, which are no 2 blocks of whole elements of 8 bytes",
            errors.ARGUMENT,
        ),
    ]
    with ring() as near:
        for send, recv, sentence, code in cases:
            right = pair(CudaArray)
            wrong = [
                given if given is not None else right[k] for k, given in enumerate((send, recv))
            ]
            mistake = refused(near.alltoall_init, *(wrong if RANK == LAST else right))
            said = f"rank {LAST}: {sentence}" if RANKS > 1 else sentence
            assert (str(mistake), mistake.code) == (said, code), mistake
            works(near)


def check_a_fixed_tensor_of_two_protocols() -> None:
    """DLPack before 1.0 cannot say so, the CUDA array interface does: as with arrays of JAX."""
    with ring() as near:
        send, recv = pair(Tensor)
        assert "recv is read-only memory" in str(refused(near.alltoall, send, fixed(Tensor)))
        near.alltoall(fixed(Tensor), recv)
        assert not recv.get().any()


def check_streams_that_are_refused() -> None:
    with ring() as near:
        send, recv = pair(CudaArray)
        with near.alltoall_init(send, recv) as request:
            for wrong in ("five", -1, 2**64, True, 1.0, np.zeros(1)):
                for call in (request.start, request.wait):
                    mistake = refused(call, stream=wrong)
                    assert str(mistake) == (
                        f"stream is {wrong!r}; it must be a handle of CUDA, or a stream with"
                        " __cuda_stream__, cuda_stream or ptr"
                    )
                    assert mistake.code == errors.ARGUMENT
            request.start()
            request.wait()
        with near.alltoall_init(numbers(), recv) as request:
            said = str(refused(request.start, stream=STREAM))
            assert "wait for the stream, then call tonari_start" in said, said
        works(near)


def check_a_driver_that_fails() -> None:
    """A stream that is not there; and no driver at all."""
    with ring() as near:
        send, recv = pair(CudaArray)
        with near.alltoall_init(send, recv) as request:
            send.stream = 12345
            said = str(refused(request.start_with, send, recv))
            assert said == (
                "cuStreamSynchronize of CUDA's driver failed with 1, in waiting for the stream"
                " 12345 that send came with"
            )
            send.stream = STREAM
            streams._driver.cache_clear()
            whole, ctypes.CDLL = ctypes.CDLL, missing  # type: ignore[misc]
            try:
                said = str(refused(request.start_with, send, recv))
            finally:
                ctypes.CDLL = whole  # type: ignore[misc]
            assert said == (
                "a stream of a GPU cannot be waited for without CUDA's driver (it is not there):"
                " install it"
            )
            request.start_with(send, recv)
            request.wait()
        works(near)


def missing(_: str) -> Any:
    raise OSError("it is not there")


def check_calls_that_take_memory_of_the_host_only() -> None:
    send, recv = pair(DlpackArray)
    sentence = (
        "{} is memory of a GPU, which only the operations of neighborhoods take; copy it to the"
        " host"
    )
    with tonari.mpi.Vector(WORLD, 0, 0, []) as vector:
        mistake = refused(vector.forward, send, recv)
        assert str(mistake) == sentence.format("owned")
    cart = cartesian(1)
    with tonari.mpi.Grid(cart, cells=(4 * RANKS,), halo=1) as grid:
        with grid.exchange_init() as request:
            assert str(refused(grid.start_with, request, [send])) == sentence.format("arrays")
    cart.Free()
    for call in (tonari.mpi.alltoall_inplace, tonari.mpi.ialltoall_inplace):
        array = CudaArray(GPU, np.zeros((RANKS, 2)))
        assert "is memory of a GPU" in str(refused(call, array, WORLD))
    sent = CudaArray(GPU, numbers())
    said = str(refused(tonari.mpi.sparse_alltoallv, [0], [sent, [4]], WORLD))
    assert "is memory of a GPU" in said
