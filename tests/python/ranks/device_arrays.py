# SPDX-License-Identifier: BSD-3-Clause
"""The six operations on arrays of a GPU, by both protocols and in the order of streams."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import operations
import tonari.mpi
from gpu_arrays import (
    GPU,
    LEGACY,
    CudaArray,
    DlpackArray,
    Managed,
    OldDlpackArray,
    Pinned,
    Tensor,
    Values,
    gives_all_back,
)
from patterns import RANK, Pattern, cartesian, patterns

KINDS: list[type[Values]] = [CudaArray, DlpackArray, Tensor]
Case, Equal = operations.Case, operations.Equal


class OnGpu:
    """The arguments of a case, with its arrays on the GPU. `sides`: which ones, of 0 and 1."""

    def __init__(self, case: Case, kind: type[Values], sides: tuple[int, ...] = (0, 1)) -> None:
        self.case = case
        given = list(case.arguments())
        both: tuple[list[Values], list[Values]] = ([], [])
        for side in sides:
            given[side] = self._moved(given[side], kind, both[side])
        self.arguments = tuple(given)
        self.sent, self.received = both

    @property
    def values(self) -> list[Values]:
        return self.sent + self.received

    def _moved(self, argument: Any, kind: type[Values], values: list[Values]) -> Any:
        """An array, an array with counts behind it, or a list of arrays."""
        if isinstance(argument, list):
            return [self._moved(part, kind, values) for part in argument]
        if not isinstance(argument, np.ndarray):
            return argument
        by_dlpack = argument.dtype.isnative and argument.dtype.names is None
        values.append((kind if by_dlpack else CudaArray)(GPU, argument))
        return values[-1]

    def work_in(self, stream: int) -> None:
        for values in self.values:
            values.stream = stream

    def fill(self, time: int, wait: bool = True) -> None:
        self.case.fill(time)
        for values in self.received:
            values.put()
        for values in self.sent:
            values.put(wait)

    def check(self, time: int, stream: int | None = None) -> None:
        for values in self.received:
            values.get(stream)
        self.case.check(time)


Use = Callable[[Pattern, str, OnGpu], None]


def on_all(
    use: Use, kinds: list[type[Values]], sides: tuple[int, ...] = (0, 1), third: int | None = None
) -> None:
    """On all patterns by all operations, or on a third of both, which these share then."""
    with gives_all_back(GPU), patterns() as all_patterns:
        for k, pattern in enumerate(all_patterns):
            for number, (name, made) in enumerate(operations.CASES):
                if third is not None and (k - number) % 3 != third:
                    continue
                case, kind = (
                    made(pattern, name.startswith("allgather")),
                    kinds[(k + number) % len(kinds)],
                )
                use(pattern, name, OnGpu(case, kind, sides))


def once(pattern: Pattern, name: str, on: OnGpu) -> None:
    on.fill(1)
    getattr(pattern.near, name)(*on.arguments)
    on.check(1)


def open_the_device() -> None:
    """What it needs once stays with it: a stream of its own, and kernels."""
    with patterns() as all_patterns:
        views = operations.Views(all_patterns[0], gathers=False)
        once(all_patterns[0], "alltoallw", OnGpu(views, CudaArray))


def check_one_shot_calls() -> None:
    open_the_device()
    on_all(once, KINDS)


def check_calls_that_do_not_block() -> None:
    def use(pattern: Pattern, name: str, on: OnGpu) -> None:
        on.fill(5)
        request = getattr(pattern.near, f"i{name}")(*on.arguments)
        while not request.test():
            pass
        on.check(5)
        request.free()

    on_all(use, KINDS)


def exchanged(pattern: Pattern, name: str, on: OnGpu) -> None:
    with getattr(pattern.near, f"{name}_init")(*on.arguments) as request:
        for time in range(3):
            on.fill(time)
            request.start()
            request.wait()
            on.check(time)


def check_requests() -> None:
    on_all(exchanged, KINDS[::-1])


def check_one_side_on_the_gpu() -> None:
    """And the other one not; of the ranks every other one."""
    for side in range(2):
        on_all(exchanged, KINDS, sides=(side,), third=side)
    on_all(exchanged, KINDS, sides=(0, 1) if RANK % 2 else (), third=2)


def check_what_a_request_says() -> None:
    with patterns() as all_patterns:
        on = OnGpu(Equal(all_patterns[0], gathers=False), DlpackArray)
        with all_patterns[0].near.alltoall_init(*on.arguments) as request:
            said = request.describe()
            assert "blocks on device 0 go from device to device by handles" in said, said


def check_other_arrays() -> None:
    """They are taken behind the work of the streams that they come with, and stay bound."""
    with gives_all_back(GPU), patterns() as all_patterns:
        pattern = all_patterns[0]
        first = OnGpu(Equal(pattern, gathers=False), CudaArray)
        with pattern.near.alltoall_init(*first.arguments) as request:
            for time in range(6):
                other = OnGpu(Equal(pattern, gathers=False), KINDS[time % 3])
                other.work_in(STREAMS[time % 2])
                other.fill(time, wait=False)
                request.start_with(*other.arguments)
                request.wait()
                other.check(time)
            other.fill(9)
            request.start()
            request.wait()
            other.check(9)
        del first, other


STREAMS = [GPU.stream() for _ in range(3)]


def check_streams_of_starts_and_waits() -> None:
    """Nobody waits for the GPU but at the end of each exchange, in the stream of the wait."""

    def use(pattern: Pattern, name: str, on: OnGpu) -> None:
        with getattr(pattern.near, f"{name}_init")(*on.arguments) as request:
            for time in range(3):
                start, wait = STREAMS[time % 3], STREAMS[(time + 1) % 3]
                on.work_in(start)
                on.fill(time, wait=False)
                request.start(stream=start)
                request.wait(stream=wait)
                on.check(time, wait)
                GPU.synchronize(start)  # a rank that sends nothing has put nothing there

    on_all(use, KINDS)


def check_what_stands_for_a_stream() -> None:
    class Torch:
        cuda_stream = STREAMS[0]

    class CuPy:
        ptr = STREAMS[0]

    class Core:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, STREAMS[0]

    with patterns() as all_patterns:
        on = OnGpu(Equal(all_patterns[0], gathers=False), CudaArray)
        with all_patterns[0].near.alltoall_init(*on.arguments) as request:
            for stream in (Torch(), CuPy(), Core(), STREAMS[0], LEGACY, 0):
                on.work_in(stream if isinstance(stream, int) else STREAMS[0])
                on.fill(3, wait=False)
                request.start(stream)
                request.wait(stream)
                on.check(3)


def check_one_shot_calls_follow_the_streams_of_arrays() -> None:
    def use(pattern: Pattern, name: str, on: OnGpu) -> None:
        on.work_in(STREAMS[1])
        on.fill(2, wait=False)
        getattr(pattern.near, name)(*on.arguments)
        on.check(2)
        on.fill(4, wait=False)
        getattr(pattern.near, f"i{name}")(*on.arguments).wait()
        on.check(4)

    on_all(use, KINDS)


class Silent(CudaArray):
    """Its interface names no stream, so nothing is waited for."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return super().__cuda_array_interface__ | {"stream": None}


def check_a_library_that_names_no_stream_has_waited() -> None:
    on_all(once, [Silent])


def check_version_2_of_the_interface() -> None:
    class Second(CudaArray):
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            all_of_it = super().__cuda_array_interface__ | {"version": 2}
            del all_of_it["stream"]
            return all_of_it

    on_all(once, [Second])


def check_types_that_numpy_has_not() -> None:
    """bfloat16 and the like are moved as bytes, and so is what MPI has no type for."""
    for code, size in ((4, 2), (10, 1), (12, 1), (2, 2), (5, 8), (6, 1), (0, 8), (1, 4)):
        with patterns() as all_patterns:
            near, edges = all_patterns[0].near, all_patterns[0].edges
            array = np.array([[RANK, k] for k in range(len(near.targets))], f"u{size}")
            send, recv = DlpackArray(GPU, array), DlpackArray(GPU, np.zeros_like(array))
            send.type_code = recv.type_code = (code, 8 * size)
            with near.alltoall_init(send, recv) as request:
                request.start_with(recv=recv, send=send)
                request.wait()
            np.testing.assert_array_equal(recv.get(), edges)


def check_arrays_live_as_long_as_they_are_needed() -> None:
    with patterns() as all_patterns:
        near = all_patterns[0].near
        for kind in KINDS:
            with gives_all_back(GPU):
                on = OnGpu(Equal(all_patterns[0], gathers=False), kind)
                arrays = [weakref.ref(array) for array in on.values]
                capsules = DlpackArray.alive
                request = near.alltoall_init(*on.arguments)
                del on
                gc.collect()
                assert all(array() is not None for array in arrays)
                assert DlpackArray.alive - capsules == (0 if kind is CudaArray else len(arrays))
                request.start()
                request.wait()
                other = OnGpu(Equal(all_patterns[0], gathers=False), kind)
                request.start_with(*other.arguments)
                gc.collect()
                assert not any(array() for array in arrays)
                request.wait()
                request.free()
                arrays = [weakref.ref(array) for array in other.values]
                del other
                gc.collect()
                assert not any(array() for array in arrays)


def check_empty_arrays() -> None:
    """Their address may be null."""
    cart = cartesian(1)
    with tonari.mpi.Neighborhood(cart, [[1], [0]]) as near:
        for kind in KINDS:
            send, recv = (kind(GPU, np.zeros((2, 0))) for _ in range(2))
            near.alltoall(send, recv)
            with near.alltoall_init(send, recv) as request:
                request.start()
                request.wait()
    cart.Free()


def check_old_arrays_may_be_sent() -> None:
    """DLPack before 1.0 does not say what may be written."""
    on_all(once, [OldDlpackArray], sides=(0,))


def check_memory_of_cuda_that_the_host_reads() -> None:
    """Pinned and managed memory, which libraries have by DLPack."""
    cart = cartesian(1)
    with gives_all_back(GPU), tonari.mpi.Neighborhood(cart, [[1], [0]]) as near:
        for kind in (Pinned, Managed):
            with gives_all_back(GPU):
                send, recv = (kind(GPU, np.zeros((2, 2)), STREAMS[0]) for _ in range(2))
                send.values[:] = [[RANK, 5.0], [RANK, 6.0]]
                near.alltoall(send, recv)
                np.testing.assert_array_equal(recv.values[:, 0], near.sources)
                recv.values[:] = -1
                with near.alltoall_init(send, recv) as request:
                    request.start()
                    request.wait(STREAMS[1])
                np.testing.assert_array_equal(recv.values[:, 1], [5.0, 6.0])
                del send, recv
    cart.Free()
