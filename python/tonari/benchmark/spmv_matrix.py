# SPDX-License-Identifier: BSD-3-Clause
"""Matrices for `tonari bench spmv`: from files, or one that is made up, irregular and the same on
every call."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tonari.errors import Error
from tonari.graph_files import Matrix
from tonari.partitioned import Partitioned, laplacian, owners_of, permuted, read, read_for_products

SIDE = 160  # of the mesh
SEED = 7
EXPONENT = 1.5  # of the power law: the share of rows with more than k links falls like k^-1.5
MOST = 2000  # links of a row
MANY = 16  # links, from which on they go anywhere
NEAR = 8  # points, along each dimension, that the others' links reach
ABOUT = "made-up mesh with links"


def made_up(side: int = SIDE) -> Matrix:
    """The graph Laplacian of a mesh (each point with its four neighbors) whose points have links,
    too. Their number per row follows a power law, and the rows with the most lie together in a
    corner, as dense parts of real matrices do; rows with many links have them to points anywhere,
    the others to points nearby. So a few ranks talk to nearly all, and the rest to a few.
    Symmetric; values are those of `tonari partition --laplacian`, which make it positive
    definite."""
    size = side * side
    random = np.random.default_rng(SEED)
    y, x = np.divmod(np.arange(size), side)
    links = np.empty(size, np.int64)
    links[np.argsort(x**2 + y**2, kind="stable")] = -np.sort(
        -np.minimum(random.pareto(EXPONENT, size).astype(np.int64), min(MOST, size // 4))
    )
    a = np.repeat(np.arange(size), links)
    far = links[a] >= MANY
    to_y, to_x = (
        np.where(
            far, random.integers(0, side, len(a)), at[a] + random.integers(-NEAR, NEAR + 1, len(a))
        )
        for at in (y, x)
    )
    inside = (np.minimum(to_y, to_x) >= 0) & (np.maximum(to_y, to_x) < side)
    right, below = np.flatnonzero(x < side - 1), np.flatnonzero(y < side - 1)
    a, b = (
        np.concatenate([right, below, a[inside]]),
        np.concatenate([right + 1, below + side, (to_y * side + to_x)[inside]]),
    )
    keys = np.unique(np.concatenate([a * size + b, b * size + a]))
    return laplacian(Matrix((size, size), *np.divmod(keys, size), None), "the made-up matrix")


class Source:
    """Where the matrix comes from, and how it is partitioned: a file by Mt-KaHyPar or in blocks, a
    folder of `tonari partition` as it is, the made-up one in blocks."""

    def __init__(self, path: str, blocks: bool = False) -> None:
        folder = Path(path)
        self.path = path
        self.fixed = read(folder) if path and folder.is_dir() else None
        self.matrix = (
            self.fixed.matrix() if self.fixed else read_for_products(path) if path else made_up()
        )
        self.blocks = blocks or not path
        self.name = folder.name if path else ABOUT
        self.dealt_out = "files" if self.fixed else "blocks" if self.blocks else "Mt-KaHyPar"

    def partitioned(self, parts: int) -> Partitioned:
        if self.fixed is None:
            owners, parts = owners_of(
                self.matrix, self.path or "the matrix", parts, blocks=self.blocks
            )
            return permuted(self.matrix, owners, parts)
        if parts != self.fixed.parts:
            raise Error(
                f"{self.path} is a matrix for {self.fixed.parts:,} ranks, not {parts:,}: "
                f"give the matrix itself, or run `tonari partition` with --parts {parts}"
            )
        return self.fixed
