# SPDX-License-Identifier: BSD-3-Clause
"""What the default loses: a request that chooses by itself beside each way it may choose from, in
one run. The fastest way is found by the odd rounds and compared by the even ones, since the best of
many is flattered by the rounds that chose it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from tonari.benchmark.launch import Mpi, launch
from tonari.benchmark.presets import Run
from tonari.benchmark.summary import Row, label, mpi_of, repeats
from tonari.output import short_size

DEFAULT = "auto"
ENOUGH = 0.95  # of the best: what differs by less is equal on a shared machine
KEYS = ("mpi", "mpi_version", "pattern", "op", "ranks", "hosts", "bytes")  # of an exchange
STATES = ("cold", "remembered")  # before and after the host has seen this exchange
SIZES = "8,512,4096,65536"


@dataclass(frozen=True)
class Case:
    """A pattern on so many ranks, of one host or spread over several."""

    pattern: str
    ranks: int
    hosts: int = 0

    def loop(self) -> list[str]:
        """How many exchanges a round has in a row, as a program's loop does, and how many come
        before: more than a race takes. Between hosts an exchange takes so long that only the
        default can afford that."""
        if self.hosts:
            return ["--batch", "8", "--lead-in", "330", "--warmup", "1"]
        return ["--batch", "24", "--warmup", "16"]


CASES = (
    *(Case(pattern, 2) for pattern in ("moore:3:1", "star:2:1", "clique:2")),
    *(Case(pattern, 4) for pattern in ("moore:2:1", "random:0.5")),
    *(Case(pattern, 8) for pattern in ("moore:3:1", "star:3:1", "random:0.3", "random:0.5")),
    Case("moore:3:1", 27, hosts=27),
)


def measure(
    mpi: Mpi,
    case: Case,
    op: str,
    sizes: str,
    common: list[str],
    progress: Callable[[str], None],
) -> list[Row]:
    """Rows of one case, cold and then remembered."""
    rows: list[Row] = []
    run = Run(case.pattern, op, sizes, "forced").arguments()
    with tempfile.TemporaryDirectory(prefix="tonari-regret-") as folder:  # no choice is known yet
        for state in STATES:
            found = launch(
                mpi,
                case.ranks,
                run + case.loop() + ["--tune", "online"] + common,
                case.hosts,
                lambda line, state=state: progress(f"{line}, {case.ranks} ranks, {state}"),
                {"TONARI_CACHE_DIR": folder},
            )
            rows += [row | {"state": state, "hosts": case.hosts} for row in found]
    return rows


def _exchange(row: Row) -> tuple[Any, ...]:
    return tuple(row[key] for key in KEYS)


def losses(rows: list[Row]) -> list[Row]:
    """One row for each exchange: the fastest way, and the default's part of its speed by state; the
    median of the repeats each."""
    found = []
    for members in repeats(rows, _exchange):
        first = members[0]
        loss = {key: first[key] for key in KEYS}
        for state in STATES:
            runs = repeats(
                (row for row in members if row["state"] == state), lambda row: row["repeat"]
            )
            pairs = [_best_and_default(run) for run in runs]
            ratios = [best["even_us"] / default["even_us"] for best, default in pairs]
            best, default = pairs[0]
            loss |= {
                f"{state}_best": label(best),
                f"{state}_best_us": best["even_us"],
                f"{state}_chosen": default["chosen"],
                f"{state}_us": default["even_us"],
                f"{state}_ratio": round(median(ratios), 3),
                f"{state}_ratios": [round(ratio, 3) for ratio in ratios],
                # by bad luck of one run nothing is missed
                f"{state}_missed": all(ratio < ENOUGH for ratio in ratios),
            }
        found.append(loss)
    return found


def _best_and_default(run: list[Row]) -> tuple[Row, Row]:
    default = next(row for row in run if label(row) == DEFAULT)
    others = [row for row in run if label(row) != DEFAULT and row["verified"]]
    return min(others, key=lambda row: row["odd_us"]), default


TITLES = ("pattern", "ranks", "MPI", "block", *STATES)


def table(found: list[Row]) -> str:
    """The losses as CSV: ratios from the lowest of the repeats to the highest."""
    lines = [",".join(TITLES)]
    for row in found:
        ratios = (row[f"{state}_ratios"] for state in STATES)
        lines.append(
            ",".join(
                (
                    row["pattern"],
                    where(row),
                    mpi_of(row),
                    short_size(row["bytes"]),
                    *(f"{min(each):.2f} to {max(each):.2f}" for each in ratios),
                )
            )
        )
    return "\n".join(lines) + "\n"


def where(row: Row) -> str:
    """On how many ranks of one host, or on how many hosts: `8`, `27 hosts`."""
    return f"{row['hosts']} hosts" if row["hosts"] else str(row["ranks"])


def verdict(found: list[Row]) -> str:
    """The sentence below the table."""
    parts = []
    for state in STATES:
        kept = sum(not row[f"{state}_missed"] for row in found)
        parts.append(f"{kept} of {len(found)} {state}")
    return f"at least {ENOUGH} of the best: " + ", ".join(parts)
