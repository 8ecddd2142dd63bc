# SPDX-License-Identifier: BSD-3-Clause
"""Finite elements on an unstructured mesh: triangles are on ranks, nodes are shared.

mpiexec -n 4 python mesh.py [--points 400] [--steps 50]

Each rank has some triangles and the nodes of these; what it adds to a node that other ranks have,
too, is added up by tonari, and all get the same sum. Heat flows for some steps; the heat of all
nodes together stays what it was. Compared with the whole mesh on one rank.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import tonari.mpi
from mpi4py import MPI
from scipy.spatial import Delaunay

RATE = 0.2


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--steps", type=int, default=50)
    return parser.parse_args()


def make_mesh(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in the plane, and the three of each triangle; the same on all ranks."""
    places = np.random.default_rng(1).random((points, 2))
    return places, Delaunay(places).simplices.astype(np.int64)


class Part:
    """Some triangles, and their nodes, numbered from 0 on."""

    def __init__(self, places: np.ndarray, triangles: np.ndarray) -> None:
        self.ids, corners = np.unique(triangles, return_inverse=True)
        self.corners = corners.reshape(-1, 3)
        a, b, c = (places[triangles[:, k]] for k in range(3))
        (ux, uy), (vx, vy) = (b - a).T, (c - a).T
        self.area = np.abs(ux * vy - uy * vx) / 2
        self.mass = self.sums(np.repeat(self.area[:, None] / 3, 3, axis=1))

    def sums(self, of_corners: np.ndarray) -> np.ndarray:
        """What the triangles of this part add to each node; of_corners: shape (triangles, 3)."""
        return np.bincount(self.corners.ravel(), of_corners.ravel(), len(self.ids))

    def flow(self, heat: np.ndarray) -> np.ndarray:
        """What flows into each node from the other corners of its triangles."""
        inside = heat[self.corners]
        mean = inside.mean(axis=1, keepdims=True)
        return self.sums(RATE * self.area[:, None] * (mean - inside))


def in_parallel(comm: MPI.Comm, part: Part, first: np.ndarray, steps: int) -> np.ndarray:
    """The heat of this part's nodes after these steps."""
    heat = first[part.ids].copy()
    with tonari.mpi.Vector.shared(comm, part.ids) as nodes:
        mass = part.mass.copy()
        nodes.combine(mass, mass)
        flow = np.zeros_like(heat)
        with nodes.combine_init(flow, flow) as sums:
            for _ in range(steps):
                flow[:] = part.flow(heat)
                sums.start()
                sums.wait()
                heat += flow / mass
            if comm.rank == 0:
                print(nodes, sums, sep="\n")
    return heat


def alone(part: Part, first: np.ndarray, steps: int) -> np.ndarray:
    heat = first.copy()
    for _ in range(steps):
        heat += part.flow(heat) / part.mass
    return heat


def main() -> int:
    options, comm = parse(), MPI.COMM_WORLD
    places, triangles = make_mesh(options.points)
    order = np.argsort(places[triangles].mean(axis=1)[:, 0])  # strips, one for each rank
    mine = np.array_split(triangles[order], comm.size)[comm.rank]
    first = np.where(places[:, 0] < 0.3, 1.0, 0.0)
    part = Part(places, mine)
    heat = in_parallel(comm, part, first, options.steps)
    right = alone(Part(places, triangles), first, options.steps)
    error = comm.allreduce(np.abs(heat - right[part.ids]).max(initial=0.0), MPI.MAX)
    if comm.rank == 0:
        print(f"{len(triangles)} triangles on {comm.size} ranks, {options.steps} steps:", end=" ")
        print(f"largest difference from one rank alone {error:.1e}")
    return int(error > 1e-12)


if __name__ == "__main__":
    sys.exit(main())
