# SPDX-License-Identifier: BSD-3-Clause
"""A square matrix partitioned by rows, each rank's rows consecutive: as NumPy files of which
every rank reads its own part."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from tonari.communication import read_matrix
from tonari.errors import ARGUMENT, FILE, Error
from tonari.graph_files import Matrix, partition, unpacked
from tonari.partitioner import make_partition


@dataclass(frozen=True)
class Partitioned:
    """Row k of the permuted matrix has its columns, ascending, and their values at row_begin[k] to
    row_begin[k + 1]; rank p owns the rows ranges[p] to ranges[p + 1].

    permutation: row k was row permutation[k] before, and so was column k.
    """

    row_begin: np.ndarray  # int64, N + 1
    columns: np.ndarray  # int64
    values: np.ndarray  # float64
    ranges: np.ndarray  # int64, P + 1
    permutation: np.ndarray  # int64, N

    @property
    def parts(self) -> int:
        return len(self.ranges) - 1

    @property
    def size(self) -> int:
        return len(self.permutation)

    def matrix(self) -> Matrix:
        rows = np.repeat(np.arange(self.size), np.diff(self.row_begin))
        return Matrix((self.size, self.size), rows, self.columns, self.values)

    def owners(self) -> np.ndarray:
        return np.repeat(np.arange(self.parts), np.diff(self.ranges))


def equal_blocks(size: int, parts: int) -> np.ndarray:
    """The part of each row: as they stand in the file, in blocks that differ by one row at most."""
    return np.arange(size) * parts // size


def owners_of(
    matrix: Matrix,
    path: str,
    parts: int | None,
    *,
    partition_file: str | None = None,
    blocks: bool = False,
) -> tuple[np.ndarray, int]:
    """The part of each row, and how many there are: from a file, in equal blocks, or by the
    partitioner so that few x_j travel in a product by rows."""
    size = matrix.shape[0]
    if parts is not None and parts > size:
        raise Error(f"{path} has {size:,} rows, which are too few for {parts:,} parts", ARGUMENT)
    if partition_file is not None:
        owners = partition(partition_file, unpacked(partition_file), size, parts)
        parts = parts or int(owners.max()) + 1
        if parts > size:
            raise Error(
                f"{partition_file} names {parts:,} parts; {path} has {size:,} rows, which "
                "are too few",
                FILE,
            )
        return owners, parts
    if parts is None:
        raise Error(
            "say how many ranks there are: --parts P, or a partition with --partition FILE",
            ARGUMENT,
        )
    return (
        equal_blocks(size, parts) if blocks else make_partition(matrix.transposed(), parts)
    ), parts


def permuted(matrix: Matrix, owners: np.ndarray, parts: int) -> Partitioned:
    """Rows and columns in the order of their parts, and within a part as they were."""
    size = matrix.shape[0]
    permutation = np.argsort(owners, kind="stable").astype(np.int64)
    place = np.empty(size, np.int64)
    place[permutation] = np.arange(size)
    rows, columns = place[matrix.rows], place[matrix.columns]
    order = np.lexsort((columns, rows))
    values = np.ones(len(rows)) if matrix.values is None else matrix.values
    return Partitioned(
        _begins(np.bincount(rows, minlength=size)),
        columns[order],
        np.ascontiguousarray(values[order], np.float64),
        _begins(np.bincount(owners, minlength=parts)),
        permutation,
    )


def _begins(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def laplacian(matrix: Matrix, path: str) -> Matrix:
    """Values by the places alone: -1 beside the diagonal, and on it one more than there are of
    these in the row, so that the matrix is symmetric positive definite (its rows are strictly
    diagonally dominant)."""
    size = matrix.shape[0]
    away = matrix.rows != matrix.columns
    rows, columns = matrix.rows[away], matrix.columns[away]
    if not np.array_equal(np.sort(rows * size + columns), np.sort(columns * size + rows)):
        raise Error(
            f"{path} has entries without one on the other side of the diagonal; --laplacian "
            "needs a matrix whose places are symmetric",
            FILE,
        )
    everyone = np.arange(size)
    values = np.concatenate([np.full(len(rows), -1.0), np.bincount(rows, minlength=size) + 1.0])
    return Matrix(
        matrix.shape, np.concatenate([rows, everyone]), np.concatenate([columns, everyone]), values
    )


def read_for_products(path: str, *, with_laplacian: bool = False) -> Matrix:
    """A square matrix with its signs; a pattern has ones."""
    matrix = read_matrix(path, signed=True)
    return laplacian(matrix, path) if with_laplacian else matrix


# Files --------------------------------------------------------------------------------------------

NAMES = [field.name for field in fields(Partitioned)]


def write(partitioned: Partitioned, folder: Path) -> None:
    """Into a folder beside them first: whoever finds ranges.npy, which comes last, finds the
    others, and of the same matrix."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as place:
            for name in NAMES:
                np.save(Path(place) / f"{name}.npy", getattr(partitioned, name))
            (folder / "ranges.npy").unlink(missing_ok=True)
            for name in sorted(NAMES, key="ranges".__eq__):
                (Path(place) / f"{name}.npy").replace(folder / f"{name}.npy")
    except OSError as error:
        raise Error(
            f"cannot write the files of the matrix into {folder}: "
            f"{(error.strerror or str(error)).lower()}",
            FILE,
        ) from None


def read(folder: Path) -> Partitioned:
    """What write has written."""
    found = {}
    for name in NAMES:
        path = folder / f"{name}.npy"
        try:
            found[name] = np.load(path)
        except (OSError, EOFError, ValueError) as error:
            raise Error(
                f"{path} cannot be read ({error}); `tonari partition` makes such files", FILE
            ) from None
        dtype = np.float64 if name == "values" else np.int64
        if found[name].dtype != dtype or found[name].ndim != 1:
            raise Error(
                f"{path} should hold a list of {dtype.__name__}, not {found[name].dtype} of "
                f"{found[name].ndim} dimensions",
                FILE,
            )
    partitioned = Partitioned(**found)
    _check(partitioned, folder)
    return partitioned


def _check(p: Partitioned, folder: Path) -> None:
    size = p.size

    def rising(begins: np.ndarray, last: int) -> bool:
        return (
            len(begins) > 1
            and begins[0] == 0
            and begins[-1] == last
            and bool((np.diff(begins) >= 0).all())
        )

    if (
        len(p.row_begin) != size + 1
        or not rising(p.row_begin, len(p.columns))
        or len(p.columns) != len(p.values)
    ):
        raise Error(
            f"the files in {folder} do not go together: row_begin.npy should rise from 0 to "
            "the length of columns.npy and values.npy",
            FILE,
        )
    if not rising(p.ranges, size):
        raise Error(
            f"{folder / 'ranges.npy'} should rise from 0 to the {size:,} rows of the matrix", FILE
        )
    if len(p.columns) and not 0 <= p.columns.min() <= p.columns.max() < size:
        raise Error(
            f"{folder / 'columns.npy'} names columns that a matrix of {size:,} rows does not have",
            FILE,
        )
