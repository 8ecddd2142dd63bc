# SPDX-License-Identifier: BSD-3-Clause
"""tonari share --thesis: message sharing as the thesis has it (Duymuş 2021), beside tonari's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tonari import interruptible, output
from tonari.benchmark.report import report
from tonari.communication import Communication
from tonari.core import core
from tonari.errors import ARGUMENT, Error
from tonari.sharing_plot import draw
from tonari.thesis_tables import ALGORITHMS, Compared, json_rows
from tonari.views.thesis import show

COUNTS = "counts"  # a task beside the schemes: what the thesis's algorithms count
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
    check_one_file({"--partition": partition, "--schedule": schedule, "--plot": plot}, paths)
    read_patterns = read_all(paths, read)
    patterns = compare_all([name_of(path) for path in paths], read_patterns)
    if schedule:
        with output.status(f"writing {schedule}"):
            write(read_patterns[0], "thesis-2", schedule)
    report(
        json_rows(patterns),
        json=json,
        file=file,
        plot=plot,
        draw=lambda _, picture: draw(list(patterns[0].answers.values()), paths[0], picture),
        show=lambda _: show(patterns),
    )


def check_one_file(given: dict[str, Any], paths: list[str]) -> None:
    """Options that mean one file, and what was given for each."""
    for option, why in ONE_FILE.items():
        if given[option] and len(paths) > 1:
            raise Error(f"{option} {why}, and here are {len(paths)} files; give one", ARGUMENT)


def read_all(paths: list[str], read: Callable[[str], Communication]) -> list[Communication]:
    """All files, before anything is planned: so a mistake in the last one is told at once."""
    found: list[Communication] = []
    try:
        for path in paths:
            with output.status(f"reading {path}"):
                found.append(read(path))
    except KeyboardInterrupt:
        missing = len(paths) - len(found)
        raise interruptible.Interrupted(
            f"stopped; {missing} of {len(paths)} files are not read, and nothing is planned"
        ) from None
    return found


def compare_all(names: list[str], patterns: list[Communication]) -> list[Compared]:
    """An answer per pattern and scheme of the tables."""
    model = core().LogGP()
    matrices = [
        core().CommunicationMatrix(one.ranks, one.senders, one.receivers, one.words)
        for one in patterns
    ]
    tasks = [(k, task) for k, one in enumerate(patterns) for task in tasks_of(one.ranks)]

    def work(task: tuple[int, str]) -> Any:
        k, scheme = task
        return (
            matrices[k].thesis_counts()
            if scheme == COUNTS
            else matrices[k].analyze(scheme, "", model)
        )

    done = interruptible.run(
        work,
        tasks,
        doing=f"planning {len(patterns):,} patterns" if len(patterns) > 1 else "planning",
        left_out=lambda missing: f"stopped; {missing} of {len(tasks)} plans are not made",
    )
    found: list[dict[str, Any]] = [{} for _ in patterns]
    for (k, scheme), answer in zip(tasks, done, strict=True):
        found[k][scheme] = answer
    return [
        Compared(name, one.ranks, answers, answers.pop(COUNTS))
        for name, one, answers in zip(names, patterns, found, strict=True)
    ]


def tasks_of(ranks: int) -> list[str]:
    """Some schemes cannot be used on few ranks, others on very many."""
    there = {scheme for scheme, _, _ in core().sharing_schemes(ranks)} | {*core().thesis_schemes()}
    return [COUNTS, *(scheme for scheme in ALGORITHMS.values() if scheme in there)]


def name_of(path: str) -> str:
    """sparsine of tests/data/comm512/sparsine.mtx.gz"""
    return Path(Path(path).name.removesuffix(".gz")).stem
