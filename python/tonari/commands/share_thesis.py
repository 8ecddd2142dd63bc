# SPDX-License-Identifier: BSD-3-Clause
"""tonari share --thesis: message sharing as the thesis has it (Duymuş 2021), beside tonari's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tonari import output
from tonari.benchmark.report import report
from tonari.communication import Communication
from tonari.core import core
from tonari.errors import ARGUMENT, Error
from tonari.sharing_plot import draw
from tonari.thesis_tables import ALGORITHMS, Compared, json_rows
from tonari.views.thesis import show

THREADS = 2  # each plans and prices one scheme, without the interpreter's lock
ONE_FILE = {
    "--partition": "has the owners of one matrix",
    "--schedule": "writes one schedule",
    "--plot": "draws one pattern",
}


def share_thesis(
    paths: list[str],
    read: Callable[[str], Communication],
    write: Callable[[Communication, str, Path], None],
    *,
    schedule: Path | None,
    partition: str | None,
    json: bool,
    file: Path | None,
    plot: Path | None,
) -> None:
    """Plans each file, and prints. read, write: the command's own. The schedule is that of both
    phases."""
    given = {"--partition": partition, "--schedule": schedule, "--plot": plot}
    for option, why in ONE_FILE.items():
        if given[option] and len(paths) > 1:
            raise Error(f"{option} {why}, and here are {len(paths)} files; give one", ARGUMENT)
    patterns = []
    for path in paths:
        with output.status(f"planning {path}"):
            pattern = read(path)
            patterns.append(compare(name_of(path), pattern))
        if schedule:
            write(pattern, "thesis-2", schedule)
    report(
        json_rows(patterns),
        json=json,
        file=file,
        plot=plot,
        draw=lambda _, picture: draw(list(patterns[0].answers.values()), paths[0], picture),
        show=lambda _: show(patterns),
    )


def compare(name: str, pattern: Communication) -> Compared:
    """An answer per scheme of the tables. Some cannot be used on few ranks, others on very many."""
    c = core()
    matrix = c.CommunicationMatrix(pattern.ranks, pattern.senders, pattern.receivers, pattern.words)
    there = {scheme for scheme, _, _ in c.sharing_schemes(pattern.ranks)} | {*c.thesis_schemes()}
    schemes = [scheme for scheme in ALGORITHMS.values() if scheme in there]

    def plan(scheme: str) -> Any:
        return matrix.analyze(scheme, "", c.LogGP())

    with ThreadPoolExecutor(THREADS) as pool:
        answers = dict(zip(schemes, pool.map(plan, schemes), strict=True))
    return Compared(name, pattern.ranks, answers, matrix.thesis_counts())


def name_of(path: str) -> str:
    """sparsine of tests/data/comm512/sparsine.mtx.gz"""
    return Path(Path(path).name.removesuffix(".gz")).stem
