# SPDX-License-Identifier: BSD-3-Clause
"""What the checks of device_arrays rest on. After this the device takes nothing any more."""

from __future__ import annotations

from typing import Any

import numpy as np
import tonari.mpi
from gpu_arrays import GPU, CudaArray
from patterns import cartesian


class Silent(CudaArray):
    """Its interface names no stream, although work is under way in one."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return super().__cuda_array_interface__ | {"stream": None}

    def __del__(self) -> None:
        """Nothing can be given back."""


def check_what_nothing_orders_is_found() -> None:
    cart, stream = cartesian(1), GPU.stream()
    with tonari.mpi.Neighborhood(cart, [[0]]) as near:
        send, recv = (Silent(GPU, np.zeros((1, 64)), stream) for _ in range(2))
        send.put(wait=False)
        try:
            near.alltoall(send, recv)
            GPU.synchronize(stream)
        except (tonari.Error, RuntimeError) as error:
            assert "nothing orders that behind" in str(error), error
        else:
            raise AssertionError("what is sent was packed whenever it liked")
    cart.Free()
