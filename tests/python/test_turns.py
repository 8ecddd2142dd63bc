# SPDX-License-Identifier: BSD-3-Clause
"""Which cases `make test-all` runs, and which only `make test-long`."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from turns import Factors, in_turn, spared_mpis

pytest_plugins = ["pytester"]


def cases(**values: list[object]) -> list[Factors]:
    return [dict(zip(values, case, strict=True)) for case in product(*values.values())]


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_two_parameters_meet_each_value(name: str) -> None:
    every = cases(mpi=["openmpi", "mpich", "abi"], ranks=[1, 2, 3, 5, 8])
    before = [1, 2]  # the first MPI, on 2 and 3 ranks
    taken = in_turn(name, every, before)
    seen = [every[at] for at in taken | set(before)]
    assert {case["ranks"] for case in seen} == {1, 2, 3, 5, 8}
    for mpi in ("mpich", "abi"):
        assert any(case["mpi"] == mpi and case["ranks"] != 1 for case in seen)
    assert 3 <= len(taken) <= 4


def test_three_parameters_meet_each_pair() -> None:
    every = cases(a=[1, 2, 3], b=[1, 2, 3], c=[1, 2, 3])
    seen = [every[at] for at in in_turn("test", every, [])]
    assert 9 <= len(seen) <= 14
    for one, other in combinations("abc", 2):
        assert {(case[one], case[other]) for case in seen} == set(product([1, 2, 3], repeat=2))


def test_the_name_draws_who_is_paired() -> None:
    every = cases(mpi=["openmpi", "mpich"], ranks=[2, 3, 5, 8])
    drawn = {frozenset(in_turn(f"test {k}", every, [0])) for k in range(20)}
    assert len(drawn) > 3


def test_an_mpi_is_met_once_whatever_else_there_is() -> None:
    every = cases(mpi=["openmpi", "mpich"], ranks=[2, 3, 5], what=["a", "b"], size=[1, 2, 3])
    seen = [every[at] for at in in_turn("test", every, [])]
    assert {(case["what"], case["size"]) for case in seen} == set(product("ab", [1, 2, 3]))
    assert {case["mpi"] for case in seen} == {"openmpi", "mpich"}
    assert {case["ranks"] for case in seen} == {2, 3, 5}
    assert len(seen) == 6


def test_tests_of_a_file_take_turns_with_other_mpis() -> None:
    three = cases(mpi=["openmpi", "mpich", "abi"])
    two = cases(mpi=["openmpi", "mpich"])
    one = cases(mpi=["mpich"])
    assert spared_mpis([three, one, three, three]) == [{"abi"}, set(), {"mpich"}, {"abi"}]
    assert spared_mpis([two, three, two]) == [set(), {"mpich"}, set()]
    assert spared_mpis([three, two]) == [set(), set()], "abi would be met by none"
    assert in_turn("test", three, [0], {"abi"}) == {1}
    assert in_turn("test", three, [0], set()) == {1, 2}


def test_nothing_new_is_nothing_to_run() -> None:
    every = cases(mpi=["openmpi", "mpich"])
    assert in_turn("test", every, [0]) == {1} and in_turn("test", every, [0, 1]) == set()


PARAMETRIZED = """
import pytest, turns
more = lambda *values: pytest.param(*values, marks=pytest.mark.more)
@pytest.mark.parametrize("mpi", ["one", more("other")])
@pytest.mark.parametrize(("what", "size"), [("a", 1), more("a", 2), more("b", 1), more("b", 2)])
def test_lists(mpi, what, size): pass
@pytest.mark.parametrize(("mpi", "ranks"), [("one", 2), more("one", 3), more("one", 1),
                                            more("other", 2), more("other", 3), more("other", 1)])
def test_ranks(mpi, ranks): pass
@pytest.mark.more
def test_alone(): pass
@pytest.mark.parametrize("k", [1, 2])
def test_daily(k): pass
"""
HOOK = """
import pytest, turns
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items): turns.take_turns(items)
"""


def test_items_are_marked(pytester: pytest.Pytester) -> None:
    """What one list gives together stays together: each of its entries runs."""
    pytester.makeconftest(HOOK)
    pytester.makepyfile(PARAMETRIZED)
    told = ["-p", "no:cacheprovider", "-W", "ignore"]
    ran = {
        marks: {
            line.partition("::")[2]
            for line in pytester.runpytest_inprocess("--co", "-q", "-m", marks, *told).outlines
            if "::" in line
        }
        for marks in ("not more and not long", "more and not long", "long")
    }
    daily, all_, later = ran.values()
    assert daily == {"test_lists[a-1-one]", "test_ranks[one-2]", "test_daily[1]", "test_daily[2]"}
    assert "test_alone" in all_ and not daily & all_ and not all_ & later
    lists = {name for name in all_ if name.startswith("test_lists")}
    assert {name.partition("[")[2].rpartition("-")[0] for name in lists} == {"a-2", "b-1", "b-2"}
    assert any(name.endswith("other]") for name in lists)
    ranks = {name for name in all_ if name.startswith("test_ranks")}
    assert len(ranks) == 2 and "test_ranks[other-3]" in ranks
    assert len(daily | all_ | later) == 8 + 6 + 1 + 2
