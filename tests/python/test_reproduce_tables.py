# SPDX-License-Identifier: BSD-3-Clause
"""Papers of which counts come again: their published tables are whole, and the commands that take
no time are called."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from command_line import call, printed
from tonari.reproduce import published
from tonari.reproduce.figures import AGREES, DIFFERS, PLANNED, SHAPE, Here, Step
from tonari.reproduce.outcome import outcome
from tonari.reproduce.papers import duymus, hofmann, zhao
from tonari.reproduce.report.plots import drawings
from tonari.reproduce.run import Made


def made(paper, figure, here: Here) -> Made:
    """With what the commands really print."""
    found = Made(paper, figure, steps=figure.steps(here), sweeps=[])
    for step in found.steps:
        found.rows[step.name] = json.loads(printed(call(*step.arguments, "--json")))
    return found


def test_the_tables_of_the_thesis_are_all_there():
    rows = [row for row in published.read("duymus-tables") if row.panel != published.TEXT]
    assert Counter(row.place for row in rows) == {
        "Table 6.2": 15 * 6,
        "Table 6.3": 8,
        "Table 6.4": 15,
    }
    initial = [r for r in rows if (r.panel, r.series) == (duymus.BOTTLENECK, "Initial")]
    assert sum(row.y for row in initial) == 3605  # of the printed column
    assert [row.y for row in published.read("zhao-table1")][5:10] == [2, 9, 42, 209, 1042]


def test_messages_by_dimensions_are_as_published(tmp_path):
    found = made(zhao.PAPER, zhao.TABLE_1, Here(scratch=tmp_path))
    assert outcome(found).kind == AGREES
    found.rows["layout 3"][0]["messages"] += 1
    changed = outcome(found)
    assert changed.kind == DIFFERS
    assert "layout in 3 dimensions: 43 here, 42 published." in changed.sentence


def test_message_sharing_is_planned_on_made_up_patterns(tmp_path):
    found = made(duymus.PAPER, duymus.TABLES, Here(short=True, scratch=tmp_path))
    names = {row["name"] for some in found.rows.values() for row in some if row["table"] == "6.2"}
    assert names == {"made-up-hubs-64", "made-up-groups-64", "made-up-mesh-and-few-64"}
    one = outcome(found)
    assert one.kind in (AGREES, SHAPE, DIFFERS) and "in 3 of 3 cases here" in one.sentence


def test_communication_matrices_of_a_folder_are_planned(tmp_path):
    folder = tmp_path / duymus.FOLDER
    files = duymus.made_up(folder, 8)
    (step,) = duymus.TABLES.steps(Here(matrices=tmp_path, scratch=tmp_path / "scratch"))
    assert sorted(step.arguments[3:]) == sorted(map(str, files))
    assert not (tmp_path / "scratch").exists()


def test_published_numbers_stand_beside_patterns_of_the_same_name():
    row = {"table": "6.2", "name": "sparsine", "by": "thesis", "average_overhead": 0.24}
    row |= {f"average_messages_{phase}": 60.0 for phase in duymus.PHASES}
    row |= {f"bottleneck_messages_{phase}": 80 for phase in duymus.PHASES}
    means = [
        {"table": "6.3", "algorithm": name, "average_messages": 9.0,
         "maximally_loaded_messages": 9.0} for name in duymus.ALGORITHMS
    ]  # fmt: skip
    found = Made(duymus.PAPER, duymus.TABLES, steps=[Step("it", (), PLANNED)], sweeps=[])
    found.rows["it"] = [row, *means]
    sentence = outcome(found).sentence
    assert (
        "sparsine, messages of the bottleneck, Initial: 80 messages here, 223 messages published"
        in sentence
    )


@pytest.mark.parametrize("budgets", [(4096, 8388608), (4096, 65536, 8388608)])
def test_the_least_budget_and_the_most_are_told_apart(budgets):
    about = {"ranks": 2, "q1_us": 1.0, "q3_us": 3.0, "median_us": 2.0}
    rows = [about | {"algorithm": hofmann.SETS, "budget_bytes": budget} for budget in budgets]
    rows.append(about | {"algorithm": hofmann.NATIVE, "budget_bytes": None})
    points = hofmann.FIGURE_6.points({"it": rows})
    assert [point.series for point in points] == [hofmann.LITTLE, hofmann.MUCH, hofmann.NATIVE]


def test_what_cannot_be_made_has_a_reason():
    unmade = [one for paper in (hofmann.PAPER, zhao.PAPER) for one in paper.unmade]
    assert [one.number for one in unmade] == ["Figure 6, right", "Table 2, bandwidth"]
    assert all(one.reason.endswith(".") for one in unmade)


def test_steps_of_seven_processes_are_as_published(tmp_path):
    found = made(hofmann.PAPER, hofmann.FIGURE_2, Here(scratch=tmp_path))
    assert outcome(found).kind == AGREES
    (drawing, *_) = drawings(outcome(found))
    assert drawing["data"][0]["text"][6][6] == "13<br>published 13"
    for row in found.rows["plan inplace"]:
        row["step"] += row["rank"] == row["partner"] == 6
    changed = outcome(found)
    assert changed.kind == DIFFERS
    assert "mpich-order, process 6 with process 6, the step: 14 here, 13 published." in (
        changed.sentence
    )


def test_thesis_pages_are_those_of_its_list_of_tables():
    rows = [row for row in published.read("duymus-tables") if row.panel != published.TEXT]
    pages = {(row.place, row.page) for row in rows}
    assert pages == {("Table 6.2", "41"), ("Table 6.3", "41"), ("Table 6.4", "42")}
