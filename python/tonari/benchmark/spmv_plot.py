"""Time over ranks, a picture per kind and a line per candidate; beside them a bar for what each
scheme is predicted to take on more ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tonari.benchmark.plot import save
from tonari.benchmark.spmv_summary import KINDS, label, series, simulated, typical

Row = dict[str, Any]


def draw(rows: list[Row], file: Path) -> None:
    import matplotlib  # takes a while, and only plots need it

    matplotlib.use("Agg")
    from matplotlib import pyplot

    kinds = {
        kind: members
        for kind in KINDS
        if (members := [row for row in typical(rows) if row["kind"] == kind])
    }
    predicted = simulated(rows)
    count = len(kinds) + bool(predicted)
    columns = min(count, 3) if count != 4 else 2
    lines = -(-count // columns)
    figure, axes = pyplot.subplots(
        lines, columns, figsize=(7.2 * columns, 4.8 * lines), squeeze=False, layout="constrained"
    )
    panels = iter(axes.flat)
    for kind, members in kinds.items():
        _panel(next(panels), KINDS[kind], members)
    if predicted:
        _predictions(next(panels), predicted)
    for axis in panels:
        axis.set_visible(False)
    figure.suptitle(_title(rows[0]))
    save(figure, file)
    pyplot.close(figure)


def _title(row: Row) -> str:
    where = (
        f"; {row['mpi']} {row['mpi_version']}, median of the slowest rank" if row.get("mpi") else ""
    )
    return f"{row['matrix']}: {row['rows']:,} rows, {row['nonzeros']:,} nonzeros{where}"


def _panel(axis: Any, title: str, rows: list[Row]) -> None:
    for number, (name, points) in enumerate(series(rows).items()):
        style = (
            {"color": "black", "linestyle": "--"}
            if name == "native"
            else {"color": f"C{number % 10}", "linestyle": "-" if number < 10 else "-."}
        )
        axis.plot(*zip(*points), label=name, marker="o", markersize=4, linewidth=1.4, **style)
    counts = sorted({row["ranks"] for row in rows})
    axis.set_xscale("log", base=2)
    axis.set(
        xlabel="ranks",
        xticks=counts,
        xticklabels=[str(count) for count in counts],
        ylabel="µs",
        yscale="log",
        title=title,
    )
    axis.minorticks_off()
    axis.grid(alpha=0.3)
    if axis.get_lines():
        axis.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))


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
        )
    axis.set(
        yticks=range(len(names)),
        yticklabels=names,
        xscale="log",
        xlabel="µs",
        title="forward exchange, predicted under LogGP",
    )
    axis.invert_yaxis()
    axis.grid(alpha=0.3, axis="x")
    axis.legend(fontsize="small")
