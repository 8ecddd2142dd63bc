# SPDX-License-Identifier: BSD-3-Clause
"""What `tonari simulate --sweep` found: where a claim about scale turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any

from tonari.reproduce.figures import Rows

PARAMETERS = {"o": "overhead", "L": "latency", "G": "time per byte"}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Sweep:
    """One pattern and size, over the parameters of a network."""

    name: str  # with the size
    times: Rows
    sentence: str


def swept(name: str, rows: Rows) -> Sweep:
    """With a sentence of the fastest algorithm, and where another one takes its place."""
    times = [row for row in rows if row["kind"] == "time"]
    turns = [row for row in rows if row["kind"] == "turn"]
    if not times:
        return Sweep(name, [], f"{name}: nothing was simulated.")
    at_one = next(row for row in times if row["factor"] == 1 and row["fastest"])
    where = f"{name}, on {at_one['ranks']:,} ranks"
    head = f"{where}: {at_one['algorithm']} is the fastest on the model's machine."
    told = [_turn(row) for row in sorted(turns, key=lambda row: abs(log(row["factor"])))]
    least, most = (f([row["factor"] for row in times]) for f in (min, max))
    still = [word for key, word in PARAMETERS.items() if key not in {t["parameter"] for t in turns}]
    if still:
        span = f"from 1/{1 / least:.0f} of it to {most:.0f} times"
        told.append(f"{_listed(still).capitalize()} {span} changes nothing.")
    return Sweep(name, times, " ".join([head, *told]))


def _turn(row: Row) -> str:
    """A sentence, seen from the model's machine: who is the fastest beyond the turn."""
    word, factor = PARAMETERS[row["parameter"]], row["factor"]
    if factor >= 1:
        return f"Above {factor:.1f} times the {word}, {row['algorithm']} is."
    return f"Below 1/{1 / factor:.1f} of the {word}, {row['instead_of']} is."


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
