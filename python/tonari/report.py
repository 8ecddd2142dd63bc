# SPDX-License-Identifier: BSD-3-Clause
"""What `tonari plan` finds out: the rows, the closed forms they are checked against, the proofs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tonari.closed_forms import (
    ClosedForm,
    closed_forms,
    steps_on_torus,
    volume_allgather,
    volume_alltoall,
)
from tonari.errors import ALGORITHM, INTERNAL, Error
from tonari.grids import radii
from tonari.neighborhood import Exchange, Neighborhood


@dataclass(frozen=True)
class Comparison:
    """A number of the paper's section 3 by its formula, and as counted in the plan."""

    symbol: str
    meaning: str
    formula: int
    planned: int


@dataclass
class Report:
    """All that is printed, for people or for programs."""

    near: Neighborhood
    exchange: Exchange
    op: str
    rows: list[Any]  # applicable algorithms
    refused: list[Any]  # the others, each with its reason
    chosen: Any  # the row that is drawn: the one asked for, or the one predicted fastest
    forms: dict[str, ClosedForm] = field(
        default_factory=dict
    )  # per algorithm; empty where the grid is too small for them
    section3: list[Comparison] = field(default_factory=list)
    proved: list[str] = field(default_factory=list)  # algorithms and variants whose plans passed
    proved_on: Neighborhood | None = None


def make_report(
    near: Neighborhood, exchange: Exchange, op: str, algorithm: str, variants: bool
) -> Report:
    """Analyzes all algorithms and checks their plans against the closed forms; algorithm: the one
    asked for, or empty."""
    asked = _asked(exchange, algorithm, variants)
    answers = _with_rows(exchange.plans(variants=variants), asked)
    rows = [row for row in answers if not row.reason]
    chosen = min(asked or rows, key=lambda row: row.predicted_us)
    report = Report(near, exchange, op, rows, [row for row in answers if row.reason], chosen)
    if _is_large(near, exchange):
        report.forms = closed_forms(near.offsets, op)
        report.section3 = (
            _section3(near, exchange) if "torus" in {row.algorithm for row in rows} else []
        )
    _check(report)
    return report


def _with_rows(answers: list[Any], asked: list[Any]) -> list[Any]:
    """The answers with the rows of the algorithm asked for in the place of its own."""
    if not asked:
        return answers
    names = [row.algorithm for row in answers]
    at = names.index(asked[0].algorithm)
    return answers[:at] + asked + answers[at + names.count(asked[0].algorithm) :]


def _asked(exchange: Exchange, algorithm: str, variants: bool) -> list[Any]:
    """The rows of the algorithm that is asked for, planned wherever it is possible."""
    asked = exchange.plans(algorithm, variants=variants) if algorithm else []
    if asked and asked[0].reason:
        raise Error(f"{algorithm} cannot be used here: {asked[0].reason}", ALGORITHM)
    return asked


def _is_large(near: Neighborhood, exchange: Exchange) -> bool:
    """Where the closed forms hold: no two offsets meet, and the rank has all its neighbors."""
    for p, wraps, r, here in zip(
        near.dims, near.periodic, radii(near.offsets), exchange.position, strict=True
    ):
        if (p < 2 * r + 1) if wraps else (here < r or here + r >= p):
            return False
    return True


def _section3(near: Neighborhood, exchange: Exchange) -> list[Comparison]:
    alltoall = near.exchange("alltoall", rank=exchange.rank).counts("torus")
    allgather = near.exchange("allgather", rank=exchange.rank).counts("torus")
    return [
        Comparison("D", "rounds", steps_on_torus(near.offsets), alltoall.messages),
        Comparison(
            "V", "blocks, all-to-all", volume_alltoall(near.offsets), alltoall.volume_blocks
        ),
        Comparison(
            "W", "blocks, allgather", volume_allgather(near.offsets), allgather.volume_blocks
        ),
    ]


def _check(report: Report) -> None:
    for row in report.rows:
        form = form_of(report, row)
        if form and (row.rounds, row.messages, row.volume_blocks) != (
            form.rounds,
            form.rounds,
            form.volume,
        ):
            raise Error(
                f"{row.algorithm} sends {row.messages} messages with {row.volume_blocks} "
                "blocks, but the offsets ask for"
                f" {form.rounds} and {form.volume}: please report this",
                INTERNAL,
            )
    for c in report.section3:
        if c.formula != c.planned:
            raise Error(
                f"{c.symbol} is {c.formula} by its formula, but {c.planned} in the plan: "
                "please report this",
                INTERNAL,
            )


def form_of(report: Report, row: Any) -> ClosedForm | None:
    """The closed form that the row was checked against, if there is one."""
    return None if row.variant else report.forms.get(row.algorithm)


def prove_plans(report: Report, near: Neighborhood, exchange: Exchange, algorithm: str) -> None:
    """Runs the reference executor on `near` for every variant of the algorithm, or of all; raises
    if one is wrong."""
    report.proved_on = near
    for name, variant in exchange.variants(algorithm):
        label = f"{name} ({variant})" if variant else name
        if wrong := exchange.prove(name, variant):
            raise Error(f"the plans of {label} are wrong: {wrong}", INTERNAL)
        report.proved.append(label)


def json_row(report: Report, row: Any) -> dict[str, Any]:
    """A flat row; the fields from closed_form_rounds on may be null."""
    form = form_of(report, row)
    return {
        "algorithm": row.algorithm,
        "variant": row.variant,
        "op": report.op,
        "dims": "x".join(map(str, report.near.dims)),
        "periodic": ",".join("1" if p else "0" for p in report.near.periodic),
        "neighbors": len(report.near.offsets),
        "rank": report.exchange.rank,
        "rounds": row.rounds,
        "depth": row.depth,
        "messages": row.messages,
        "volume_blocks": row.volume_blocks,
        "bytes": row.bytes,
        "scratch_blocks": row.scratch_blocks,
        "predicted_us": row.predicted_us,
        "crossover_bytes": row.crossover_bytes,
        "closed_form_rounds": form.rounds if form else None,
        "closed_form_volume": form.volume if form else None,
        "proved": any(label.split(" ")[0] == row.algorithm for label in report.proved) or None,
    }
