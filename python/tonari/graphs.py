# SPDX-License-Identifier: BSD-3-Clause
"""Directed graphs from files: which rank sends to which, of a communication matrix, a mesh, or a
matrix partitioned by rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tonari.errors import ARGUMENT, FILE, TOPOLOGY, Error
from tonari.graph_files import Matrix, edge_list, matrix_market, metis, unpacked

MOST_RANKS = 1_000_000
MOST_EDGES = 50_000_000
WORD = 8  # bytes of an entry of x


@dataclass(frozen=True)
class Graph:
    """Edge e goes from rank senders[e] to rank receivers[e]; repeats and edges from a rank to
    itself are allowed.

    Of one rank, the edges in their order are its send blocks 0, 1, 2, ...

    senders, receivers  int32 arrays
    weights             float64 array as long, what the file says about the size of each edge;
                        None: nothing
    about               what the file is and how it was read
    """

    ranks: int
    senders: np.ndarray
    receivers: np.ndarray
    weights: np.ndarray | None
    about: str


def read_graph(path: str, ranks: int | None = None) -> Graph:
    """A graph from an edge list, a METIS graph (FILE.graph, FILE.metis) or a Matrix Market file,
    each plain or gzipped.

    ranks: fewer than the file has rows or vertices: they are partitioned into contiguous blocks,
    the first ones larger by one where it does not come out even. Of a matrix (and a METIS graph, as
    one) rank a then sends to rank b if a row of b has a nonzero in a column of a: what a sparse
    matrix-vector product by rows sends around. Of an edge list it sends along its edges.
    """
    if ranks is not None and not 1 <= ranks <= MOST_RANKS:
        raise Error(f"--ranks must be from 1 to {MOST_RANKS:,}, not {ranks}", ARGUMENT)
    text = unpacked(path)
    kind = Path(path.removesuffix(".gz")).suffix.lower()
    if text[:14].lower() == b"%%matrixmarket" or kind in (".mtx", ".mm"):
        found = _from_matrix(matrix_market(path, text), ranks, path, "Matrix Market")
    elif kind in (".graph", ".metis"):
        found = _from_matrix(metis(path, text), ranks, path, "METIS graph")
    else:
        found = _from_edges(edge_list(path, text), ranks, path)
    if len(found.senders) > MOST_EDGES:
        raise Error(
            f"{path} has {len(found.senders):,} edges; {MOST_EDGES:,} are the most", TOPOLOGY
        )
    return found


def _from_edges(table: np.ndarray, ranks: int | None, path: str) -> Graph:
    size = int(table[:, :2].max()) + 1 if len(table) else 0
    if not size and not ranks:
        raise Error(f"{path} has no edges; say with --ranks how many ranks there are", FILE)
    senders, receivers = table[:, 0], table[:, 1]
    weights = table[:, 2].astype(np.float64) if table.shape[1] == 3 else None
    about = "edge list"
    if ranks and ranks < size:
        senders, receivers, weights = _merged(
            _owners(senders, size, ranks), _owners(receivers, size, ranks), weights
        )
        about = f"edge list of {size:,} vertices, partitioned into blocks"
    return _graph(ranks or size, senders, receivers, weights, about, path)


def _merged(
    senders: np.ndarray, receivers: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Edges between different ranks, one per pair, weights added."""
    away = senders != receivers
    size = int(max(senders.max(initial=0), receivers.max(initial=0))) + 1
    keys, pair = np.unique(
        senders[away].astype(np.int64) * size + receivers[away], return_inverse=True
    )
    total = None if weights is None else np.bincount(pair, weights[away], len(keys))
    return keys // size, keys % size, total


def _from_matrix(matrix: Matrix, ranks: int | None, path: str, about: str) -> Graph:
    """A communication matrix, entry (i, j) for what rank i sends to rank j, if there are as many
    ranks as rows; else its rows partitioned."""
    rows, columns = matrix.shape
    if ranks is not None and ranks > rows:
        raise Error(f"{path} has {rows:,} rows, fewer than the {ranks:,} of --ranks", TOPOLOGY)
    if ranks is None or ranks == rows == columns:
        if rows != columns:
            raise Error(
                f"{path} is {rows:,} x {columns:,}: to say which rank sends to which, a "
                "matrix must "
                "be square; --ranks partitions its rows",
                TOPOLOGY,
            )
        return _graph(rows, matrix.rows, matrix.columns, matrix.values, about, path)
    owners = _owners(matrix.rows, rows, ranks)
    needed = distinct(
        owners * np.int64(columns) + matrix.columns
    )  # (rank, column): each entry of x travels to a rank once
    words = np.full(len(needed), float(WORD))
    edges = _merged(_owners(needed % columns, columns, ranks), needed // columns, words)
    return _graph(ranks, *edges, f"{about}, {rows:,} x {columns:,} by rows, y = A x", path)


def distinct(keys: np.ndarray) -> np.ndarray:
    """Sorted, each once. (np.unique hashes, which takes ten times as long for millions of
    integers.)"""
    keys = np.sort(keys)
    return keys[np.diff(keys, prepend=keys[:1] - 1) != 0]


def _owners(indices: np.ndarray, size: int, ranks: int) -> np.ndarray:
    """The rank of each index: contiguous blocks, the first size % ranks of them longer by one."""
    short, longer = divmod(size, ranks)
    border = longer * (short + 1)
    return np.where(
        indices < border, indices // (short + 1), longer + (indices - border) // max(short, 1)
    )


def _graph(
    ranks: int,
    senders: np.ndarray,
    receivers: np.ndarray,
    weights: np.ndarray | None,
    about: str,
    path: str,
) -> Graph:
    if ranks < 1:
        raise Error(f"{path} has no ranks", FILE)
    if ranks > MOST_RANKS:
        raise Error(
            f"{path} has {ranks:,} ranks; {MOST_RANKS:,} are the most: --ranks partitions them",
            TOPOLOGY,
        )
    return Graph(ranks, senders.astype(np.int32), receivers.astype(np.int32), weights, about)
