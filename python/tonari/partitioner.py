# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a matrix assigned to ranks by a hypergraph partitioner, so that a product by columns
sends few words."""

from __future__ import annotations

from typing import Any

import numpy as np

from tonari.errors import INTERNAL, Error
from tonari.graph_files import Matrix

IMBALANCE = 0.03
SEED = 1
# Above this many parts, Mt-KaHyPar has a preset for many parts. It is several times as fast for a
# few percent more words.
MANY = 128
# With more threads that preset does not give the same twice. The first number that a process asks
# for holds for all later calls.
THREADS = 1


def make_partition(matrix: Matrix, parts: int) -> np.ndarray:
    """The part of each column. A vertex per column, weighted by its nonzeros; net i is the columns
    of row i and column i, so that the parts that a net touches, less one, are the words that the
    partial results of y_i take (row-net model, connectivity metric). The same on every call."""
    size = matrix.shape[1]
    if parts == 1:
        return np.zeros(size, np.int64)
    mtkahypar = _mtkahypar()
    weights = np.maximum(np.bincount(matrix.columns, minlength=size), 1)
    nets = _nets(matrix)
    try:
        mtkahypar.set_seed(SEED)
        machine = mtkahypar.initialize(THREADS, print_warnings=False)
        context = machine.context_from_preset(
            mtkahypar.PresetType.LARGE_K if parts > MANY else mtkahypar.PresetType.DETERMINISTIC
        )
        context.set_partitioning_parameters(parts, IMBALANCE, mtkahypar.Objective.KM1)
        context.logging = False
        graph = machine.create_hypergraph(
            context, size, len(nets), nets, weights.tolist(), [1] * len(nets)
        )
        return np.array(graph.partition(context).get_partition(), np.int64)
    except (
        ValueError,
        RuntimeError,
        mtkahypar.UnsupportedOperationError,
        mtkahypar.SystemError,
    ) as error:
        raise Error(
            f"Mt-KaHyPar cannot make {parts} parts of {size} columns ({error}); a partition "
            "can be given with --partition FILE",
            INTERNAL,
        ) from None


def _nets(matrix: Matrix) -> list[list[int]]:
    """Nets of a single column are left out: nothing is ever sent for them."""
    size = matrix.shape[1]
    everyone = np.arange(size)
    pins = np.unique(
        np.concatenate([matrix.rows * size + matrix.columns, everyone * size + everyone])
    )
    ends = np.searchsorted(pins, (everyone + 1) * size)
    return [net.tolist() for net in np.split(pins % size, ends[:-1]) if len(net) > 1]


def _mtkahypar() -> Any:
    try:
        import mtkahypar
    except ImportError:
        raise Error(
            "the partitioner Mt-KaHyPar is not installed: run `pip install 'tonari[partition]'` "
            "where pip installed tonari, elsewhere `pip install mtkahypar`, or give a partition "
            "with --partition FILE",
            INTERNAL,
        ) from None
    return mtkahypar
