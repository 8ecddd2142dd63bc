# SPDX-License-Identifier: BSD-3-Clause
"""Which cases of a parametrized test run in `make test-all`: enough of them that each value of each
parameter is met, and each pair of values where there are three parameters or more, but for pairs
with an MPI or a number of ranks. Of several MPIs beside the first, the tests of a file take turns.
The others are for `make test-long` (docs/adr/0088)."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from itertools import combinations

import pytest

ALONE = ("mpi", "ranks")  # parameters of their own, also where one list has them with others
Factors = dict[str, Hashable]


def aims(case: Factors, strength: int, spared: Collection[Hashable] = ()) -> Iterator[Hashable]:
    """What a case is one of the few to meet. A rank alone says little about an MPI."""
    others = sorted(case.keys() - set(ALONE))
    for some in combinations(others, min(strength, len(others))):
        yield tuple((name, case[name]) for name in some)
    if "ranks" in case:
        yield "ranks", case["ranks"]
    if "mpi" in case and case["mpi"] not in spared and case.get("ranks") != 1:
        yield "mpi", case["mpi"]


def strength_of(cases: Sequence[Factors]) -> int:
    varied = [name for name in cases[0] if len({case[name] for case in cases}) > 1]
    return 1 if len(varied) <= 2 else 2


def drawn(name: str, at: int) -> bytes:
    return hashlib.sha256(f"{name} {at}".encode()).digest()


def in_turn(
    name: str, cases: Sequence[Factors], before: Iterable[int], spared: Collection[Hashable] = ()
) -> set[int]:
    """The cases to run besides those that run before: always the one that meets most of what is
    missing. Among equal ones the name of the test draws, so that tests differ in what they pair.
    spared: MPIs that other tests meet."""
    strength = strength_of(cases)
    known = set(before)
    met = {aim for at in known for aim in aims(cases[at], strength, spared)}
    rest = [at for at in range(len(cases)) if at not in known]
    found: set[int] = set()
    while rest:
        news = {at: len(set(aims(cases[at], strength, spared)) - met) for at in rest}
        best = max(rest, key=lambda at: (news[at], drawn(name, at)))
        if not news[best]:
            break
        found.add(best)
        rest.remove(best)
        met |= set(aims(cases[best], strength, spared))
    return found


def spared_mpis(tests: Sequence[Sequence[Factors]]) -> list[set[Hashable]]:
    """For each test of a file, the MPIs that it need not meet: of those beside the first it meets
    the one that fewest tests have met. What none would meet, the first that can does."""
    lists = [[*dict.fromkeys(case.get("mpi") for case in cases)][1:] for cases in tests]
    counts = Counter({mpi: 0 for others in lists for mpi in others})
    spared: list[set[Hashable]] = []
    for others in lists:
        met = min(others, key=lambda mpi: counts[mpi], default=None)
        counts[met] += 1
        spared.append({*others} - {met})
    for mpi in [mpi for mpi, count in counts.items() if not count]:
        next(some for some in spared if mpi in some).remove(mpi)
    return spared


def simple(value: object) -> Hashable:
    return value if isinstance(value, int) else repr(value)


def factors(items: Sequence[pytest.Function]) -> list[Factors]:
    """Of the cases of one test: parameters that one list gives together are one factor."""
    specs = [item.callspec for item in items]
    together: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for argument in specs[0].params:
        if argument not in ALONE:
            together[tuple(spec.indices[argument] for spec in specs)].append(argument)
    found: list[Factors] = [
        {name: simple(spec.params[name]) for name in ALONE if name in spec.params} for spec in specs
    ]
    for names in together.values():
        for case, spec in zip(found, specs, strict=True):
            case["+".join(names)] = repr([spec.params[name] for name in names])
    return found


def take_turns(items: Iterable[pytest.Item]) -> None:
    """Marks the cases that `make test-all` leaves to `make test-long`."""
    tests: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        is_case = isinstance(item, pytest.Function) and hasattr(item, "callspec")
        if is_case and not item.get_closest_marker("long"):
            tests[item.nodeid.partition("[")[0]].append(item)
    files: dict[str, list[str]] = defaultdict(list)
    for name, cases in tests.items():
        if any(item.get_closest_marker("more") for item in cases):
            files[name.partition("::")[0]].append(name)
    for names in files.values():
        all_factors = [factors(tests[name]) for name in names]
        for name, found, spared in zip(names, all_factors, spared_mpis(all_factors), strict=True):
            cases = tests[name]
            quick = {at for at, item in enumerate(cases) if not item.get_closest_marker("more")}
            kept = quick | in_turn(name, found, quick, spared)
            for at, item in enumerate(cases):
                if at not in kept:
                    item.add_marker(pytest.mark.long)
