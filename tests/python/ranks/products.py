# SPDX-License-Identifier: BSD-3-Clause
"""Products with sparse matrices of SciPy against the whole matrix, and a solver of SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from patterns import RANK, RANKS, WORLD, refused
from scipy.sparse.linalg import cg
from tonari.mpi import RowParallel
from vectors import ROUTES

N = 7 * RANKS + 3
STARTS = [r * N // RANKS for r in range(RANKS + 1)]
MINE = slice(STARTS[RANK], STARTS[RANK + 1])


def whole(dtype: Any) -> Any:
    """The same on all ranks; small integers, so that sums are exact."""
    random = np.random.default_rng(5)
    dense = random.integers(-4, 5, (N, N)) * (random.random((N, N)) < 0.2)
    return (dense + (1j * np.roll(dense, 1, 0) if np.dtype(dtype).kind == "c" else 0)).astype(dtype)


def check_products() -> None:
    for dtype in (float, complex):
        A = whole(dtype)
        x = np.arange(3.0 * N).reshape(N, 3).astype(dtype)
        for route in ROUTES:
            with RowParallel(WORLD, sp.csr_array(A[MINE]), {"tonari_route": route}) as rows:
                assert rows.shape == (MINE.stop - MINE.start,) * 2
                for columns in (0, slice(0, 3)):
                    mine = x[MINE, columns]
                    for _ in range(2):
                        np.testing.assert_array_equal(rows @ mine, (A @ x)[MINE, columns])
                        right = (A.conj().T @ x)[MINE, columns]
                        np.testing.assert_array_equal(rows.multiply_transposed(mine), right)
                np.testing.assert_array_equal(rows.T @ x[MINE, 0], (A.T @ x)[MINE, 0])
                np.testing.assert_array_equal(rows.H @ x[MINE, 0], (A.conj().T @ x)[MINE, 0])
                np.testing.assert_array_equal((2 * rows) @ x[MINE, 0], 2 * (A @ x)[MINE, 0])
                np.testing.assert_array_equal(rows.whole() @ x[:, 1], (A @ x)[:, 1])
                np.testing.assert_array_equal(rows.whole().rmatvec(x[:, 1]), (A.conj().T @ x)[:, 1])
                assert f"{N}x{N} of {np.dtype(dtype)}" in repr(rows)


def check_a_solver_of_scipy() -> None:
    A = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(N, N)).tocsr()
    wanted = 1.0 + np.arange(N) % 10
    with RowParallel(WORLD, A[MINE]) as rows:
        x, status = cg(rows.whole(), A @ wanted, rtol=1e-12)
        assert status == 0
        np.testing.assert_allclose(x, wanted, rtol=1e-9)
        assert len({value.tobytes() for value in WORLD.allgather(x)}) == 1


def check_mistakes() -> None:
    last = RANKS - 1
    rows = sp.csr_array(whole(float)[MINE])
    said = refused(RowParallel, WORLD, rows[:, :-1] if RANK == last else rows)
    assert f"rank {last}: rows have {N - 1} columns; all ranks have {N} rows" in str(said)
    with RowParallel(WORLD, rows) as matrix:
        x = np.ones(matrix.shape[0])
        for product in (matrix.multiply, matrix.matvec, matrix.rmatvec, matrix.dot):
            if RANK == last:
                assert "x has shape" in str(refused(product, x[:-1]))
            else:
                product(x)
