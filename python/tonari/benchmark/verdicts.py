# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on each kind of benchmark: who is compared with whom, and what a case is called."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tonari import output
from tonari.benchmark import halo_summary, spmv_summary, summary
from tonari.benchmark.summary import OTHER_WORK
from tonari.benchmark.verdict import (
    Case,
    Part,
    Test,
    caveats,
    compare,
    nothing_to_compare,
    right,
    sentence,
    span,
)

Row = dict[str, Any]
NATIVE = ("native", "native-nonblocking", "native-persistent", "irecv", "irecv-persistent")
BEST = "the best MPI alternative"
OTHER_HALOS = OTHER_WORK | {"faces", "reverse", "blocks-reverse"}


def of_bench(rows: Sequence[Row]) -> list[str]:
    def same_work(row: Row) -> bool:
        name = summary.label(row)
        return name not in (*NATIVE, summary.FLOOR) and name.split("/")[-1] not in OTHER_WORK

    parts = [lambda row: f"for {row['pattern']} {row['op']}", _at_bytes]
    who, ours = _chosen(rows, same_work, summary.label, ["auto"])
    return [_verdict(rows, parts, ours, lambda row: summary.label(row) in NATIVE, who)]


def of_setup(rows: Sequence[Row]) -> list[str]:
    def makes(of: str) -> Test:
        return lambda row: row["function"].startswith(of)

    names = [row["function"] for row in rows if makes("tonari_neighborhood")(row)]
    said = _verdict(
        rows,
        [lambda row: f"for {row['pattern']}"],
        makes("tonari_neighborhood"),
        makes("MPI_"),
        names[0] if names else "tonari",
        "MPI's fastest constructor of a graph",
    )
    init = [row["median_us"] for row in rows if row["algorithm"] == "auto"]
    if not init:
        return [said]
    ends = dict.fromkeys(output.time(end(init)) for end in (min, max))
    return [said, f"Making a request that tonari chooses takes {' to '.join(ends)}."]


def of_inplace(rows: Sequence[Row]) -> list[str]:
    """A sentence for each kind of exchange: MPI does the general one with a second buffer only."""
    against = {
        "symmetric": (("native-inplace", "sendrecv-replace"), "the best of MPI in place"),
        "general": (("native-out-of-place",), "MPI with a second buffer"),
    }
    said = []
    for kind, (names, whom) in against.items():
        members = [row for row in rows if row["exchange"] == kind]
        if not members:
            continue
        budgets = dict.fromkeys(row["budget_bytes"] for row in members)
        of_budget = [  # MPI's rows have none, and stand beside all of them
            row | {"case": budget}
            for budget in budgets
            for row in members
            if budget is not None and row["budget_bytes"] in (None, budget)
        ] or members
        parts = [_on_ranks, lambda row: f"in {output.short_size(row.get('case') or 0)}"]
        who, ours = _chosen(members, _has_budget, _algorithm, ["auto"])
        said.append(_verdict(of_budget, parts, ours, partial(_is_one_of, names), who, whom))
    return said


def _has_budget(row: Row) -> bool:
    return row["budget_bytes"] is not None


def _algorithm(row: Row) -> str:
    return str(row["algorithm"])


def _is_one_of(names: Sequence[str], row: Row) -> bool:
    return row["algorithm"] in names


def of_halo(rows: Sequence[Row]) -> list[str]:
    def same_work(row: Row) -> bool:
        return (
            not mpi(row)
            and row["exchange"] not in halo_summary.FLOORS
            and row["exchange"] not in OTHER_HALOS
        )

    def mpi(row: Row) -> bool:
        return row["exchange"] in ("pack", "datatypes")

    parts = [lambda row: f"at {row['size']}³"]
    who, ours = _chosen(rows, same_work, halo_summary.label, ["array/auto"])
    more = _fastest_storage(rows, parts, same_work, mpi) if who == "tonari (array/auto)" else ""
    return [_verdict(rows, parts, ours, mpi, who, "the best of plain MPI", more)]


def _fastest_storage(rows: Sequence[Row], parts: list[Part], ours: Test, mpi: Test) -> str:
    """; mapped/zero-byte, the fastest, 30 to 40 times. Empty if that is array/auto."""
    best = {}
    for row in halo_summary.typical(rows):
        if ours(row) and right(row):
            before = best.setdefault(row["size"], row)
            best[row["size"]] = min(before, row, key=lambda one: one["median_us"])
    names = dict.fromkeys(halo_summary.label(row) for row in best.values())
    cases = compare(rows, parts, ours, mpi)
    if list(names) == ["array/auto"] or not cases:
        return ""
    return f"; {' or '.join(names)}, the fastest here, {span(cases)} times"


def of_spmv(rows: Sequence[Row]) -> list[str]:
    label = spmv_summary.label
    measured, predicted = spmv_summary.measured(rows), spmv_summary.simulated(rows)
    said = []
    if measured:
        other = {"start-with", "two-requests"}
        parts = [lambda row: f"for {row['kind']}", _on_ranks]
        who, ours = _chosen(
            measured,
            lambda row: label(row) not in NATIVE and label(row) not in other,
            label,
            ["vector/auto", "auto"],
        )
        said.append(_verdict(measured, parts, ours, lambda row: label(row) in NATIVE, who))
    for ranks in dict.fromkeys(row["ranks"] for row in predicted):
        said.append(_prediction([row for row in predicted if row["ranks"] == ranks], ranks))
    return said


def _prediction(rows: Sequence[Row], ranks: int) -> str:
    times = {row["candidate"]: row["predicted_us"] for row in rows if right(row)}
    best = min(times, key=lambda name: times[name], default="")
    if "direct" not in times or not times[best]:
        return f"No verdict on {ranks:,} ranks: direct was not predicted."
    if best == "direct":
        return f"Predicted, not measured: on {ranks:,} ranks nothing is faster than direct."
    ratio = span([Case("", (times["direct"] / times[best],))])
    return f"Predicted, not measured: on {ranks:,} ranks {best} is {ratio} times as fast as direct."


def of_sparse(rows: Sequence[Row]) -> list[str]:
    mpi = partial(_is_one_of, ("counts", "dense", "plain-nbx"))
    who, ours = _chosen(rows, lambda row: not mpi(row), _algorithm, ["auto"])
    whom = "the best of what programs write with MPI"
    return [_verdict(rows, [_on_ranks, _at_bytes], ours, mpi, who, whom, missing="counts")]


def _at_bytes(row: Row) -> str:
    return f"at {output.short_size(row['bytes'])}"


def _on_ranks(row: Row) -> str:
    return f"on {row['ranks']:,} rank{'s' if row['ranks'] > 1 else ''}"


def _chosen(rows: Sequence[Row], ours: Test, label: Part, preferred: list[str]) -> tuple[str, Test]:
    """Whom the sentence is about, and its rows: what programs get where nothing is forced, else the
    fastest that ran."""
    names = dict.fromkeys(label(row) for row in rows if ours(row))
    for name in [*preferred, *(names if len(names) == 1 else [])]:
        if name in names:
            return f"tonari ({name})", lambda row: label(row) == name
    return "the fastest of tonari", ours


def _verdict(
    rows: Sequence[Row],
    parts: Sequence[Part],
    ours: Test,
    mpi: Test,
    who: str,
    whom: str = BEST,
    more: str = "",
    missing: str = "native",
) -> str:
    cases = compare(rows, parts, ours, mpi)
    said = sentence(cases, who, whom) + more if cases else ""
    said = said or nothing_to_compare(rows, ours, mpi, missing)
    said = "; ".join([said, *(caveats(rows, cases) if cases else [])]) + "."
    return said if said.startswith("tonari") else said[0].upper() + said[1:]
