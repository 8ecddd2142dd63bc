# SPDX-License-Identifier: BSD-3-Clause
"""tools/write_turns.py: with which o, L and G a claim about scale still holds."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
from tonari.sweep import FACTORS, Turn

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools"))

import write_turns


def turn(factor: float, before: str, after: str) -> Turn:
    return Turn("o", factor, 0, before, after)


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([], "nothing"),
        ([turn(0.3417, "native", "torus")], "native up to 0.34"),
        ([turn(4.83, "torus", "native")], "native from 4.8 on"),
        ([turn(1 / 16, "linear", "torus")], "linear up to 1/16"),
        (
            [turn(0.5, "native", "torus"), turn(8, "torus", "basis")],
            "native up to 1/2; basis from 8 on",
        ),
    ],
)
def test_the_side_away_from_the_machine_is_said(turns: list[Turn], said: str) -> None:
    assert write_turns.said(turns) == said


def test_turns_lie_between_factors_next_to_each_other() -> None:
    winners = dict.fromkeys(FACTORS, "torus") | {1 / 16: "native", 1 / 8: "native", 16: "basis"}
    assert list(write_turns.turns_of("o", winners)) == [
        turn(1 / 8, "native", "torus"),
        turn(16, "torus", "basis"),
    ]
    assert not list(write_turns.turns_of("o", dict.fromkeys(FACTORS, "torus")))


def test_a_pattern_turns_where_its_sweep_does() -> None:
    """As in docs/howto/simulate.md: 256 bytes on the generic machine."""
    (found,) = write_turns.rows_of_grid("moore:3:1", 27, (256,), "")
    assert found["exchange"] == "moore:3:1" and found["machine"] == "generic"
    assert found["fastest"] == "torus" and found["o"].startswith("native up to 0.")


def test_the_rows_are_of_the_claims() -> None:
    with (SOURCE / "docs/performance/turns.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    asked = [
        (pattern, f"{ranks:,}", machine or "generic")
        for pattern, counts, sizes, machine in write_turns.GRIDS
        for ranks in counts
        for _ in sizes
    ]
    asked += [
        (name, f"{r:,}", "generic") for name in write_turns.MATRICES for r in write_turns.PARTS
    ]
    assert [(row["exchange"], row["ranks"], row["machine"]) for row in rows] == asked
