# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation on a cube by DOLFINx and PETSc: poisson.py CELLS SOLVES UPDATES. Rank 0
prints the solution's norm, and microseconds of a solve and of an update of ghosts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc

COMM = MPI.COMM_WORLD


def each(times: int, call: Callable[[], None]) -> float:
    """Microseconds of a call on the slowest rank."""
    call()
    COMM.Barrier()
    begin = time.perf_counter()
    for _ in range(times):
        call()
    return float(COMM.allreduce((time.perf_counter() - begin) / times * 1e6, MPI.MAX))


def main(cells: int, solves: int, updates: int) -> None:
    space = fem.FunctionSpace(mesh.create_unit_cube(COMM, cells, cells, cells), ("Lagrange", 1))
    u, v, x = ufl.TrialFunction(space), ufl.TestFunction(space), ufl.SpatialCoordinate(space.mesh)
    matrix = petsc.assemble_matrix(fem.form((ufl.inner(ufl.grad(u), ufl.grad(v)) + u * v) * ufl.dx))
    matrix.assemble()
    right = petsc.assemble_vector(fem.form(10 * ufl.exp(-x[0] * x[1]) * v * ufl.dx))
    right.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    solver = PETSc.KSP().create(COMM)
    solver.setOperators(matrix)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-8)
    solution = fem.Function(space)
    solve = each(solves, lambda: solver.solve(right, solution.vector))
    update = each(updates, solution.x.scatter_forward)
    norm = solution.vector.norm()
    if COMM.rank == 0:
        print(f"norm {norm:.12e} solve {solve:.1f} update {update:.2f}", flush=True)


main(*map(int, sys.argv[1:4]))
