"""Time over ranks, and the memory that it takes beside it: one line per algorithm and budget."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tonari import output
from tonari.benchmark.plot import save

Row = dict[str, Any]
STYLES = ["-", "--", ":", "-."]  # of the budgets, smallest first
MARKERS = {"auto": "o", "shared": "^", "p2p-packed": "s", "mpi": "o"}


def label(row: Row, channels: bool = False) -> str:
    """The algorithm, with its budget and, where several were asked for, its channel."""
    if row["budget_bytes"] is None:
        return str(row["algorithm"])
    return f"{row['algorithm']}, {output.size(row['budget_bytes'])}" + (
        f", {row['requested_channel']}" if channels else ""
    )


def exchanges(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by kind of exchange: symmetric, general."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["exchange"], []).append(row)
    return found


def series(rows: list[Row]) -> dict[str, list[Row]]:
    """Points over ranks; wrong results have none."""
    several = len({row["requested_channel"] for row in rows if row["budget_bytes"] is not None}) > 1
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["verified"]:
            found.setdefault(label(row, several), []).append(row)
    return {
        name: sorted(points, key=lambda point: point["ranks"]) for name, points in found.items()
    }


def draw(rows: list[Row], file: Path) -> None:
    import matplotlib  # takes a while, and only plots need it

    matplotlib.use("Agg")
    from matplotlib import pyplot

    kinds = exchanges(rows)
    figure, axes = pyplot.subplots(
        len(kinds), 2, figsize=(15, 4.8 * len(kinds)), squeeze=False, layout="constrained"
    )
    for (time, memory), (kind, members) in zip(axes, kinds.items()):
        _draw_kind(time, memory, kind, members)
    first = rows[0]
    figure.suptitle(
        f"{first['mpi']} {first['mpi_version']}, {output.size(first['total_bytes'])} per "
        f"rank, {first['sizes']} sizes"
    )
    save(figure, file)
    pyplot.close(figure)


def _draw_kind(time: Any, memory: Any, kind: str, rows: list[Row]) -> None:
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    budgets = sorted({row["budget_bytes"] for row in rows if row["budget_bytes"] is not None})
    for name, points in series(rows).items():
        row = points[0]
        budget = row["budget_bytes"]
        style = {
            "color": f"C{algorithms.index(row['algorithm']) % 10}",
            "linestyle": STYLES[budgets.index(budget) % 4] if budget is not None else "-",
        }
        style |= {
            "marker": MARKERS[row["requested_channel"]],
            "markersize": 4,
            "linewidth": 1.4,
            "label": name,
        }
        ranks = [point["ranks"] for point in points]
        time.plot(ranks, [point["median_us"] / 1e3 for point in points], **style)
        time.fill_between(
            ranks,
            [p["q1_us"] / 1e3 for p in points],
            [p["q3_us"] / 1e3 for p in points],
            alpha=0.15,
            color=style["color"],
            linewidth=0,
        )
        memory.plot(ranks, [point["peak_extra_bytes"] for point in points], **style)
    time.set(
        ylabel="ms", yscale="log", title=f"{kind}: time, median and quartiles of the slowest rank"
    )
    memory.set(title=f"{kind}: extra memory at its peak, the most of all ranks")
    memory.set_yscale("symlog", linthresh=4096, base=4)  # nothing at all is a result, too
    memory.yaxis.set_major_formatter(lambda count, _: output.size(int(count)))
    counts = sorted({row["ranks"] for row in rows})
    for axis in (time, memory):
        axis.set_xscale("log", base=2)
        axis.set(xlabel="ranks", xticks=counts, xticklabels=[str(count) for count in counts])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    memory.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
