"""Time over block size: one picture per pattern and operation, one line per algorithm, with its
quartiles as a band."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tonari.benchmark.summary import FLOOR, panels, series
from tonari.errors import ARGUMENT, Error

SUFFIXES = {".png", ".svg", ".pdf"}


def check_file(file: Path) -> None:
    """Before anything is measured."""
    if file.suffix not in SUFFIXES:
        raise Error(
            f"--plot writes {', '.join(sorted(SUFFIXES))} files; {file.name} is none of them",
            ARGUMENT,
        )


def draw(rows: list[dict[str, Any]], file: Path) -> None:
    import matplotlib  # takes a while, and only plots need it

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = panels(rows)
    columns = len(found) if len(found) < 4 else 2 if len(found) == 4 else 3
    lines = -(-len(found) // columns)
    figure, axes = pyplot.subplots(
        lines, columns, figsize=(6.4 * columns, 4.6 * lines), squeeze=False, layout="constrained"
    )
    for axis, (title, members) in zip(axes.flat, found.items()):
        _panel(axis, title, members)
    for axis in list(axes.flat)[len(found) :]:
        axis.set_visible(False)
    figure.suptitle(_where(rows[0]))
    save(figure, file)
    pyplot.close(figure)


def save(figure: Any, file: Path) -> None:
    try:
        figure.savefig(file, dpi=150)
    except OSError as error:
        raise Error(f"cannot write {file}: {error.strerror}") from error


def _where(row: dict[str, Any]) -> str:
    hosts = f" on {row['hosts']} hosts" if row["hosts"] else ""
    return (
        f"{row['mpi']} {row['mpi_version']}, {row['ranks']} ranks{hosts}; median and quartiles "
        "of the slowest rank"
    )


def _panel(axis: Any, title: str, rows: Iterable[dict[str, Any]]) -> None:
    for label, points in series(rows).items():
        sizes = [point["bytes"] for point in points]
        if label == FLOOR:  # a line to compare with: no points, no band, no color of an algorithm
            axis.plot(
                sizes,
                [point["median_us"] for point in points],
                label=label,
                color="gray",
                linewidth=0.8,
                linestyle="--",
                zorder=1,
            )
            continue
        style = (
            {"linewidth": 1.6, "color": "black", "linestyle": "--", "zorder": 5}
            if label == "auto"
            else {"linewidth": 1.4}
        )
        (line,) = axis.plot(
            sizes,
            [point["median_us"] for point in points],
            marker="o",
            markersize=3,
            label=label,
            **style,
        )
        axis.fill_between(
            sizes,
            [p["q1_us"] for p in points],
            [p["q3_us"] for p in points],
            alpha=0.2,
            color=line.get_color(),
            linewidth=0,
        )
    axis.set(xscale="log", yscale="log", xlabel="bytes per block", ylabel="µs", title=title)
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
