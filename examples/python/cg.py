# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients with a sparse matrix of SciPy, of which each rank has some rows.

mpiexec -n 4 python cg.py [--size 60] [--scipy] [--tolerance 1e-10]

The matrix is the Laplacian of a square grid of size x size points, plus the identity. The right
side is A times (1, 2, ..., 10, 1, 2, ...), so that the error is known. --scipy runs SciPy's own
solver on whole vectors, on all ranks at once.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import scipy.sparse as sp
import tonari.mpi
from mpi4py import MPI
from scipy.sparse.linalg import cg


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=60, help="points along each side")
    parser.add_argument("--tolerance", type=float, default=1e-10)
    parser.add_argument("--scipy", action="store_true", help="SciPy's solver on whole vectors")
    return parser.parse_args()


def laplacian(n: int) -> sp.csr_array:
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    one = sp.eye_array(n)
    return (sp.kron(line, one) + sp.kron(one, line) + sp.eye_array(n * n)).tocsr()


def dot(comm: MPI.Comm, a: np.ndarray, b: np.ndarray) -> float:
    """The inner product of distributed vectors."""
    return comm.allreduce(float(a @ b))


def conjugate_gradients(
    comm: MPI.Comm, A: tonari.mpi.RowParallel, b: np.ndarray, tolerance: float
) -> tuple[np.ndarray, int]:
    """This rank's part of the solution, and the number of iterations."""
    x, r = np.zeros_like(b), b.copy()
    p, rho, goal = r.copy(), dot(comm, r, r), tolerance**2 * dot(comm, b, b)
    iterations = 0
    while rho > goal and iterations < 10000:
        q = A @ p  # other ranks' values arrive while own ones are multiplied
        alpha = rho / dot(comm, p, q)
        x += alpha * p
        r -= alpha * q
        rho, before = dot(comm, r, r), rho
        p = r + rho / before * p
        iterations += 1
    return x, iterations


def main() -> int:
    options, comm = parse(), MPI.COMM_WORLD
    whole = laplacian(options.size)  # a real program makes or reads its rows only
    n = whole.shape[0]
    mine = slice(comm.rank * n // comm.size, (comm.rank + 1) * n // comm.size)
    known = 1.0 + np.arange(n) % 10
    with tonari.mpi.RowParallel(comm, whole[mine]) as A:
        b = A @ known[mine]
        if options.scipy:
            iterations: list[int] = []
            right = np.concatenate(comm.allgather(b))
            count = lambda _: iterations.append(1)  # noqa: E731
            x, _ = cg(A.whole(), right, rtol=options.tolerance, callback=count)
            steps, x = len(iterations), x[mine]
        else:
            x, steps = conjugate_gradients(comm, A, b, options.tolerance)
        error = comm.allreduce(np.abs(x - known[mine]).max(initial=0.0), MPI.MAX)
        if comm.rank == 0:
            print(f"{A!r}")
            print(f"{n} unknowns on {comm.size} ranks: {steps} iterations, error {error:.1e}")
    return int(error > 1e-6)


if __name__ == "__main__":
    sys.exit(main())
