# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation on a cube by DOLFINx and PETSc: poisson.py CELLS SOLVES UPDATES [TYPES].

Rank 0 prints the solution's norm, and microseconds of a solve and of an update of ghosts.

With TYPES of star forests, as basic,tonari, it solves with a matrix of each, and prints lines
"solve TYPE MICROSECONDS": the median of eleven rounds, in each of which all types run in turn. Half
as many solves come before, so that types that choose have chosen."""

from __future__ import annotations

import statistics
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


def solver_of(matrix: PETSc.Mat) -> PETSc.KSP:
    solver = PETSc.KSP().create(COMM)
    solver.setOperators(matrix)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-8)
    return solver


def in_turn(solves: dict[str, Callable[[], None]], times: int) -> None:
    rounds = 11
    us: dict[str, list[float]] = {kind: [] for kind in solves}
    for solve in solves.values():
        each(times // 2, solve)
    for _ in range(rounds):
        for kind, solve in solves.items():
            us[kind].append(each(max(times // rounds, 1), solve))
    for kind, all_us in us.items():
        if COMM.rank == 0:
            print(f"solve {kind} {statistics.median(all_us):.1f}", flush=True)


def main(cells: int, solves: int, updates: int, types: str = "") -> None:
    space = fem.FunctionSpace(mesh.create_unit_cube(COMM, cells, cells, cells), ("Lagrange", 1))
    u, v, x = ufl.TrialFunction(space), ufl.TestFunction(space), ufl.SpatialCoordinate(space.mesh)
    form = fem.form((ufl.inner(ufl.grad(u), ufl.grad(v)) + u * v) * ufl.dx)

    def assembled() -> PETSc.Mat:
        matrix = petsc.assemble_matrix(form)
        matrix.assemble()
        return matrix

    right = petsc.assemble_vector(fem.form(10 * ufl.exp(-x[0] * x[1]) * v * ufl.dx))
    right.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    solution = fem.Function(space)
    if types:
        solvers = {}
        for kind in types.split(","):
            PETSc.Options()["sf_type"] = kind
            solvers[kind] = solver_of(assembled())
        return in_turn(
            {k: lambda s=s: s.solve(right, solution.vector) for k, s in solvers.items()}, solves
        )
    solver = solver_of(assembled())
    solve = each(solves, lambda: solver.solve(right, solution.vector))
    update = each(updates, solution.x.scatter_forward)
    norm = solution.vector.norm()
    if COMM.rank == 0:
        print(f"norm {norm:.12e} solve {solve:.1f} update {update:.2f}", flush=True)


main(*map(int, sys.argv[1:4]), *sys.argv[4:5])
