# SPDX-License-Identifier: BSD-3-Clause
"""The exception of the package."""

from __future__ import annotations

ARGUMENT, TOPOLOGY, MISMATCH, OVERFLOW, BUFFERS, ACTIVE, ALGORITHM = range(1, 8)
MEMORY, MPI, INTERNAL, FILE, PROMISE, PEER = range(8, 14)


class Error(RuntimeError):
    """A mistake, in one sentence that says what to change.

    `code` is that of the C interface (TONARI_ERR_* in tonari.h).
    """

    def __init__(self, message: str, code: int = ARGUMENT) -> None:
        super().__init__(message)
        self.code = code
