# SPDX-License-Identifier: BSD-3-Clause
"""The Python interface, and the closed forms against plans of random neighborhoods."""

from __future__ import annotations

import numpy as np
import pytest

import tonari
from tonari import closed_forms, report
from tonari.errors import ALGORITHM, ARGUMENT, TOPOLOGY


def test_patterns_are_arrays_of_offsets():
    near = tonari.neighborhood("moore:2:1")
    assert near.offsets.dtype == np.int32
    expected = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]]
    assert near.offsets.tolist() == expected
    assert near.dims == (5, 5)
    assert near.periodic == (True, True)


@pytest.mark.parametrize(
    "offsets", [[[0.5, 1.0]], [[2**32 + 1]], [[[1]]], [["a"]], [[-(2**31) - 1]]]
)
def test_offsets_that_the_core_cannot_take_are_refused(offsets):
    with pytest.raises(tonari.Error, match="they must be integers of 32 bits"):
        tonari.neighborhood(offsets, dims=[4])


def test_dims_and_flags_must_be_as_many_as_coordinates():
    for dims, periodic in (([4], True), ([4, 4, 4], True), ([4, 4], [True]), ([4, 4], [True] * 3)):
        with pytest.raises(tonari.Error, match="dimensions|periodicities"):
            tonari.neighborhood("moore:2:1", dims, periodic).exchange().plans()


def test_offsets_can_be_given_as_rows():
    near = tonari.neighborhood([[1, 0], [0, -1]], dims=(4, 3), periodic=(True, False))
    assert [row.messages for row in near.exchange().plans("linear")] == [2]


def test_algorithms_have_a_line_each():
    table = tonari.algorithms()
    assert list(table)[:3] == ["linear", "torus", "torus-direct"]
    assert all("Träff" in line for line in table.values())


def test_errors_carry_their_code():
    with pytest.raises(tonari.Error) as unknown:
        tonari.neighborhood("moore:2:1").exchange().draw("fast")
    assert unknown.value.code == ALGORITHM
    with pytest.raises(tonari.Error) as pattern:
        tonari.neighborhood("moore:2")
    assert pattern.value.code == ARGUMENT
    with pytest.raises(tonari.Error) as grid:
        tonari.neighborhood("moore:2:1", dims=(4, 4, 4)).exchange()
    assert grid.value.code == TOPOLOGY


@pytest.mark.parametrize("ask", ["counts", "variants", "draw", "prove"])
@pytest.mark.parametrize("algorithm", ["fast", "tree"])  # trees are for graphs
def test_algorithms_that_do_not_exist_or_apply_are_refused(ask, algorithm):
    exchange = tonari.neighborhood("moore:2:1").exchange()
    with pytest.raises(tonari.Error, match=f"'?{algorithm}'?[; ]") as refused:
        getattr(exchange, ask)(algorithm)
    assert refused.value.code == ALGORITHM


def test_peers_are_named_by_the_way_to_them():
    drawing = tonari.neighborhood("moore:2:1").exchange(bytes=8).draw("torus")
    sends = [line.split()[2] for line in drawing.splitlines() if line.startswith("  send to")]
    assert sends == ["(+1,0)", "(-1,0)", "(0,+1)", "(0,-1)"]
    assert drawing.count("[3 blocks, 24 B]") == 8


@pytest.mark.parametrize("op", ["alltoall", "allgather"])
@pytest.mark.parametrize("storage", ["separate", "alternate"])
def test_every_variant_is_proved_on_a_mixed_grid(op, storage):
    near = tonari.neighborhood("moore:2:2", dims=(4, 5), periodic=(True, False))
    exchange = near.exchange(op, storage=storage, ports=1)
    variants = exchange.variants()
    assert {name for name, _ in variants} >= {"linear", "torus", "torus-direct", "additive-basis"}
    assert [exchange.prove(name, variant) for name, variant in variants] == [""] * len(variants)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("op", ["alltoall", "allgather"])
def test_closed_forms_hold_for_random_neighborhoods(seed, op):
    random = np.random.default_rng(seed)
    d = int(random.integers(1, 6))
    offsets = random.integers(-3, 4, size=(int(random.integers(1, 40)), d), dtype=np.int32)
    exchange = tonari.neighborhood(offsets).exchange(op)
    for algorithm, form in closed_forms.closed_forms(offsets, op).items():
        row = exchange.counts(algorithm)
        counted = (row.rounds, row.messages, row.volume_blocks)
        assert counted == (form.rounds, form.rounds, form.volume), algorithm
    assert closed_forms.volume_allgather(offsets) <= closed_forms.volume_allgather_paper(offsets)


def test_the_papers_trie_counts_hops_along_a_line_again():
    offsets = tonari.neighborhood("moore:2:2").offsets
    # 1 + 1 + 2 + 2, and the same below each of 5 nodes.
    assert closed_forms.volume_allgather_paper(offsets) == 36
    assert closed_forms.volume_allgather(offsets) == 24  # every neighbor once


def test_a_plan_that_breaks_a_closed_form_is_refused(monkeypatch):
    near = tonari.neighborhood("moore:2:1")
    wrong = {"torus": closed_forms.ClosedForm(4, 13)}
    monkeypatch.setattr(report, "closed_forms", lambda offsets, op: wrong)
    refusal = "4 messages with 12 blocks, but the offsets ask for 4 and 13"
    with pytest.raises(tonari.Error, match=refusal):
        report.make_report(near, near.exchange(), "alltoall", "", False)
