"""Zhao et al. 2021, Figures 8 to 10 and Table 2, over the size of the subdomain: steps, exchanges,
computing, padding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tonari import output
from tonari.benchmark.halo_summary import FLOORS, PAGES, computing, label, series
from tonari.benchmark.plot import save

Row = dict[str, Any]
STYLES = {"array": "-", "brick": "--", "mapped": "-."}


def draw(rows: list[Row], file: Path) -> None:
    import matplotlib  # takes a while, and only plots need it

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(16, 10), layout="constrained")
    (exchange, step), (compute, padding) = axes
    _draw_exchanges(exchange, rows, "median_us", "one exchange (Figure 9)")
    _draw_exchanges(step, rows, "step_us", "one step, its part of an exchange included (Figure 8)")
    _draw_computing(compute, rows)
    _draw_padding(padding, rows)
    first = rows[0]
    points = "" if first["stencil"] == "none" else f", {first['stencil']} points"
    figure.suptitle(
        f"{first['mpi']} {first['mpi_version']}, {first['ranks']} ranks as {first['dims']}, "
        f"ghosts of {first['ghost']} cells{points}; median of the slowest rank"
    )
    counts = sorted({row["size"] for row in rows})
    for axis in axes.flat:
        axis.set_xscale("log", base=2)
        axis.set(
            xlabel="own cells along each dimension",
            xticks=counts,
            xticklabels=[str(count) for count in counts],
        )
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        if axis.get_lines():
            axis.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, file)
    pyplot.close(figure)


def _draw_exchanges(axis: Any, rows: list[Row], key: str, title: str) -> None:
    names = list(dict.fromkeys(row["exchange"] for row in rows))
    kinds = {label(row): row for row in rows}
    for name, points in series(rows, key).items():
        row = kinds[name]
        style = {
            "color": f"C{names.index(row['exchange']) % 10}",
            "linestyle": STYLES.get(row["storage"], ":"),
            "marker": "o",
            "markersize": 3,
        }
        if row["exchange"] in FLOORS:
            style |= {"color": "gray", "marker": "", "zorder": 1}
        axis.plot(*zip(*points), label=name, **style)
    axis.set(ylabel="µs", yscale="log", title=title)


def _draw_computing(axis: Any, rows: list[Row]) -> None:
    for name, points in computing(rows).items():
        style = (
            {"color": "gray", "linestyle": ":"}
            if name == "read and write"
            else {"linestyle": "--"}
            if name.endswith("loops")
            else {"marker": "o", "markersize": 3}
        )
        axis.plot(*zip(*points), label=name, **style)
    axis.set(ylabel="µs", yscale="log", title="own cells computed once (Figure 10)")


def _draw_padding(axis: Any, rows: list[Row]) -> None:
    for page in PAGES:
        points = sorted({row["size"]: row[f"padding_percent_{page}"] for row in rows}.items())
        axis.plot(*zip(*points), label=f"pages of {output.size(page)}", marker="o", markersize=3)
    axis.set_yscale("symlog", linthresh=1)  # none at all is a result, too
    axis.set(ylabel="%", title="what padding adds to memmap's messages (Table 2)")
