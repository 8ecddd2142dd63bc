# SPDX-License-Identifier: BSD-3-Clause
"""Products of sparse matrices of SciPy, whose rows are on different ranks, with vectors.

Needs SciPy; the rest of tonari.mpi does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

from tonari.errors import ARGUMENT, Error
from tonari.mpi import buffers
from tonari.mpi.calls import Info
from tonari.mpi.request import Request
from tonari.mpi.vector import Vector

try:
    from scipy.sparse import csc_array, csr_array  # type: ignore[import-untyped,unused-ignore]
    from scipy.sparse.linalg import LinearOperator  # type: ignore[import-untyped,unused-ignore]
except ImportError as missing:
    raise ImportError(
        f"products with sparse matrices need SciPy, which cannot be loaded ({missing}):"
        " `pip install scipy`"
    ) from None


class RowParallel(LinearOperator):
    """A square sparse matrix of which this rank has its rows, as a SciPy LinearOperator.

    y = A @ x takes and gives this rank's parts, of shape (rows,) or (rows, k). It multiplies with
    own values while those of other ranks are on their way. A.T @ x, A.H @ x and rmatvec send sums
    to their owners instead. All of them are collective. `shape` is that of the local parts, (rows,
    rows). SciPy's solvers would take inner products of local parts alone: give them `A.whole()`.

    comm  any communicator; rank after rank the ranks have the rows 0, ..., N - 1
    rows  this rank's rows as anything that scipy.sparse.csr_array takes, of shape (rows, N):
          columns are global
    info  tonari_route and others (docs/settings.md)

    Free it on all ranks, or use `with`.
    """

    def __init__(self, comm: MPI.Comm, rows: Any, info: Info = None) -> None:
        said, here = "", None
        try:
            here = csr_array(rows)
        except (TypeError, ValueError) as error:
            said = str(error)
        sizes = comm.allgather((said, here.shape if here is not None else (0, 0)))
        wrong = next((f"rank {r}: {said}" for r, (said, _) in enumerate(sizes) if said), "")
        starts = np.cumsum([0, *(shape[0] for _, shape in sizes)])
        n = int(starts[-1])
        for rank, (_, shape) in enumerate(sizes):
            if not wrong and shape[1] != n:
                wrong = f"rank {rank}: rows have {shape[1]} columns; all ranks have {n} rows"
        if wrong or here is None:
            raise Error(wrong, ARGUMENT)
        self.comm, self.starts, self.columns = comm, starts, n
        self._arrange(here, int(starts[comm.rank]), info)
        super().__init__(self._own.dtype, (here.shape[0], here.shape[0]))

    def _arrange(self, rows: Any, first: int, info: Info) -> None:
        """Own columns, and those of other ranks, numbered as they are in the ghosts."""
        owned = rows.shape[0]
        dtype = np.result_type(rows.dtype, np.float64)
        inside = (rows.indices >= first) & (rows.indices < first + owned)
        others = np.unique(rows.indices[~inside]).astype(np.int64)
        row = np.repeat(np.arange(owned), np.diff(rows.indptr))
        own = (rows.data[inside], (row[inside], rows.indices[inside] - first))
        place = np.searchsorted(others, rows.indices[~inside])
        far = (rows.data[~inside], (row[~inside], place))
        self._own = csr_array(own, shape=(owned, owned), dtype=dtype)
        self._far = csr_array(far, shape=(owned, len(others)), dtype=dtype)
        self._turned = csc_array(self._far).conj().T  # rows of the ghosts
        self.vector = Vector(self.comm, first, owned, others, info)
        self._info = info
        self._kept: dict[tuple[str, int], tuple[np.ndarray, np.ndarray, Request]] = {}

    vector: Vector
    """The vector whose exchanges the products run."""

    # Each product has memory and a request for its number of vectors, made when it is first needed.
    def _exchange(self, name: str, k: int) -> tuple[np.ndarray, np.ndarray, Request]:
        if (name, k) not in self._kept:
            owned = np.zeros((self.shape[0], k), self._own.dtype)
            ghosts = np.zeros((self._far.shape[1], k), self._own.dtype)
            if name == "forward":
                request = self.vector.forward_init(owned, ghosts, self._info)
            else:
                request = self.vector.reverse_init(ghosts, owned, MPI.SUM, self._info)
            self._kept[name, k] = owned, ghosts, request
        return self._kept[name, k]

    def multiply(self, x: Any) -> np.ndarray:
        """y = A x. A rank with an x of a wrong shape takes part with zeros, so that the others are
        not held up, and then raises Error."""
        x, given = self._checked(x)
        _, ghosts, request = self._exchange("forward", x.shape[1])
        owned = np.ascontiguousarray(x, self._own.dtype)
        request.start_with(owned, ghosts)
        y = self._own @ owned
        request.wait()
        y += self._far @ ghosts
        return self._shaped(y, given)

    def multiply_transposed(self, x: Any) -> np.ndarray:
        """y = A^H x, the conjugate transpose."""
        x, given = self._checked(x)
        owned, ghosts, request = self._exchange("reverse", x.shape[1])
        owned[:] = 0
        ghosts[:] = self._turned @ x
        request.start()
        y = self._own.conj().T @ x
        request.wait()
        return self._shaped(y + owned, given)

    def _checked(self, x: Any) -> tuple[np.ndarray, Any]:
        given = np.asarray(x)
        rows = self.shape[0]
        if given.ndim not in (1, 2) or given.shape[0] != rows:
            wrong = Error(f"x has shape {given.shape}; this rank has {rows} rows", ARGUMENT)
            return np.zeros((rows, given.shape[1] if given.ndim == 2 else 1)), wrong
        if not np.can_cast(given.dtype, self._own.dtype, "same_kind"):
            wrong = Error(f"x is of {given.dtype}, and the matrix of {self._own.dtype}", ARGUMENT)
            return np.zeros((rows, given.size // rows if rows else 1)), wrong
        return given.reshape(
            rows, -1 if rows else (given.shape[1] if given.ndim == 2 else 1)
        ), given

    def _shaped(self, y: np.ndarray, given: Any) -> np.ndarray:
        if isinstance(given, Error):
            raise given
        return y.reshape(given.shape)

    # What SciPy calls. Its own checks would keep a rank with a wrong x from taking part.
    matvec = matmat = _matvec = _matmat = multiply
    rmatvec = rmatmat = _rmatvec = _rmatmat = multiply_transposed

    def __matmul__(self, x: Any) -> Any:
        return x.__rmatmul__(self) if isinstance(x, LinearOperator) else self.multiply(x)

    def dot(self, x: Any) -> Any:
        return self @ x

    def whole(self) -> LinearOperator:
        """The matrix as an operator of shape (N, N) on whole vectors, which every rank has. All
        ranks then run the same solver of SciPy on the same numbers."""
        return _Whole(self)

    def free(self) -> None:
        """Collective."""
        for _, _, request in self._kept.values():
            request.free()
        self._kept.clear()
        self.vector.free()

    def __enter__(self) -> RowParallel:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None and not MPI.Is_finalized():
            self.free()

    def __repr__(self) -> str:
        far = self._far.shape[1]
        size, numbers = self.columns, self._own.nnz + self._far.nnz
        return (
            f"<tonari RowParallel: {size}x{size} of {self._own.dtype}, this rank has"
            f" {self.shape[0]} rows with {numbers} numbers, and needs {far} values of other ranks>"
        )


class _Whole(LinearOperator):
    """On whole vectors: each rank multiplies its part, and all gather the results."""

    def __init__(self, parts: RowParallel) -> None:
        self._parts = parts
        super().__init__(parts._own.dtype, (parts.columns, parts.columns))

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._gathered(self._parts.multiply, x)

    def _rmatvec(self, x: np.ndarray) -> np.ndarray:
        return self._gathered(self._parts.multiply_transposed, x)

    def _gathered(self, product: Any, x: np.ndarray) -> np.ndarray:
        parts, starts = self._parts, self._parts.starts
        x = np.asarray(x).ravel()
        mine = product(x[starts[parts.comm.rank] : starts[parts.comm.rank + 1]])
        kind = buffers.mpi_type(self.dtype)
        y = np.empty(self.shape[0], self.dtype)
        counts = [int(n) for n in np.diff(starts)]
        parts.comm.Allgatherv([mine, kind], [y, counts, kind])
        return y
