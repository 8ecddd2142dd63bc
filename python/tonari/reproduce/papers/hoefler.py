# SPDX-License-Identifier: BSD-3-Clause
"""Hoefler and Schneider 2012: optimized neighborhood collectives."""

from __future__ import annotations

from tonari.reproduce.figures import Paper
from tonari.reproduce.papers.hoefler_programs import FIGURE_12, FIGURE_13
from tonari.reproduce.papers.hoefler_stencils import FIGURE_9, FIGURE_10, FIGURE_11

PAPER = Paper(
    key="hoefler-2012",
    authors="Hoefler and Schneider",
    year=2012,
    title="Optimization Principles for Collective Neighborhood Communications",
    claimed=(
        "A program that promises what stays the same lets its library do more once. Small "
        "messages of stencils then take half to a quarter of the time, large ones 15 to 18 % "
        "less."
    ),
    beyond=(
        "In tonari, promises that are broken are errors, short messages need no promise at all, "
        "and blocks are read where they lie in the other rank's memory."
    ),
    figures=(FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12, FIGURE_13),
    headline="Figure 10",
)
