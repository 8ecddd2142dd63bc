#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Says how far the network may differ before what the pages call the fastest is not, and prints the
table of docs/explanation/simulator.md.

Usage: tools/write_turns.py [--output FILE.csv] [--matrices FOLDER]

Each claim is simulated with o, L or G of the network between a sixteenth and sixteen-fold, the
others as they are, as `tonari simulate --sweep` does. Those about matrices are predicted as `tonari
bench spmv --simulate` does it, at powers of two, and need the matrices of --matrices.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SOURCE / folder) for folder in ("tools", "python", "build/python")]

import judged  # noqa: E402
from tonari import machines  # noqa: E402
from tonari.benchmark.spmv_matrix import Source  # noqa: E402
from tonari.commands.bench_spmv import forward_exchange  # noqa: E402
from tonari.commands.share import analyze  # noqa: E402
from tonari.output import short_size  # noqa: E402
from tonari.simulation import read_machine  # noqa: E402
from tonari.simulation_jobs import jobs_on_grid  # noqa: E402
from tonari.sweep import FACTORS, PARAMETERS, Turn, sweep_jobs  # noqa: E402
from tonari.views.share import label  # noqa: E402
from tonari.views.sweep import factor_text  # noqa: E402

# Pattern, numbers of ranks, sizes and machine: of docs/howto/predict.md, then of simulate.md there.
GRIDS = [
    ("moore:3:1", (64, 4096), (8, 512, 4096), "slingshot-11"),
    ("moore:3:1", (1_000_000,), (8,), ""),
]
MATRICES = ("Andrews",)  # of docs/explanation/busy-ranks.md
PARTS = (512,)  # more take hours
GENERIC = "generic"


def number(factor: float) -> str:
    """Two digits, or a power of two as it is."""
    return factor_text(factor) if factor in FACTORS else f"{factor:.2g}"


def said(turns: Sequence[Turn]) -> str:
    """What else is the fastest, and with which factors."""
    words = [
        f"{turn.before} up to {number(turn.factor)}"
        if turn.factor <= 1
        else f"{turn.after} from {number(turn.factor)} on"
        for turn in turns
    ]
    return "; ".join(words) or "nothing"


def row(
    exchange: str, ranks: int, block: str, machine: str, fastest: str, turns: Sequence[Turn]
) -> dict[str, str]:
    found = {"exchange": exchange, "ranks": f"{ranks:,}", "block": block}
    found |= {"machine": machine or GENERIC, "fastest": fastest}
    return found | {p: said([turn for turn in turns if turn.parameter == p]) for p in PARAMETERS}


def rows_of_grid(
    pattern: str, ranks: int, sizes: Sequence[int], machine: str
) -> Iterator[dict[str, str]]:
    path = machines.find(machine) if machine else ""
    model = read_machine(path, None)
    jobs = jobs_on_grid(pattern, ranks, "", False, "alltoall", list(sizes), [], path, False)
    for sweep in sweep_jobs(jobs, model):
        (fastest, *_) = (p.fastest.algorithm for p in sweep.points if p.factor == 1)
        yield row(pattern, ranks, short_size(sweep.bytes), machine, fastest, sweep.turns)


def turns_of(parameter: str, winners: dict[float, str]) -> Iterator[Turn]:
    """Between two factors next to each other the side away from 1 is named."""
    for (low, before), (high, after) in pairwise(sorted(winners.items())):
        if before != after:
            yield Turn(parameter, low if high <= 1 else high, 0, before, after)


def rows_of_matrix(path: Path, ranks: int) -> Iterator[dict[str, str]]:
    _, pattern = forward_exchange(Source(str(path)), ranks)
    usual = read_machine("", None)

    def fastest(parameter: str, factor: float) -> str:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(f"{parameter}={usual.parameter(parameter) * factor!r} otherwise=generic")
            file.flush()
            answers = analyze(pattern, "", file.name)
        return label(min(answers, key=lambda answer: answer.predicted_us))

    turns: list[Turn] = []
    for parameter in PARAMETERS:
        winners = {factor: fastest(parameter, factor) for factor in FACTORS}
        turns += turns_of(parameter, winners)
    name = path.name.partition(".")[0]
    yield row(name, ranks, "by row", "", winners[1.0], turns)


def rows(folder: Path | None) -> Iterator[dict[str, str]]:
    for pattern, counts, sizes, machine in GRIDS:
        for ranks in counts:
            yield from rows_of_grid(pattern, ranks, sizes, machine)
    for name in MATRICES if folder else ():
        (path,) = folder.glob(f"{name}.*")
        for ranks in PARTS:
            yield from rows_of_matrix(path, ranks)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    options.add_argument("--output", type=Path, help="write the rows there")
    options.add_argument("--matrices", type=Path, help="the folder with Andrews")
    given = options.parse_args()
    found = []
    for each in rows(given.matrices):
        found.append(each)
        print(*each.values(), sep=", ", file=sys.stderr, flush=True)
    if given.output:
        judged.write_rows(found, given.output)
    print(judged.as_table([list(found[0]), *(list(each.values()) for each in found)]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
