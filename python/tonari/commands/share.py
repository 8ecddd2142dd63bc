# SPDX-License-Identifier: BSD-3-Clause
"""tonari share: fewer messages for the busiest rank of an irregular pattern."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tonari import interruptible, output
from tonari.benchmark.plot import check_file
from tonari.benchmark.report import report
from tonari.commands.options import Json, Machine, Output
from tonari.commands.share_front import share_front
from tonari.commands.share_thesis import share_thesis
from tonari.communication import Communication, read_communication, read_product
from tonari.core import core
from tonari.errors import ALGORITHM, FILE, Error
from tonari.sharing_front import SETTINGS, Comparison, Limit, Point, compare, points
from tonari.sharing_plot import draw
from tonari.suggestion import did_you_mean
from tonari.views.share import show, show_front

POINT = "balanced/"  # goes on with the stages, the price and the words of a point on its front


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(share)


def share(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Matrix Market file or METIS graph, plain or .gz; several with --thesis "
            "or --front.",
            show_default=False,
        ),
    ],
    parts: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="P",
            help="Number of ranks to distribute the columns over.",
            show_default=False,
        ),
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Owners of the columns, one number per line; default: found by Mt-KaHyPar.",
            show_default=False,
        ),
    ] = None,
    communication: Annotated[
        bool,
        typer.Option(
            "--communication",
            help="Entry (i, j) of the file is what rank i sends to rank j, in words.",
        ),
    ] = False,
    schemes: Annotated[
        str,
        typer.Option(
            metavar="S,S,...",
            help="direct, store-and-forward/2, ..., sharing-1, sharing-2, balanced, "
            "balanced/3 stages price 5, ..., or thesis-1, thesis-2; default: all but these two.",
        ),
    ] = "",
    machine: Machine = "",
    front: Annotated[
        bool,
        typer.Option(
            "--front",
            help="Plan balanced with every setting, and compare the best with each other scheme; "
            "of several files, geometric means.",
        ),
    ] = False,
    thesis: Annotated[
        bool,
        typer.Option(
            "--thesis",
            help="Message sharing exactly as its thesis has it, beside tonari's: messages before "
            "and after both phases; of several files, their geometric means, too.",
        ),
    ] = False,
    schedule: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write who sends which blocks to whom, of the one scheme that --schemes names; "
            "with --front into a folder, of each point. Programs run it by tonari_schedule.",
        ),
    ] = None,
    json: Json = False,
    file: Output = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png", help="Draw messages per rank before and after (.png, .svg, .pdf)."
        ),
    ] = None,
) -> None:
    """Fewer messages for the busiest rank of an irregular pattern: every planner's counts.

    The pattern is that of y = A x by columns: partial results of y_i go to the
    owner of column i, each a word of 8 bytes. store-and-forward/N goes along N
    dimensions; sharing-1 and sharing-2 are message sharing after Phase I and II.
    Where its bottleneck cannot be lowered, it is set aside and the next busiest
    rank goes on (the thesis's text stops there). balanced is tonari's own, at
    several points between few words and few messages.

    Example:  tonari share matrix.mtx.gz --parts 512 --plot messages.svg

    Example:  tonari share words512.mtx --communication --json

    Example:  tonari share --thesis --communication sparsine.mtx.gz fe_pwt.mtx.gz
    """
    if communication and partition:
        raise typer.BadParameter(
            "--partition assigns the columns of a matrix; it does not go with --communication"
        )
    if plot:
        check_file(plot)

    def read(path: str) -> Communication:
        if communication:
            return read_communication(path, parts)
        return read_product(path, parts, partition)

    if thesis:
        if schemes or front or machine:
            raise typer.BadParameter(
                "--thesis compares schemes of its own by their messages; leave out --schemes, "
                "--front and --machine"
            )
        share_thesis(
            paths,
            read,
            write_schedule,
            schedule=schedule,
            partition=partition,
            json=json,
            file=file,
            plot=plot,
        )
        return
    if len(paths) > 1 and not front:
        raise typer.BadParameter(
            f"here are {len(paths)} files; give one, or add --thesis or --front"
        )
    if len(paths) > 1:
        share_front(
            paths,
            read,
            lambda pattern, doing: _compare(pattern, schemes, machine, f"planning {doing}"),
            given={"--partition": partition, "--schedule": schedule, "--plot": plot},
            json=json,
            file=file,
        )
        return
    (path,) = paths
    try:
        with output.status(f"reading {path}"):
            pattern = read(path)
    except KeyboardInterrupt:
        raise interruptible.Interrupted(
            f"stopped; {path} is not read, and nothing is planned"
        ) from None
    doing = f"planning for {pattern.ranks:,} ranks"
    answers = analyze(pattern, schemes, machine, doing)
    settings = analyze_settings(pattern, answers, machine, f"{doing}, the front") if front else []
    comparisons = compare(_others(answers), settings) if front else []
    files: dict[Point, Path] = {}
    if schedule and front:
        files = write_front(pattern, points(comparisons), schedule)
    elif schedule:
        with output.status(f"writing {schedule}"):
            write_schedule(pattern, schemes, schedule)
    rows = [json_row(answer, pattern) for answer in answers]
    rows += [json_row(answer, pattern) | {"variant": str(setting)} for setting, answer in settings]
    if schedule and front:
        written = [""] * len(answers) + [str(files.get(setting, "")) for setting, _ in settings]
        rows = [row | {"schedule": file} for row, file in zip(rows, written, strict=True)]

    def table(_: object) -> None:
        show(pattern, answers, path, machine)
        if front:
            show_front(comparisons, files, _inputs(pattern, "")[0].runs_by_name)

    report(
        rows,
        json=json,
        file=file,
        plot=plot,
        draw=lambda _, picture: draw(answers, path, picture),
        show=table,
    )


def analyze(
    pattern: Communication, schemes: str = "", machine: str = "", doing: str = ""
) -> list[Any]:
    """An answer per scheme, balanced at several points of its front, its default last. doing: what
    a bar says."""
    chosen = _chosen(core().sharing_schemes(pattern.ranks), schemes)
    matrix, model = _inputs(pattern, machine)
    return interruptible.run(
        lambda scheme: matrix.analyze(*scheme, model),
        chosen,
        doing=doing,
        left_out=lambda missing: f"stopped; {missing} of {len(chosen)} schemes are not planned",
    )


def _others(answers: list[Any]) -> list[Any]:
    """Those that the front is compared with."""
    return [answer for answer in answers if answer.scheme not in ("direct", "balanced")]


def _compare(pattern: Communication, schemes: str, machine: str, doing: str) -> list[Comparison]:
    answers = analyze(pattern, schemes, machine, doing)
    settings = analyze_settings(pattern, answers, machine, f"{doing}, the front")
    return compare(_others(answers), settings)


def write_schedule(pattern: Communication, schemes: str, path: Path) -> None:
    """The schedule of the one scheme that is named."""
    chosen = _chosen(core().sharing_schemes(pattern.ranks), schemes)
    if len(chosen) != 1:
        raise Error(
            f"--schedule writes the schedule of one scheme, and here are {len(chosen)}; name one "
            "with --schemes, such as sharing-2 or 'balanced/3 stages'",
            ALGORITHM,
        )
    _write(path, _inputs(pattern, "")[0].schedule(*chosen[0]))


def write_front(pattern: Communication, front: Sequence[Point], folder: Path) -> dict[Point, Path]:
    """A file with the schedule of each point. They are planned once more."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"{folder}: cannot make a folder: {error.strerror}", FILE) from error
    matrix, _ = _inputs(pattern, "")

    def text(point: Point) -> str:
        return str(matrix.schedule("balanced", str(point)))

    files = {point: folder / f"{point.name()}.txt" for point in front}
    interruptible.run(
        text,
        front,
        doing=f"writing schedules to {folder}",
        left_out=lambda missing: (
            f"stopped; {missing} of {len(front)} schedules are not in "
            f"{folder}, and those there are whole"
        ),
        finish=lambda point, found: _write(files[point], found),
    )
    return files


def _write(path: Path, text: str) -> None:
    """The whole file or none, even if Ctrl-C comes in between."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(text, encoding="ascii")
        part.replace(path)
    except OSError as error:
        raise Error(f"{path}: cannot write the schedule: {error.strerror}", FILE) from error
    finally:
        part.unlink(missing_ok=True)


def analyze_settings(
    pattern: Communication, answers: list[Any], machine: str = "", doing: str = ""
) -> list[tuple[Point, Any]]:
    """balanced with all of SETTINGS, and within the words of each other scheme that is given.
    doing: what a bar says."""
    matrix, model = _inputs(pattern, machine)
    limits = sorted({max(answer.words, 1.0) for answer in _others(answers)})
    every: list[Point] = [*SETTINGS, *map(Limit, limits)]

    def plan(point: Point) -> Any:
        if isinstance(point, Limit):
            return matrix.analyze_within(point.words, model)
        return matrix.analyze_balanced(point.stages, point.price, point.words, model)

    return list(
        zip(
            every,
            interruptible.run(
                plan,
                every,
                doing=doing,
                left_out=lambda missing: (
                    f"stopped; {missing} of {len(every)} points of the front are not planned"
                ),
            ),
            strict=True,
        )
    )


def _inputs(pattern: Communication, machine: str) -> tuple[Any, Any]:
    c = core()
    model = c.read_machine_file(machine) if machine else c.LogGP()
    matrix = c.CommunicationMatrix(pattern.ranks, pattern.senders, pattern.receivers, pattern.words)
    if pattern.sums:
        matrix.know_sums(pattern.sums.rows, pattern.sums.parts, pattern.sums.owners)
    return matrix, model


def _chosen(known: list[tuple[str, str, str]], schemes: str) -> list[tuple[str, str]]:
    asked = [core().current_name(name) for name in schemes.split(",")]
    names = asked if schemes else [name for name, _, _ in known]
    thesis = core().thesis_schemes()
    there = dict.fromkeys([*(name for name, _, _ in known), *thesis])
    points = [name for name in names if name.startswith(POINT) and "balanced" in there]
    for name in names:
        if name not in there and name not in points:
            raise Error(
                f"there is no scheme '{name}' here; choose from {', '.join(there)}"
                + did_you_mean(name, there),
                ALGORITHM,
            )
    listed = [(name, variant) for name, variant, _ in known if name in names]
    listed += [(name, "") for name in thesis if name in names]
    return listed + [("balanced", point.removeprefix(POINT)) for point in points]


def json_row(answer: Any, pattern: Communication) -> dict[str, Any]:
    ranks, direct = pattern.ranks, max(int(pattern.words.sum()), 1)
    known = pattern.sums is not None
    return {
        "scheme": answer.scheme,
        "variant": answer.variant,
        "ranks": ranks,
        "avg_messages": answer.avg_messages,
        "max_messages": answer.max_messages,
        "max_recv": answer.max_recv,
        "words": answer.words,
        "max_words": answer.max_words,
        "max_words_recv": answer.max_words_recv,
        "stages": answer.stages,
        "overhead_messages": answer.overhead_messages / ranks,
        "predicted_us": answer.predicted_us,
        "planning_ms": answer.planning_ms,
        "delivered": answer.delivered,
        "added_words": answer.added_words / direct if known else None,
        "added_messages": answer.added_messages / ranks if known else None,
    }
