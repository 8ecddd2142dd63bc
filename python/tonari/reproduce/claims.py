# SPDX-License-Identifier: BSD-3-Clause
"""Sentences and verdicts from numbers, which all judges share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tonari.reproduce.figures import AGREES, DIFFERS, SHAPE, Point, Verdict

KINDS = (AGREES, SHAPE, DIFFERS)
NEAR = 1.25  # so far may a time or a ratio lie from the published one and still agree
EQUAL = 1.05  # closer than this, neither of two wins
POINTS = 10  # so many percentage points may a reduction lie from the published one and still agree


class Missing(Exception):
    """A number that a judge needs was not made, because its step failed."""


@dataclass(frozen=True)
class Check:
    """One claim, held against our numbers."""

    kind: str
    sentence: str


def value(points: Sequence[Point], panel: str, series: str, x: float | str) -> float:
    """The number at this place. Raises Missing."""
    for point in points:
        if (point.panel, point.series, point.x) == (panel, series, x):
            return point.y
    raise Missing(f"there is no number for {series} at {x} in {panel}")


def claimed(points: Sequence[Point], series: str) -> float:
    """The number of a claim of the text."""
    return next(point.y for point in points if (point.panel, point.series) == ("text", series))


def of_panel(points: Sequence[Point], panel: str, series: str) -> list[Point]:
    """The points of one line, by x."""
    found = [point for point in points if (point.panel, point.series) == (panel, series)]
    if not found:
        raise Missing(f"there are no numbers for {series} in {panel}")
    return sorted(found, key=lambda point: (isinstance(point.x, str), point.x))


def exact(what: str, published: float, own: float) -> Check:
    """Counts: they are equal, or they differ."""
    if published == own:
        return Check(AGREES, f"{what}: {number(own)}, as published.")
    return Check(DIFFERS, f"{what}: {number(own)} here, {number(published)} published.")


def ratio(what: str, published: float, own: float, near: float = NEAR) -> Check:
    """How many times as fast. The shape is who wins."""
    numbers = f"{what}: {times(own)} here, {times(published)} published."
    if max(published, own) <= near * min(published, own):
        return Check(AGREES, numbers)
    return Check(SHAPE if side(published) == side(own) else DIFFERS, numbers)


def amount(what: str, published: float, own: float, unit: str, near: float = NEAR) -> Check:
    """A time or another amount, which only another machine would repeat: far off is no shape."""
    numbers = f"{what}: {number(own)} {unit} here, {number(published)} {unit} published."
    small, large = sorted((published, own))
    return Check(AGREES if large <= near * small else DIFFERS, numbers)


def wins(what: str, winner: str, other: str, own: float) -> Check:
    """The paper says who is faster, without a number. own: how many times as fast the winner is."""
    if side(own) > 0:
        return Check(AGREES, f"{what}: {winner} is {times(own)} as fast as {other}, and wins.")
    if side(own) == 0:
        return Check(DIFFERS, f"{what}: {winner} and {other} are equally fast ({times(own)}).")
    return Check(DIFFERS, f"{what}: {winner} is {times(own)} as fast as {other}, and loses.")


def more(what: str, published: float, own: float, words: str) -> Check:
    """The paper says it in words, which the published number stands for: so many times as fast, or
    more."""
    kind = AGREES if own > published else DIFFERS
    there = f"published are {words}, read as more than {number(published)}"
    return Check(kind, f"{what}: {times(own)} here; {there}.")


def most(what: str, percents: float, cases: Sequence[bool]) -> Check:
    """The paper says that it is so in most cases, in more than so many percent of them."""
    if not cases:
        raise Missing(f"there is no case of: {what}")
    count, whole = sum(cases), len(cases)
    kind = AGREES if 100 * count > percents * whole else DIFFERS
    return Check(kind, f"{what}: in {count} of {whole} cases here, in most of them published.")


def at_most(what: str, published: float, own: float, unit: str) -> Check:
    """The paper gives a bound."""
    kind, word = (AGREES, "no more") if own <= published else (DIFFERS, "more")
    there = f"{word} than the {number(published)} published"
    return Check(kind, f"{what}: {number(own)} {unit} here, {there}.")


def less(what: str, published: float, own: float) -> Check:
    """So many percent less. The shape is that it is less at all."""
    sentence = f"{what}: {_saving(own)} here, {round(published)} % less published."
    close = abs(own - published) <= POINTS
    return Check(AGREES if close else SHAPE if own > 0 else DIFFERS, sentence)


def within(what: str, low: float, high: float, own: float) -> Check:
    """A reduction in percent that the paper gives as a range."""
    kind = AGREES if low <= own <= high else SHAPE if own > 0 else DIFFERS
    return Check(kind, f"{what}: {_saving(own)} here, {low:.0f} to {high:.0f} % less published.")


def _saving(own: float) -> str:
    """39 % less, 24 % more, as much"""
    percents = round(own)
    if not percents:
        return "as much"
    return f"{percents} % less" if percents > 0 else f"{-percents} % more"


def percent(factor: float) -> float:
    """So much less time takes who is so many times as fast."""
    return 100 * (1 - 1 / factor)


def holds(what: str, cases: Sequence[bool]) -> Check:
    """Something that the paper sees everywhere: in most cases is the shape of it."""
    if not cases:
        raise Missing(f"there is no case of: {what}")
    count, whole = sum(cases), len(cases)
    kind = AGREES if count == whole else SHAPE if 2 * count > whole else DIFFERS
    return Check(kind, f"{what}: in {count} of {whole} cases here.")


def turn(
    what: str, published: float, before: Sequence[Point], after: Sequence[Point], unit: str
) -> Check:
    """The x at which one line stops to be the faster one. It agrees where it is the published x or
    one of its neighbors among those measured."""
    fast = {point.x: point.y for point in before}
    slow = {point.x: point.y for point in after}
    shared = sorted(x for x in fast if x in slow and not isinstance(x, str))
    turned = [x for x in shared if fast[x] > slow[x]]
    if not shared:
        raise Missing(f"there are no numbers for {what}")
    if not turned:
        end = number(float(shared[-1]))
        return Check(DIFFERS, f"{what}: no turn up to {end} {unit}, published at {published:g}.")
    where = shared.index(turned[0])
    low = float(shared[max(where - 1, 0)])
    own = f"between {number(low)} and {number(float(turned[0]))} {unit}" if where else "at once"
    sentence = f"{what}: turns {own} here, at {number(published)} {unit} published."
    if where == 0:
        return Check(DIFFERS, sentence)
    high = float(shared[min(where + 1, len(shared) - 1)])
    return Check(AGREES if low / NEAR <= published <= high * NEAR else SHAPE, sentence)


def verdict(checks: Sequence[Check], reason: str = "", shown: int = 6) -> Verdict:
    """The worst of the checks decides. The sentence has the first few of each kind, the worst
    first; the reason is said only where something does not agree."""
    if not checks:
        raise Missing("there is no number to judge")
    ordered = sorted(checks, key=lambda check: -KINDS.index(check.kind))
    head = f"Of {len(checks)} claims, {_counted(checks)}." if len(checks) > 1 else ""
    rest = len(ordered) - shown
    tail = f"And {rest} more, in the report." if rest > 0 else ""
    told = [head, *(check.sentence for check in ordered[:shown]), tail]
    worst = ordered[0].kind
    return Verdict(
        worst,
        " ".join(filter(None, told)),
        "" if worst == AGREES else reason,
        head,
        tuple((check.kind, check.sentence) for check in ordered),
    )


def _counted(checks: Sequence[Check]) -> str:
    """2 agree, 3 agree in shape and 1 differs"""
    counts = [(sum(check.kind == kind for check in checks), kind) for kind in KINDS]
    told = [
        f"{count} {kind.replace('s', '', 1) if count > 1 else kind}"
        for count, kind in counts
        if count
    ]
    return listed(told)


def listed(words: Sequence[str]) -> str:
    """a, b and c"""
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def side(factor: float) -> int:
    """1 where it wins, -1 where it loses, 0 where neither does."""
    if factor >= EQUAL:
        return 1
    return -1 if factor <= 1 / EQUAL else 0


def times(factor: float) -> str:
    """3.7 times, 0.84 times"""
    digits = 0 if factor >= 99.5 else 1 if factor >= 1.95 else 2
    return f"{factor:.{digits}f} times"


def number(amount: float) -> str:
    """1,396 or 0.102: three digits, and all of whole numbers."""
    if amount == int(amount):
        return f"{int(amount):,}"
    return f"{amount:,.3g}" if abs(amount) < 1000 else f"{amount:,.0f}"
