# SPDX-License-Identifier: BSD-3-Clause
"""Objects that are freed by all ranks together: `free`, `with`, and what happens without."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import TypeVar

from mpi4py import MPI

from tonari.errors import ARGUMENT, Error
from tonari.mpi import library

Self = TypeVar("Self", bound="Collective")


class Collective:
    """Owner of a handle. To free it is collective, and the end of a reference is not: what was not
    freed stays until MPI.Finalize."""

    _handle: int = 0
    _freed_by: str  # the C function's name without tonari_

    def free(self) -> None:
        """Collective: all ranks free objects of one communicator in the same order. Fine if it was
        freed before."""
        if self._handle:
            library.freed(self._freed_by, self._handle)
            self._handle = 0

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Where a rank leaves by an exception, the others may not be at the end of their blocks."""
        if kind is None and not MPI.Is_finalized():
            self.free()

    def __del__(self) -> None:
        if self._handle and not MPI.Is_finalized():
            warnings.warn(
                f"a {type(self).__name__} of tonari was not freed: use `with`, or free() on all"
                " ranks",
                ResourceWarning,
                source=self,
                stacklevel=2,
            )

    def _check_alive(self) -> None:
        if not self._handle:
            raise Error(f"the {type(self).__name__} was freed", ARGUMENT)
