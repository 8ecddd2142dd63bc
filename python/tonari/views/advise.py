# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari advise`, on standard error: the program has the other."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from tonari import output
from tonari.advice import code
from tonari.advice.exchanges import CountedCall, Exchange, Job
from tonari.advice.rows import (
    advice,
    changes,
    heading,
    is_worth_it,
    messages,
    neighbors,
    of_the_run,
)


MOST_SHOWN = 12  # exchanges, and all that take as much of the run as:
ALWAYS_SHOWN = 0.01


def show(job: Job) -> None:
    """A paragraph for each exchange, with code for those that are worth it."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    lines = heading(job)
    for line in ["tonari: " + lines[0], *lines[1:]]:
        console.print(line)
    shown = [
        one
        for k, one in enumerate(job.exchanges)
        if k < MOST_SHOWN or one.share(job) >= ALWAYS_SHOWN
    ]
    for one in shown:
        console.print()
        for line in paragraph(one, job):
            console.print(line)
    for line in [*left_out(job, job.exchanges[len(shown) :]), *map(counted(job), job.packings)]:
        console.print(line)
    for one in job.neighborhoods:
        console.print(counted(job)(one))
        console.print("  `tonari run` speeds it up, in the program as it is")


def left_out(job: Job, exchanges: list[Exchange]) -> list[str]:
    """What has no paragraph, with its share."""
    seconds = job.left_out + sum(one.seconds for one in exchanges)
    if of_the_run(seconds, job) < 0.0005:
        return [""]
    named = f"{len(exchanges)} more kinds of exchange, and " if exchanges else ""
    share = f"{100 * of_the_run(seconds, job):.1f} % of the run"
    return ["", f"left out: {named}what came less than three times: {share}", ""]


def counted(job: Job) -> Callable[[CountedCall], str]:
    """The line of a place that packs, or calls a neighborhood collective."""

    def line(one: CountedCall) -> str:
        size = f", {output.size(one.bytes)}" if one.bytes else ""
        share = f"{100 * of_the_run(one.seconds, job):.1f} % of the run"
        return f"{one.site}: {one.call} {one.calls:,} times{size}, {share}"

    return line


def paragraph(one: Exchange, job: Job) -> list[str]:
    """Where, what, how long, and what to do."""
    where = f" in {one.function}" if one.function else ""
    turn = f", pattern {one.number} of {one.patterns}" if one.patterns > 1 else ""
    lines = [f"{one.site}{where}: {one.call}, {one.epochs:,} times{turn}"]
    if one.callers:
        lines.append(f"  called from {one.callers[0]}")
    if one.is_steady:
        lines.append(f"  {messages(one)} to {neighbors(one)}")
        if one.same_sizes:
            lines.append(f"  {changes(one)}")
        if one.is_collective:
            lines.append(f"  of {one.communicator} ranks it could send to")
        lines += ["  " + line for line in times(one, job)]
    else:
        lines.append(f"  {neighbors(one)}: {100 * one.steady:.0f} % of the time comes again")
        lines.append(f"  {100 * one.share(job):.1f} % of the run")
    lines.append(f"  {advice(one, job)}")
    if is_worth_it(one, job):
        lines += ["", *("    " + line for line in code.lines(one))]
    return lines


def times(one: Exchange, job: Job) -> list[str]:
    """41.0 µs of 180.0 µs per step (22.8 % of the run)
    replayed: by the MPI 25.0 µs, by tonari 12.0 µs (linear over shared)"""
    lines = [f"{output.time(one.exchange_us)} of {output.time(one.step_us)} per step"]
    if one.mean_us > 1.5 * one.exchange_us:
        lines[0] += f", on average {output.time(one.mean_us)}"
    lines[0] += f" ({100 * one.share(job):.1f} % of the run)"
    if one.mpi_us is not None and one.tonari_us is not None:
        by_mpi, by_tonari = output.time(one.mpi_us), output.time(one.tonari_us)
        lines.append(f"replayed: by the MPI {by_mpi}, by tonari {by_tonari} ({one.how})")
        if one.has_room:
            lines.append("with one request that has room for the largest sizes")
        if one.making_us:
            lines.append(f"with {output.time(one.making_us)} for a request after each change")
        if one.exchange_us > 2 * one.mpi_us:
            lines.append("most of the time in it is waiting for ranks that are late")
    return lines
