# SPDX-License-Identifier: BSD-3-Clause
"""A neighborhood of two or three dimensions as a picture: the rank in the middle, its neighbors
around it."""

from __future__ import annotations

import numpy as np

from tonari.grids import radii


def picture(offsets: np.ndarray, width: int = 76) -> str:
    """Planes of equal first coordinate side by side (d = 3), or one plane (d = 1, 2). Empty if it
    would be wider or d is larger.

    offsets of shape (s, d).
    """
    d = offsets.shape[1]
    if d > 3 or len(offsets) == 0:
        return ""
    padded = np.pad(offsets, ((0, 0), (3 - d, 0)))
    box = radii(padded)
    planes = [_plane(padded, box, z) for z in range(-box[0], box[0] + 1)]
    lines = ["    ".join(parts).rstrip() for parts in zip(*planes, strict=True)]
    return "\n".join(lines) if max(map(len, lines)) <= width else ""


def _plane(offsets: np.ndarray, box: list[int], z: int) -> list[str]:
    marks = {(int(y), int(x)): "o" for plane, y, x in offsets if plane == z}
    if z == 0:
        marks[0, 0] = "@" if (0, 0) in marks else "*"
    return [
        " ".join(marks.get((y, x), "·") for x in range(-box[2], box[2] + 1))
        for y in range(-box[1], box[1] + 1)
    ]
