# SPDX-License-Identifier: BSD-3-Clause
"""Arrays on memory of a GPU that the library has allocated, or that a program has given it."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np


class DeviceArray:
    """Where the cells of a grid lie, for libraries that compute there: cupy.asarray(a),
    torch.as_tensor(a, device="cuda") and numba.cuda.as_cuda_array(a) share its memory. It stays
    valid as long as any of these live. The host cannot read it."""

    def __init__(
        self,
        owner: Any,
        address: int,
        shape: tuple[int, ...],
        dtype: np.dtype,
        strides: tuple[int, ...] | None = None,
        writeable: bool = True,
    ) -> None:
        self._owner = owner
        self.address, self.shape, self.dtype, self.writeable = address, shape, dtype, writeable
        self.strides = strides  # in bytes; None: in order C, without gaps

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html"""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address if self.nbytes else None, not self.writeable),
            "strides": self.strides,
            "version": 3,
            "stream": None,  # nothing of the library is under way there
        }

    def __repr__(self) -> str:
        return f"<tonari DeviceArray: {'x'.join(map(str, self.shape))} of {self.dtype} on a GPU>"
