# SPDX-License-Identifier: BSD-3-Clause
"""Points as plots for plotly, which the page has inlined and draws when they are seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tonari.reproduce.figures import PLANNED, RAN, Plot, Point
from tonari.reproduce.outcome import Outcome
from tonari.reproduce.sweeps import PARAMETERS, Sweep

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6b6b6b", "#8c5a2b")
PUBLISHED = "published"
DASHES = {RAN: "solid", PLANNED: "solid", PUBLISHED: "dash"}  # else dotted: simulated
SYMBOLS = {RAN: "circle", PLANNED: "square", PUBLISHED: "x-thin-open"}
Drawing = dict[str, Any]


def panels(outcome: Outcome) -> list[str]:
    """Of our own points, in their order."""
    return list(dict.fromkeys(point.panel for point in outcome.points))


def drawings(outcome: Outcome) -> Iterator[Drawing]:
    """One for each panel: our points, and beside them the published ones."""
    plot = outcome.figure.plot
    for panel in panels(outcome):
        own = [point for point in outcome.points if point.panel == panel]
        printed = [point for point in outcome.published if point.panel == panel]
        colors = _colors(point.series for point in (*own, *printed))
        kinds = list(dict.fromkeys(point.how for point in own))
        traces = [_trace(lines, how, colors, plot) for how in kinds for lines in _lines(own, how)]
        traces += [_trace(lines, PUBLISHED, colors, plot) for lines in _lines(printed, "")]
        yield {"data": traces, "layout": _layout(panel, plot)}


def _colors(series: Iterator[str]) -> Mapping[str, str]:
    names = dict.fromkeys(series)
    return {name: COLORS[k % len(COLORS)] for k, name in enumerate(names)}


def _lines(points: Sequence[Point], how: str) -> list[list[Point]]:
    some = [point for point in points if point.how == how]
    names = dict.fromkeys(point.series for point in some)
    return [[point for point in some if point.series == name] for name in names]


def _trace(points: Sequence[Point], how: str, colors: Mapping[str, str], plot: Plot) -> Drawing:
    series = points[0].series
    trace: Drawing = {
        "name": f"{series}, {how}",
        "x": [point.x for point in points],
        "y": [point.y for point in points],
    }
    if any(point.low is not None and point.high is not None for point in points):
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [0 if p.high is None else p.high - p.y for p in points],
            "arrayminus": [0 if p.low is None else p.y - p.low for p in points],
            "thickness": 1,
        }
    if plot.bars:
        pattern = "" if how in (RAN, PLANNED) else "/" if how == PUBLISHED else "."
        return trace | {
            "type": "bar",
            "marker": {"color": colors[series], "pattern": {"shape": pattern}},
        }
    return trace | {
        "type": "scatter",
        "mode": "lines+markers",
        "line": {"color": colors[series], "dash": DASHES.get(how, "dot")},
        "marker": {"symbol": SYMBOLS.get(how, "diamond-open"), "size": 8},
    }


def _layout(title: str, plot: Plot) -> Drawing:
    return {
        "title": {"text": title, "font": {"size": 14}},
        "xaxis": _axis(plot.x, plot.log_x and not plot.bars),
        "yaxis": _axis(plot.y, plot.log_y),
        "legend": {"orientation": "h", "y": -0.25},
        "margin": {"l": 60, "r": 10, "t": 40, "b": 50},
        "barmode": "group",
        "height": 420,
    }


def _axis(title: str, log: bool) -> Drawing:
    # powers of ten have a label each; between them 2 and 5 where there is room
    more = {"type": "log", "dtick": "D2"} if log else {}
    return {"title": {"text": title}, "gridcolor": "#e3e8ed", "automargin": True, **more}


def sweep_drawings(sweep: Sweep) -> Iterator[Drawing]:
    """Times of each algorithm over the factor of each parameter."""
    plot = Plot("times the model's", "µs")
    for key, word in PARAMETERS.items():
        rows = [row for row in sweep.times if row["parameter"] == key]
        points = [Point(key, row["algorithm"], row["factor"], row["predicted_us"]) for row in rows]
        colors = _colors(point.series for point in points)
        traces = [_trace(lines, "simulated", colors, plot) for lines in _lines(points, "")]
        yield {"data": traces, "layout": _layout(f"{sweep.name}: {word}", plot) | {"height": 330}}
