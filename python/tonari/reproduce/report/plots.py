# SPDX-License-Identifier: BSD-3-Clause
"""Points as plots for plotly, which the page has inlined and draws when they are seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tonari.reproduce.claims import number
from tonari.reproduce.figures import PLANNED, RAN, Plot, Point
from tonari.reproduce.outcome import Outcome
from tonari.reproduce.sweeps import PARAMETERS, Sweep

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6b6b6b", "#8c5a2b")
PUBLISHED = "published"
DASHES = {RAN: "solid", PLANNED: "solid", PUBLISHED: "dash"}  # else dotted: simulated
SYMBOLS = {RAN: "circle", PLANNED: "square", PUBLISHED: "x-thin-open"}
Drawing = dict[str, Any]
TITLE, PLOT, AXIS, LINE = 40, 280, 60, 20  # pixels from top to bottom; a line of the legend
WORDS = 150  # instead of an axis, where its labels are words on end
MOST_LABELS, FEW_DECADES = 8, 300
FACTORS = [1 / 16, 1 / 4, 1, 4, 16]  # of sweeps, of which every other one has a label


def panels(outcome: Outcome) -> list[str]:
    """Of our own points, in their order."""
    return list(dict.fromkeys(point.panel for point in outcome.points))


def drawings(outcome: Outcome) -> Iterator[Drawing]:
    """One for each panel: our points, and beside them the published ones."""
    plot = outcome.figure.plot
    for panel in panels(outcome):
        own = [point for point in outcome.points if point.panel == panel]
        printed = [point for point in outcome.published if point.panel == panel]
        if plot.matrix:
            yield _matrix(panel, own, printed, plot)
            continue
        colors = _colors(point.series for point in (*own, *printed))
        kinds = list(dict.fromkeys(point.how for point in own))
        traces = [_trace(lines, how, colors, plot) for how in kinds for lines in _lines(own, how)]
        traces += [_trace(lines, PUBLISHED, colors, plot) for lines in _lines(printed, "")]
        yield {"data": traces, "layout": _layout(panel, plot, traces)}


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


def _matrix(panel: str, own: Sequence[Point], printed: Sequence[Point], plot: Plot) -> Drawing:
    """A row for each series. A published number stands in its cell, too."""
    rows, columns = sorted({p.series for p in own}), sorted({str(p.x) for p in own})
    numbers = {(point.series, str(point.x)): point.y for point in own}
    theirs = {(point.series, str(point.x)): point.y for point in printed}

    def cell(row: str, column: str) -> str:
        at = (row, column)
        there = f"<br>published {theirs[at]:g}" if at in theirs else ""
        return f"{numbers[at]:g}{there}" if at in numbers else ""

    trace = {
        "type": "heatmap",
        "x": columns,
        "y": rows,
        "z": [[numbers.get((row, column)) for column in columns] for row in rows],
        "text": [[cell(row, column) for column in columns] for row in rows],
        "texttemplate": "%{text}",
        "textfont": {"size": 11},
        "colorscale": [[0, "#e8f1f8"], [1, "#56B4E9"]],
        "showscale": False,
        "hovertemplate": "%{y}, %{x}: " + plot.y + " %{z}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    layout = _layout(f"{panel}: {plot.y}", plot)
    layout |= {"height": TITLE + PLOT + AXIS, "showlegend": False}
    layout["xaxis"] |= {"type": "category", "title": {"text": ""}}
    layout["yaxis"] |= {"type": "category", "autorange": "reversed", "title": {"text": ""}}
    return {"data": [trace], "layout": layout}


def _layout(title: str, plot: Plot, traces: Sequence[Drawing] = ()) -> Drawing:
    """As high as its legend needs, which has a line for each trace below the plot."""
    legend, axis = LINE * len(traces), WORDS if plot.bars else AXIS
    return {
        "title": {"text": title, "font": {"size": 14}, "x": 0, "xref": "paper", "xanchor": "left"},
        "xaxis": _axis(plot.x, plot.log_x and not plot.bars, _values(traces, "x")),
        "yaxis": _axis(plot.y, plot.log_y, ()) | _decades(plot.log_y, _values(traces, "y")),
        "legend": {"x": 0, "y": -axis / PLOT, "yanchor": "top"},
        "margin": {"l": 60, "r": 10, "t": TITLE, "b": axis + legend},
        "barmode": "group",
        "height": TITLE + PLOT + axis + legend,
        "showlegend": True,
    }


def _values(traces: Sequence[Drawing], axis: str) -> list[float]:
    """All numbers along an axis, each once; none where they are words."""
    found = {value for trace in traces for value in trace[axis]}
    return [] if any(isinstance(value, str) for value in found) else sorted(found)


def _axis(title: str, log: bool, values: Sequence[float]) -> Drawing:
    """Few values have a label each."""
    axis: Drawing = {"title": {"text": title}, "gridcolor": "#e3e8ed", "automargin": True}
    axis |= {"exponentformat": "none", "separatethousands": True}
    if log:
        axis |= {"type": "log", "dtick": 1}
    if 0 < len(values) <= MOST_LABELS:
        labels = [_fraction(value) for value in values]
        axis |= {"tickmode": "array", "tickvals": list(values), "ticktext": labels}
    return axis


def _decades(log: bool, values: Sequence[float]) -> Drawing:
    """Powers of ten have a label each, between few of them 2 and 5, too. Within one, plotly finds
    labels."""
    if not log or not values or values[0] <= 0 or values[-1] > FEW_DECADES * values[0]:
        return {}
    return {"dtick": "D2" if values[-1] > 10 * values[0] else None}


def _fraction(value: float) -> str:
    """1/16, 0.25, 4,096"""
    return f"1/{1 / value:.0f}" if 0 < value < 0.1 else number(value)


def sweep_drawings(sweep: Sweep) -> Iterator[Drawing]:
    """Times of each algorithm over the factor of each parameter."""
    plot = Plot("times the model's", "µs")
    for key, word in PARAMETERS.items():
        rows = [row for row in sweep.times if row["parameter"] == key]
        points = [Point(key, row["algorithm"], row["factor"], row["predicted_us"]) for row in rows]
        colors = _colors(point.series for point in points)
        traces = [_trace(lines, "simulated", colors, plot) for lines in _lines(points, "")]
        layout = _layout(f"{sweep.name}: {word}", plot, traces)
        layout["xaxis"] |= {"tickvals": FACTORS, "ticktext": [_fraction(x) for x in FACTORS]}
        yield {"data": traces, "layout": layout}
