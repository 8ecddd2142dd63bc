# SPDX-License-Identifier: BSD-3-Clause
"""The judges of `tonari reproduce`: verdicts follow from numbers, which are made up at random."""

from __future__ import annotations

import random
from math import log

import pytest
from tonari.reproduce import claims
from tonari.reproduce.claims import Check, Missing
from tonari.reproduce.figures import AGREES, DIFFERS, SHAPE, Point

CASES = 200


@pytest.fixture
def numbers(request: pytest.FixtureRequest) -> random.Random:
    return random.Random(request.node.name)


def line(name: str, times: dict[float, float]) -> list[Point]:
    return [Point("panel", name, x, y) for x, y in times.items()]


def test_ratios_agree_within_a_quarter_and_in_shape_on_the_same_side(numbers):
    seen = set()
    for _ in range(CASES):
        there, here = (2 ** numbers.uniform(-2, 2) for _ in range(2))
        check = claims.ratio("a over b", there, here)
        seen.add(check.kind)
        apart = abs(log(there / here))
        sides = [0 if abs(log(factor)) < log(1.05) else log(factor) for factor in (there, here)]
        same = sides[0] * sides[1] > 0 or sides == [0, 0]
        wanted = AGREES if apart <= log(1.25) else SHAPE if same else DIFFERS
        assert check.kind == wanted, (there, here)
        assert claims.times(here) in check.sentence and claims.times(there) in check.sentence
    assert seen == {AGREES, SHAPE, DIFFERS}


def test_counts_agree_only_where_they_are_equal(numbers):
    for _ in range(CASES):
        there, here = (numbers.randint(1, 5) for _ in range(2))
        assert claims.exact("rounds", there, here).kind == (AGREES if there == here else DIFFERS)


def test_a_turn_is_found_where_the_lines_cross(numbers):
    sizes = [8.0, 64.0, 512.0, 4096.0, 32768.0, 262144.0]
    for _ in range(CASES):
        at, printed = numbers.randrange(1, len(sizes) + 1), numbers.randrange(1, len(sizes))
        other = {x: numbers.uniform(10, 20) for x in sizes}
        first = {x: other[x] * (0.5 if k < at else 2) for k, x in enumerate(sizes)}
        check = claims.turn("a", sizes[printed], line("a", first), line("b", other), "B")
        if at == len(sizes):
            assert check.kind == DIFFERS and "no turn" in check.sentence
        else:
            assert check.kind == (AGREES if abs(printed - at) <= 1 else SHAPE)
            assert f"between {sizes[at - 1]:,.0f} and {sizes[at]:,.0f} B" in check.sentence


def test_what_turns_at_once_differs():
    slow, fast = {8.0: 2.0, 64.0: 2.0}, {8.0: 1.0, 64.0: 1.0}
    check = claims.turn("a", 64, line("a", slow), line("b", fast), "B")
    assert check.kind == DIFFERS and "at once" in check.sentence


def test_most_cases_are_the_shape_of_all(numbers):
    for _ in range(CASES):
        cases = [numbers.random() < 0.7 for _ in range(numbers.randint(1, 9))]
        share = sum(cases) / len(cases)
        wanted = AGREES if share == 1 else SHAPE if share > 0.5 else DIFFERS
        assert claims.holds("it holds", cases).kind == wanted
    with pytest.raises(Missing):
        claims.holds("it holds", [])


def test_who_wins_by_less_than_a_twentieth_does_not_win():
    kinds = [claims.wins("8 B", "a", "b", factor).kind for factor in (2, 1.02, 0.5)]
    assert kinds == [AGREES, DIFFERS, DIFFERS]
    assert "loses" in claims.wins("8 B", "a", "b", 0.5).sentence


def test_the_worst_check_decides_and_comes_first(numbers):
    for _ in range(CASES):
        kinds = [numbers.choice(claims.KINDS) for _ in range(numbers.randint(1, 9))]
        checks = [Check(kind, f"Claim {k}.") for k, kind in enumerate(kinds)]
        found = claims.verdict(checks, "Because.")
        assert found.kind == max(kinds, key=claims.KINDS.index)
        assert found.reason == ("" if found.kind == AGREES else "Because.")
        worst = kinds.index(found.kind)
        assert f"Claim {worst}." in found.sentence
        if len(checks) > 6:
            assert f"And {len(checks) - 6} more" in found.sentence
    with pytest.raises(Missing):
        claims.verdict([])


def test_numbers_that_are_missing_are_named():
    with pytest.raises(Missing, match="no number for torus at 8 in panel"):
        claims.value([Point("panel", "native", 8, 1.0)], "panel", "torus", 8)
    with pytest.raises(Missing, match="no numbers for torus in panel"):
        claims.of_panel([], "panel", "torus")
