# SPDX-License-Identifier: BSD-3-Clause
"""Draws the demo's picture: the middle plane of the field at three times, the decay of the modes
beside the exact one, and the times of the exchanges."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from speedup import break_even, medians, microseconds, times_as_fast, where

COLORS = [
    "#0072B2",
    "#009E73",
    "#E69F00",
    "#D55E00",
    "#CC79A7",
]  # Okabe and Ito's, told apart by everyone
LOWEST = 1e-6  # where the decay plot ends


def draw(report: dict, runs: list[dict], slices: np.ndarray, path: Path) -> None:
    """report: the run whose field is drawn; runs: those whose exchanges are."""
    figure = plt.figure(figsize=(11, 7.6), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[1.25, 1])
    draw_slices(above, report, slices)
    left, right = below.subfigures(1, 2, width_ratios=[1.55, 1])
    draw_decay(left.subplots(), report)
    for axis, run in zip(right.subplots(len(runs), 1, squeeze=False)[:, 0], runs, strict=True):
        draw_times(axis, run)
    x, y, z = (report["points"] * r for r in report["ranks"])
    figure.suptitle(
        f"Heat on a periodic {x} × {y} × {z} grid, 27-point stencil, "
        f"{np.prod(report['ranks'])} ranks, {report['mpi']}",
        fontsize=13,
    )
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_slices(figure, report: dict, slices: np.ndarray) -> None:
    limit = np.abs(slices[0]).max()
    axes = figure.subplots(1, len(slices), sharey=True)
    for axis, step, values in zip(axes, report["slice_steps"], slices):
        rows, columns = values.shape
        image = axis.imshow(
            values,
            cmap="RdBu_r",
            vmin=-limit,
            vmax=limit,
            origin="lower",
            extent=(0, columns, 0, rows),
            interpolation="nearest",
        )
        for border in range(report["points"], columns, report["points"]):
            axis.axvline(border, color="black", linewidth=0.6, linestyle=(0, (4, 4)), alpha=0.6)
        for border in range(report["points"], rows, report["points"]):
            axis.axhline(border, color="black", linewidth=0.6, linestyle=(0, (4, 4)), alpha=0.6)
        axis.set_title("start" if step == 0 else f"after {step} steps", fontsize=11)
        axis.set_xlabel("z")
        axis.set_xticks(np.arange(0, columns + 1, report["points"]))
        axis.set_yticks(np.arange(0, rows + 1, report["points"]))
    axes[0].set_ylabel("y")
    figure.colorbar(image, ax=axes, shrink=0.9, pad=0.015, label="temperature, middle plane")


def draw_decay(axis, report: dict) -> None:
    steps = np.array([sample["step"] for sample in report["samples"]])
    content = np.array([sample["content"] for sample in report["samples"]])
    fine = np.linspace(0, report["steps"], 400)
    for mode, measured, color in zip(report["modes"], content.T, COLORS):
        axis.plot(fine, mode["eigenvalue"] ** fine, color=color, linewidth=1.4)
        shown = measured > LOWEST
        axis.plot(
            steps[shown],
            measured[shown],
            "o",
            color=color,
            markersize=4.5,
            markerfacecolor="white",
            clip_on=False,
            zorder=3,
        )
        label_mode(axis, mode, color, report["steps"])
    axis.plot([], [], color="0.35", linewidth=1.4, label=r"exact: $\lambda_k^n$")
    axis.plot(
        [],
        [],
        "o",
        color="0.35",
        markersize=4.5,
        markerfacecolor="white",
        label="computed with tonari",
    )
    axis.legend(loc="upper right", frameon=True, fontsize=9, bbox_to_anchor=(1.0, 0.62))
    axis.set(
        yscale="log",
        xlim=(0, report["steps"] * 1.1),
        ylim=(LOWEST, 1.6),
        xlabel="step n",
        ylabel="amplitude, relative to the start",
    )
    axis.grid(True, which="major", color="0.9", linewidth=0.8)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_title(
        f"decay of the modes: largest error of the field {report['error_tonari']:.0e}", fontsize=11
    )


def draw_times(axis, run: dict) -> None:
    """Medians as bars, with whiskers from quartile to quartile."""
    for place, (name, median, color) in enumerate(medians(run)):
        first, _, third = run[f"{name}_us"]
        axis.barh(place, median, color=color, height=0.62)
        axis.plot([first, third], [place + 0.23] * 2, color="0.25", linewidth=1.2)
        inside = {"color": "white", "fontsize": 9, "va": "center"}
        axis.text(
            0.02,
            place,
            f"{name}  {microseconds(median)}",
            transform=axis.get_yaxis_transform(),
            **inside,
        )
    axis.set(yticks=[], xlim=(0, None), ylim=(1.5, -0.5))
    axis.set_xlabel(break_even(run), fontsize=9)
    axis.set_title(f"{where(run)}:\n{times_as_fast(run)}", fontsize=11, loc="left")
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right", "left"]].set_visible(False)


def label_mode(axis, mode: dict, color: str, last: int) -> None:
    """Beside the line's end, or where it leaves the plot."""
    name = f"k = ({', '.join(f'{k:.0f}' for k in mode['k'])})"
    end = mode["eigenvalue"] ** last
    if end > LOWEST * 3:
        axis.annotate(
            name,
            (last, end),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=9,
        )
    else:
        step = np.log(LOWEST * 4) / np.log(mode["eigenvalue"])
        axis.annotate(
            name,
            (step, LOWEST * 4),
            xytext=(8, 5),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=9,
        )
