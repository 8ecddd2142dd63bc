# SPDX-License-Identifier: BSD-3-Clause
"""Time over ranks, a picture per kind and a line per candidate; beside them a bar for what each
scheme is predicted to take on more ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tonari.benchmark import style
from tonari.benchmark.spmv_summary import KINDS, label, series, simulated, typical
from tonari.benchmark.summary import OTHER_WORK, mpi_of
from tonari.benchmark.verdicts import NATIVE

Row = dict[str, Any]


def draw(rows: list[Row], file: Path) -> None:
    style.save(make(rows), file)


def make(rows: list[Row]) -> Any:
    """The figure."""
    kinds = {
        kind: members
        for kind in KINDS
        if (members := [row for row in typical(rows) if row["kind"] == kind])
    }
    predicted = simulated(rows)
    count = len(kinds) + bool(predicted)
    columns = min(count, 3) if count != 4 else 2
    figure, axes = style.make_figure(-(-count // columns), columns, 7.2, 4.8)
    panels = iter(axes.flat)
    missing: list[str] = []
    for kind, members in kinds.items():
        missing += _panel(next(panels), KINDS[kind], members)
    if predicted:
        _predictions(next(panels), predicted)
    for axis in panels:
        axis.set_visible(False)
    return style.finish(
        figure, _title(rows[0]), style.left_out(missing, "--candidates", len(kinds))
    )


def _title(row: Row) -> str:
    where = f"; {mpi_of(row)}, median of the slowest rank" if row.get("mpi") else ""
    return f"{row['matrix']}: {row['rows']:,} rows, {row['nonzeros']:,} nonzeros{where}"


def _panel(axis: Any, title: str, rows: list[Row]) -> list[str]:
    """Draws the lines; the names of those that are left out."""
    found = series(rows)
    of_mpi = sum((style.fastest(found, names) for names in (NATIVE[:3], NATIVE[3:])), [])
    drawn, missing = style.choose(found, ["vector/auto", *of_mpi], [*NATIVE, *OTHER_WORK])
    for name, look in style.looks(drawn).items():
        axis.plot(*zip(*found[name]), label=name, **look.of_line())
    axis.set(xlabel="ranks", ylabel="µs", yscale="log", title=title)
    style.mark(axis, (row["ranks"] for row in rows))
    return missing


def _predictions(axis: Any, rows: list[Row]) -> None:
    names, counts = (
        list(dict.fromkeys(label(row) for row in rows)),
        sorted({row["ranks"] for row in rows}),
    )
    height = 0.8 / len(counts)
    for number, count in enumerate(counts):
        found = [row for row in rows if row["ranks"] == count]
        axis.barh(
            [names.index(label(row)) + (number - (len(counts) - 1) / 2) * height for row in found],
            [row["predicted_us"] for row in found],
            height,
            label=f"{count:,} ranks",
            color=style.PALETTE[number % len(style.PALETTE)],
        )
    times = [row["predicted_us"] for row in rows]
    axis.set(
        yticks=range(len(names)),
        yticklabels=names,
        xscale="log" if max(times) > 20 * min(times) else "linear",
        xlabel="µs",
        title="forward exchange, predicted under LogGP",
    )
    axis.invert_yaxis()
    axis.legend(fontsize=style.SMALL)
