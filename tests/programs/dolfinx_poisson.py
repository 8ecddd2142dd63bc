# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation on a cube by DOLFINx: dolfinx_poisson.py LIBRARY. It assembles the right side
several times, as a program that takes steps does, and solves. Rank 0 prints the norm of each right
side, the residual of each iteration and the norm of the solution.

If LIBRARY, a libtonari_petsc.so, is loaded, rank 0 prints how many exchanges went through it."""

from __future__ import annotations

import ctypes
import os
import sys

import ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc

CELLS, STEPS, ITERATIONS = 8, 4, 50
COMM = MPI.COMM_WORLD


def say(name: str, value: float) -> None:
    if COMM.rank == 0:
        print(f"{name} {value:.17e}")


def exchanges(library: str) -> int:
    """On rank 0, through tonari; -1: the library is not loaded."""
    try:
        loaded = ctypes.CDLL(library, mode=os.RTLD_NOLOAD)
    except OSError:
        return -1
    loaded.tonari_petsc_exchanges.restype = ctypes.c_int64
    return int(loaded.tonari_petsc_exchanges())


def main(library: str) -> None:
    space = fem.FunctionSpace(mesh.create_unit_cube(COMM, CELLS, CELLS, CELLS), ("Lagrange", 1))
    u, v, x = ufl.TrialFunction(space), ufl.TestFunction(space), ufl.SpatialCoordinate(space.mesh)
    matrix = petsc.assemble_matrix(
        fem.form((ufl.inner(ufl.grad(u), ufl.grad(v)) + ufl.inner(u, v)) * ufl.dx)
    )
    matrix.assemble()
    scale = fem.Constant(space.mesh, PETSc.ScalarType(1))
    form = fem.form(ufl.inner(scale * ufl.exp(-x[0] * x[1]), v) * ufl.dx)
    right = petsc.create_vector(form)
    for step in range(STEPS):
        scale.value = 1 + step
        with right.localForm() as local:
            local.set(0)
        petsc.assemble_vector(right, form)
        right.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
        say("right side", right.norm())
    solver = PETSc.KSP().create(COMM)
    solver.setOperators(matrix)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-30, max_it=ITERATIONS)
    solver.setMonitor(lambda _, __, residual: say("residual", residual))
    solution = fem.Function(space)
    solver.solve(right, solution.vector)
    say("solution", solution.vector.norm())
    owned = solution.vector.getLocalSize()
    solution.x.array[owned:] = 7
    solution.vector.ghostUpdate(addv=PETSc.InsertMode.INSERT, mode=PETSc.ScatterMode.FORWARD)
    by_petsc = solution.x.array.copy()
    solution.x.array[owned:] = 8
    solution.x.scatter_forward()  # by DOLFINx itself
    wrong = int((by_petsc != solution.x.array).sum())
    say("wrong ghosts", COMM.allreduce(wrong))
    if COMM.rank == 0:
        print("exchanges", exchanges(library), flush=True)


main(sys.argv[1])
