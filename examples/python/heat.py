# SPDX-License-Identifier: BSD-3-Clause
"""A heat equation in two dimensions, periodic: NumPy computes, tonari exchanges the halos.

mpiexec -n 4 python heat.py [--cells 256] [--steps 100] [--check]

--check computes the same on rank 0 alone, and compares: all bits are equal.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import tonari.mpi
from mpi4py import MPI

RATE = 0.2


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=256, help="along each dimension")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--check", action="store_true", help="compare with one rank alone")
    return parser.parse_args()


def begin(first: tuple[int, ...], cells: tuple[int, ...], n: int) -> np.ndarray:
    """The temperatures at first: two waves and a hot corner."""
    x, y = (np.arange(f, f + c) for f, c in zip(first, cells, strict=True))
    waves = np.outer(np.sin(2 * np.pi * x / n), np.cos(6 * np.pi * y / n))
    return waves + 3.0 * np.logical_and.outer(x < n // 8, y < n // 8)


def step(old: np.ndarray, new: np.ndarray, box: tuple[slice, slice]) -> None:
    """The cells of a box of the own ones; both arrays have one ghost cell on every side."""
    rows, columns = box
    up, down = (slice(rows.start + d, rows.stop + d) for d in (-1, 1))
    left, right = (slice(columns.start + d, columns.stop + d) for d in (-1, 1))
    around = (old[up, columns] + old[down, columns]) + (old[rows, left] + old[rows, right])
    new[box] = old[box] + RATE * (around - 4 * old[box])


def in_parallel(cart: MPI.Cartcomm, n: int, steps: int) -> tuple[np.ndarray, str]:
    """The own cells after these steps, and what was chosen for the exchange."""
    with tonari.mpi.Grid(cart, (n, n), copies=2) as grid:
        u = [grid.array(copy=c) for c in range(2)]
        grid.own()[...] = begin(grid.first(), grid.cells(), n)
        halos = [grid.exchange_init(c, info={"tonari_halo_neighbors": "faces"}) for c in range(2)]
        interior, surface = grid.boxes("interior"), grid.boxes("surface")
        for t in range(steps):
            old, new = t % 2, 1 - t % 2
            halos[old].start()
            for box in interior:  # while ghost cells are on their way
                step(u[old], u[new], box)
            halos[old].wait()
            for box in surface:
                step(u[old], u[new], box)
        chosen = repr(halos[0])
        for halo in halos:
            halo.free()
        return grid.own(copy=steps % 2), chosen  # the array outlives the grid


def alone(n: int, steps: int) -> np.ndarray:
    u = begin((0, 0), (n, n), n)
    for _ in range(steps):
        around = (np.roll(u, 1, 0) + np.roll(u, -1, 0)) + (np.roll(u, 1, 1) + np.roll(u, -1, 1))
        u = u + RATE * (around - 4 * u)
    return u


def differing(cart: MPI.Cartcomm, own: np.ndarray, n: int, steps: int) -> int:
    """On rank 0: how many cells of all ranks are not as on one rank alone."""
    place = cart.coords
    parts = cart.gather((place, own))
    if cart.rank != 0 or parts is None:
        return 0
    rows = {x: part.shape[0] for (x, y), part in parts if y == 0}
    columns = {y: part.shape[1] for (x, y), part in parts if x == 0}
    whole = np.empty((n, n))
    for (x, y), part in parts:
        top = sum(rows[k] for k in range(x))
        left = sum(columns[k] for k in range(y))
        whole[top : top + rows[x], left : left + columns[y]] = part
    return int(np.count_nonzero(whole != alone(n, steps)))


def main() -> int:
    options = parse()
    ranks = MPI.COMM_WORLD.size
    cart = MPI.COMM_WORLD.Create_cart(MPI.Compute_dims(ranks, 2), periods=[True, True])
    begun = MPI.Wtime()
    own, chosen = in_parallel(cart, options.cells, options.steps)
    seconds = MPI.Wtime() - begun
    least, most = cart.reduce(own.min(), MPI.MIN), cart.reduce(own.max(), MPI.MAX)
    wrong = differing(cart, own, options.cells, options.steps) if options.check else 0
    if cart.rank == 0:
        print(f"{ranks} ranks, {options.steps} steps in {seconds:.3g} s: {chosen}")
        print(f"temperatures from {least:.6f} to {most:.6f}")
        if options.check:
            print(f"{wrong} cells differ from those of one rank alone")
    return int(cart.bcast(wrong) != 0)


if __name__ == "__main__":
    sys.exit(main())
