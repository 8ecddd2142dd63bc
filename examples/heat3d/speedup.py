# SPDX-License-Identifier: BSD-3-Clause
"""How fast tonari's exchange is beside native MPI's: in words, and as bars of text."""

from math import prod

from rich.console import Console
from rich.text import Text

NATIVE, TONARI = "#D55E00", "#0072B2"  # two of Okabe and Ito's colors
WIDEST = 40  # columns of the longest bar
EQUAL = 0.05  # a ratio nearer to 1 than this is noise


def microseconds(value: float) -> str:
    return f"{value:,.1f} µs" if value < 100 else f"{value:,.0f} µs"


def times_as_fast(report: dict) -> str:
    ratio = report["ratio"]
    if abs(ratio - 1) < EQUAL:
        return "as fast as native MPI"
    return f"{ratio:.2g} times as fast as native MPI"


def where(report: dict) -> str:
    """Ranks and cores of a run."""
    ranks, cores = prod(report["ranks"]), report["cores"]
    if ranks <= cores:
        return f"{ranks} ranks, a core each"
    return f"{ranks} ranks on {cores} core{'s' * (cores > 1)}"


def break_even_steps(report: dict) -> int:
    """After how many steps tonari's exchanges had saved its setup for good; 0: not within these."""
    saved, last_in_debt = -report["setup_ms"] * 1e3, 0
    steps = zip(report["native_steps_us"], report["tonari_steps_us"], strict=True)
    for number, (native, tonari) in enumerate(steps, 1):
        saved += native - tonari
        if saved < 0:
            last_in_debt = number
    return last_in_debt + 1 if last_in_debt < number else 0


def break_even(report: dict) -> str:
    """When the setup had paid, as the two exchanges of each step were timed."""
    setup = f"setup took {report['setup_ms']:,.1f} ms"
    if steps := break_even_steps(report):
        return f"break-even after {steps} step{'s' * (steps > 1)} ({setup})"
    (_, native, _), (_, tonari, _) = medians(report)
    if abs(report["ratio"] - 1) < EQUAL or native < tonari:
        return f"no break-even within {report['steps']} steps ({setup})"
    needed = report["setup_ms"] * 1e3 / (native - tonari)
    return f"break-even after about {needed:,.0f} steps at this rate ({setup})"


def medians(report: dict) -> list[tuple[str, float, str]]:
    """Name, microseconds and color of both exchanges."""
    named = (("native", NATIVE), ("tonari", TONARI))
    return [(name, report[f"{name}_us"][1], color) for name, color in named]


def show_first(console: Console, report: dict) -> None:
    """The number to remember."""
    ratio = report["ratio"]
    said = f"{ratio:.2g} times as fast" if abs(ratio - 1) >= EQUAL else "as fast"
    style = "bold green" if ratio >= 1 + EQUAL else "bold"
    title = f"Exchanges {said} as native MPI's: {where(report)}, {break_even(report)}"
    console.print(Text(title, style=style), soft_wrap=True)
    console.print()


def sharing(report: dict) -> str:
    """What such a run means."""
    ranks, cores = prod(report["ranks"]), report["cores"]
    if ranks <= cores:
        return ""
    return "Ranks that share a core mostly wait for their turn on it, whatever exchanges blocks."


def show(console: Console, report: dict) -> None:
    """One run as two bars."""
    title = Text(f"{where(report)}: {times_as_fast(report)}", style="bold")
    console.print(title, soft_wrap=True)
    if note := sharing(report):
        console.print(Text(f"  {note}"), soft_wrap=True)
    longest = max(median for _, median, _ in medians(report))
    for name, median, color in medians(report):
        bar = "█" * max(1, round(WIDEST * median / longest))
        console.print(
            Text(f"  {name}  ").append(bar, color).append(f" {microseconds(median)}"),
            soft_wrap=True,
        )
    console.print(Text(f"  {break_even(report)}"), soft_wrap=True)
