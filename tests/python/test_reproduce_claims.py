# SPDX-License-Identifier: BSD-3-Clause
"""The judges of `tonari reproduce`: verdicts follow from numbers, which are made up at random."""

from __future__ import annotations

import random
from math import log

import pytest
from tonari.reproduce import claims
from tonari.reproduce.claims import Check, Missing
from tonari.reproduce.figures import AGREES, DIFFERS, SHAPE, Point
from tonari.reproduce.sweeps import swept

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
        assert sorted(found.claims) == sorted((c.kind, c.sentence) for c in checks)
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


def test_bounds_and_reductions(numbers):
    for _ in range(CASES):
        there, here = numbers.randint(1, 9), numbers.randint(1, 9)
        assert claims.at_most("steps", there, here, "").kind == (
            AGREES if here <= there else DIFFERS
        )
        there, here = numbers.uniform(20, 90), numbers.uniform(-50, 100)
        near = AGREES if abs(there - here) <= 10 else SHAPE if here > 0 else DIFFERS
        assert claims.less("time", there, here).kind == near


def test_claims_are_counted_in_words():
    checks = [Check(kind, "It is.") for kind in (AGREES, SHAPE, SHAPE, DIFFERS)]
    assert claims.verdict(checks).head == "Of 4 claims, 1 agrees, 2 agree in shape and 1 differs."
    assert claims.verdict(checks[:1]).sentence == "It is."
    assert claims.most("it wins", 50, [True, True, False]).kind == AGREES
    assert claims.most("it wins", 50, [True, False]).kind == DIFFERS
    assert claims.less("time", 40, -24.2).sentence == ("time: 24 % more here, 40 % less published.")
    assert claims.within("time", 5, 30, 0.2).sentence == (
        "time: as much here, 5 to 30 % less published."
    )


def test_a_sweep_says_who_wins_beyond_each_turn():
    about = {"kind": "time", "ranks": 480, "fastest": True}
    rows = [about | {"parameter": p, "factor": f, "algorithm": "torus"}
            for p in "oLG" for f in (1 / 16, 1, 16)]  # fmt: skip
    turns = [("L", 4.8, "torus", "native"), ("o", 0.25, "native", "torus")]
    rows += [
        {"kind": "turn", "parameter": p, "factor": f, "instead_of": before, "algorithm": after}
        for p, f, before, after in turns
    ]
    assert swept("moore:3:1, 8 B", rows).sentence == (
        "moore:3:1, 8 B, on 480 ranks: torus is the fastest on the model's machine. "
        "Below 1/4.0 of the overhead, native is. Above 4.8 times the latency, native is. "
        "Time per byte from 1/16 of it to 16 times changes nothing."
    )
