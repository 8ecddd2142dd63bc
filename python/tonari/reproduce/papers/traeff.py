# SPDX-License-Identifier: BSD-3-Clause
"""Träff, Carpen-Amarie, Hunold and Rougier 2016: message combining on isomorphic neighborhoods."""

from __future__ import annotations

from tonari.reproduce.figures import Paper
from tonari.reproduce.papers.traeff_measured import FIGURE_2, FIGURE_3, FIGURE_5
from tonari.reproduce.papers.traeff_scale import FIGURE_4, FIGURE_6, FIGURE_7, FIGURE_8
from tonari.reproduce.papers.traeff_setup import TABLE_2

PAPER = Paper(
    key="traeff-2016",
    authors="Träff, Carpen-Amarie, Hunold and Rougier",
    year=2016,
    title="Message-Combining Algorithms for Isomorphic, Sparse Collective Communication",
    claimed=(
        "Where all ranks have the same neighbors relative to themselves, each rank alone can plan "
        "how blocks combine into few messages. Small blocks then arrive faster, by up to the "
        "number of neighbors per message."
    ),
    beyond=(
        "tonari chooses by measuring among torus, torus-direct, additive bases and plain messages, "
        "over shared memory, windows or point to point, so nobody has to know where it turns."
    ),
    figures=(TABLE_2, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8),
    headline="Figure 2",
)
