# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari advise`, on standard error: the program has the other."""

from __future__ import annotations

from rich.console import Console

from tonari import output
from tonari.advice import code
from tonari.advice.exchanges import Exchange, Job
from tonari.advice.rows import advice, heading, is_worth_it, messages, neighbors


def show(job: Job) -> None:
    """A paragraph for each exchange, with code for those that are worth it."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    lines = heading(job)
    for line in ["tonari: " + lines[0], *lines[1:]]:
        console.print(line)
    for one in job.exchanges:
        console.print()
        for line in paragraph(one, job):
            console.print(line)
    if job.packings:
        console.print()
    for packing in job.packings:
        console.print(
            f"{packing.site}: {packing.call} {packing.calls:,} times, "
            f"{output.size(packing.bytes)}, {output.time(packing.seconds * 1e6)}"
        )


def paragraph(one: Exchange, job: Job) -> list[str]:
    """Where, what, how long, and what to do."""
    where = f" in {one.function}" if one.function else ""
    turn = f", pattern {one.number} of {one.patterns}" if one.patterns > 1 else ""
    lines = [f"{one.site}{where}: {one.call}, {one.epochs:,} times{turn}"]
    if one.is_steady:
        lines.append(f"  {messages(one)} to {neighbors(one)}")
        if one.is_collective:
            lines.append(f"  of {one.communicator} ranks it could send to")
        lines += ["  " + line for line in times(one, job)]
    else:
        lines.append(f"  {neighbors(one)}: {100 * one.steady:.0f} % come again")
    lines.append(f"  {advice(one, job)}")
    if is_worth_it(one, job):
        lines += ["", *("    " + line for line in code.lines(one))]
    return lines


def times(one: Exchange, job: Job) -> list[str]:
    """41.0 µs of 180.0 µs per step (22.8 % of the run)
    replayed: by the MPI 25.0 µs, by tonari 12.0 µs (linear over shared)"""
    lines = [f"{output.time(one.exchange_us)} of {output.time(one.step_us)} per step"]
    lines[0] += f" ({100 * one.share(job):.1f} % of the run)"
    if one.mpi_us is not None and one.tonari_us is not None:
        by_mpi, by_tonari = output.time(one.mpi_us), output.time(one.tonari_us)
        lines.append(f"replayed: by the MPI {by_mpi}, by tonari {by_tonari} ({one.how})")
        if one.exchange_us > 2 * one.mpi_us:
            lines.append("most of the time in it is waiting for ranks that are late")
    return lines
