# SPDX-License-Identifier: BSD-3-Clause
"""How much each rank sends to each: a communication matrix from a file, or that of a sparse
matrix-vector product whose columns are partitioned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tonari.errors import ARGUMENT, FILE, TOPOLOGY, Error
from tonari.graph_files import Matrix, matrix_market, metis, partition, unpacked
from tonari.partitioner import make_partition

MOST_RANKS = 1 << 17


@dataclass(frozen=True)
class Communication:
    """Rank senders[e] sends words[e] words to rank receivers[e]; no pair twice, no rank sends to
    itself.

    about  what the file is and how it was read
    sums   of a product: what the words are parts of
    """

    ranks: int
    senders: np.ndarray  # int32
    receivers: np.ndarray  # int32
    words: np.ndarray  # uint64
    about: str
    sums: Sums | None = None


@dataclass(frozen=True)
class Sums:
    """Rank parts[e] has a part of y_i, i = rows[e], which owners[i] adds up. Ascending by row."""

    rows: np.ndarray  # int32
    parts: np.ndarray  # int32
    owners: np.ndarray  # int32


def read_matrix(path: str, *, counts: bool = False, signed: bool = False) -> Matrix:
    """A square sparse matrix from a Matrix Market file or a METIS graph (FILE.graph, FILE.metis),
    plain or gzipped; values are magnitudes.

    counts: values are numbers of words; signed: values as they are.
    """
    text = unpacked(path)
    kind = Path(path.removesuffix(".gz")).suffix.lower()
    found = (
        metis(path, text)
        if kind in (".graph", ".metis")
        else matrix_market(path, text, real=True, counts=counts, signed=signed)
    )
    rows, columns = found.shape
    if rows != columns:
        raise Error(f"{path} is a matrix of {rows:,} x {columns:,}; expected a square one", FILE)
    if rows == 0:
        raise Error(f"{path} is a matrix without rows", FILE)
    return found


def read_communication(path: str, parts: int | None = None) -> Communication:
    """A file whose entry (i, j) is the number of words that rank i sends to rank j."""
    matrix = read_matrix(path, counts=True)
    ranks = matrix.shape[0]
    if parts not in (None, ranks):
        raise Error(
            f"{path} is a communication matrix of {ranks:,} ranks; --parts {parts} does not "
            "go with it",
            ARGUMENT,
        )
    away = matrix.rows != matrix.columns
    words = np.ones(len(matrix.rows)) if matrix.values is None else matrix.values
    return _communication(
        ranks, matrix.rows[away], matrix.columns[away], words[away], "communication matrix", path
    )


def read_product(
    path: str, parts: int | None = None, partition_file: str | None = None
) -> Communication:
    """A matrix, its columns partitioned by the file, or by a partitioner into `parts` parts."""
    matrix = read_matrix(path)
    size = matrix.shape[1]
    if parts is not None and parts > size:
        raise Error(f"{path} has {size:,} columns, which are too few for --parts {parts}", ARGUMENT)
    if partition_file is not None:
        owners = partition(partition_file, unpacked(partition_file), size, parts)
        how = f"partitioned by {partition_file}"
    elif parts is not None:
        owners = make_partition(matrix, parts)
        how = "partitioned by Mt-KaHyPar"
    else:
        raise Error(
            "say how many ranks there are: --parts P, or a partition with --partition FILE, "
            "or --communication if the file has an entry per pair of ranks",
            ARGUMENT,
        )
    ranks = parts or int(owners.max()) + 1
    if ranks > size:
        raise Error(
            f"{partition_file} names {ranks:,} parts; {path} has {size:,} columns, which are "
            "too few",
            FILE,
        )
    senders, receivers, words = column_parallel(matrix, owners)
    about = f"matrix of {size:,} rows, {len(matrix.rows):,} nonzeros, {how}"
    sums = partial_sums(matrix, owners)
    return _communication(ranks, senders, receivers, words, about, path, sums)


def partial_sums(matrix: Matrix, owners: np.ndarray) -> Sums:
    """The parts of the sums of y = A x by columns."""
    ranks = int(owners.max()) + 1
    partial = np.unique(
        matrix.rows * ranks + owners[matrix.columns]
    )  # row i and a rank that has something for y_i
    rows, parts = partial // ranks, partial % ranks
    return Sums(rows.astype(np.int32), parts.astype(np.int32), owners.astype(np.int32))


def column_parallel(
    matrix: Matrix, owners: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y = A x, column j and the entries j of x and y on rank owners[j]. A rank adds up what its
    columns give to y_i; one word then goes to the owner of y_i. Senders, receivers and words."""
    ranks = int(owners.max()) + 1
    sums = partial_sums(matrix, owners)
    receivers, senders = owners[sums.rows], sums.parts.astype(np.int64)
    away = senders != receivers
    pairs, words = np.unique(senders[away] * ranks + receivers[away], return_counts=True)
    return pairs // ranks, pairs % ranks, words


def row_parallel(matrix: Matrix, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y = A x, row i and the entries i of x and y on rank owners[i]: x_j goes once to every other
    rank with an entry in column j. The same words as by columns with the transpose, the other
    way."""
    receivers, senders, words = column_parallel(matrix.transposed(), owners)
    return senders, receivers, words


def _communication(
    ranks: int,
    senders: np.ndarray,
    receivers: np.ndarray,
    words: np.ndarray,
    about: str,
    path: str,
    sums: Sums | None = None,
) -> Communication:
    if ranks > MOST_RANKS:
        raise Error(f"{path} would need {ranks:,} ranks; {MOST_RANKS:,} are the most", TOPOLOGY)
    return Communication(
        ranks,
        senders.astype(np.int32),
        receivers.astype(np.int32),
        words.astype(np.uint64),
        about,
        sums,
    )
