# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari advise`, on standard error: the program has the other."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable

from rich.console import Console

from tonari import output
from tonari.advice import code
from tonari.advice.exchanges import CountedCall, Exchange, Job, Loop
from tonari.advice.rows import (
    advice,
    changes,
    heading,
    is_worth_it,
    loop_advice,
    loop_code,
    messages,
    neighbors,
    of_the_run,
    unclear,
)
from tonari.advice.summary import summary

MOST_SHOWN = 12  # exchanges, and all that take as much of the run as:
ALWAYS_SHOWN = 0.01
SELDOM_SHOWN = 0.001  # less than that is left out
MOST_OF_A_PLACE = 6  # in its paragraph, and all that take as much


def show(job: Job) -> None:
    """A paragraph for each exchange, with code for those that are worth it."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    lines = heading(job)
    for line in ["tonari: " + lines[0], *lines[1:]]:
        console.print(line)
    shown = [
        loop
        for k, loop in enumerate(job.loops)
        if of_the_run(loop.seconds, job) >= (SELDOM_SHOWN if k < MOST_SHOWN else ALWAYS_SHOWN)
    ]
    for loop in shown:
        console.print()
        for line in paragraph(loop, job):
            console.print(line)
    for line in [*left_out(job, job.loops[len(shown) :]), *map(counted(job), job.packings)]:
        console.print(line)
    for line in to_run(job):
        console.print(line)
    if text := summary(job):
        console.print("In short, for an issue of the program:\n")
        console.print("\n".join(textwrap.wrap(text, 78)))


def to_run(job: Job) -> list[str]:
    """Neighborhood collectives: those that took the most time, and what to do about all."""
    places = sorted(job.neighborhoods, key=lambda one: -one.seconds)
    if not places:
        return []
    more = len(places) - MOST_OF_A_PLACE
    return [
        *map(counted(job), places[:MOST_OF_A_PLACE]),
        *([f"and {more} more place{'s' * (more > 1)}"] if more > 0 else []),
        "  `tonari run` speeds these up, in the program as it is",
        "",
    ]


def left_out(job: Job, loops: list[Loop]) -> list[str]:
    """What has no paragraph, with its share."""
    seconds = job.left_out + sum(loop.seconds for loop in loops)
    if of_the_run(seconds, job) < 0.0005:
        return [""]
    named = f"{len(loops)} more places, and " if loops else ""
    share = f"{100 * of_the_run(seconds, job):.1f} % of the run"
    return ["", f"left out: {named}what came less than three times: {share}", ""]


def counted(job: Job) -> Callable[[CountedCall], str]:
    """The line of a place that packs, or calls a neighborhood collective."""

    def line(one: CountedCall) -> str:
        size = f", {output.size(one.bytes)}" if one.bytes else ""
        share = f"{100 * of_the_run(one.seconds, job):.1f} % of the run"
        return f"{one.site}: {one.call} {one.calls:,} times{size}, {share}"

    return line


def paragraph(loop: Loop, job: Job) -> list[str]:
    """Of a place: what ends there, how long it takes, and what to do."""
    if len(loop.exchanges) > 1:
        return several(loop, job)
    [one] = loop.exchanges
    lines = [*headline(f"{place(one)}: {one.call}, {one.epochs:,} times"), *body(one, job)]
    if not (one.why and one.is_steady):  # which has been said
        lines += wrapped(advice(one, job))
    if is_worth_it(one, job):
        lines += ["", *("    " + line for line in code.lines(one))]
    return lines


def wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, 78, initial_indent="  ", subsequent_indent="  ")


def headline(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, 80, subsequent_indent="    ")


def place(one: Exchange) -> str:
    return one.site + (f" in {one.function}" if one.function else "")


def body(one: Exchange, job: Job) -> list[str]:
    """Who sends what to whom, and how long that takes."""
    lines = wrapped(f"called from {one.callers[0]}") if one.callers else []
    if not one.is_steady:
        return [
            *lines,
            f"  {neighbors(one)}: {100 * one.steady:.0f} % of the time comes again",
            f"  {100 * one.share(job):.1f} % of the run",
        ]
    lines += wrapped(", ".join(lines_of_calls(one)))
    lines.append(f"  {messages(one)} to {neighbors(one)}")
    if one.same_sizes:
        lines.append(f"  {changes(one)}")
    if one.is_collective:
        lines.append(f"  of {one.communicator} ranks it could send to")
    return lines + ["  " + line for line in times(one, job)]


def lines_of_calls(one: Exchange) -> list[str]:
    """MPI_Irecv at halo.c:60, MPI_Isend at halo.c:70 to 90: where messages begin."""
    by_call: dict[tuple[str, str], list[int]] = defaultdict(list)
    found: list[str] = []
    for place_ in one.places:
        call, _, site = place_.partition(" at ")
        file, _, line = site.rpartition(":")
        if file and line.isdigit():
            by_call[call, file].append(int(line))
        elif site != one.site:
            found.append(place_)
    for (call, file), numbers in by_call.items():
        first, last = min(numbers), max(numbers)
        if f"{file}:{first}" != one.site or first != last:
            found.append(f"{call} at {file}:{first}" + (f" to {last}" if last > first else ""))
    return found


def several(loop: Loop, job: Job) -> list[str]:
    """Exchanges at one place, a few lines each, and what they would be as one."""
    first, count = loop.exchanges[0], len(loop.exchanges)
    share = f"{100 * of_the_run(loop.seconds, job):.1f} % of the run"
    lines = headline(f"{place(first)}: {first.call}, {count} kinds of exchange, {share}")
    shown = [
        one
        for k, one in enumerate(loop.exchanges)
        if k < MOST_OF_A_PLACE or one.share(job) >= ALWAYS_SHOWN
    ]
    told = [body(one, job) for one in shown]
    same = [line for line in told[0] if all(line in other for other in told)]
    lines += same
    for number, (one, own) in enumerate(zip(shown, told, strict=True), 1):
        rest = [line.strip() for line in own if line not in same]
        lines.append(f"  {number}. {one.epochs:,} times{', ' + rest[0] if rest else ''}")
        lines += ["     " + line for line in rest[1:]]
    if len(shown) < count:
        rest_of_it = sum(one.share(job) for one in loop.exchanges if one not in shown)
        lines.append(f"  and {count - len(shown)} more: {100 * rest_of_it:.1f} % of the run")
    lines += as_one(loop)
    said = loop_advice(loop, job)
    lines += [] if said.startswith("not replayed") else wrapped(said)
    written = loop_code(loop, job)
    return lines + (["", *("    " + line for line in written)] if written else [])


def as_one(loop: Loop) -> list[str]:
    """What comes in turn, if it was replayed as one exchange."""
    one = loop.together
    if one is None or one.mpi_us is None or one.tonari_us is None or loop.parts < 2:
        return []
    both = f"by the MPI {output.time(one.mpi_us)}, by tonari {output.time(one.tonari_us)}"
    return [
        *wrapped(f"{loop.parts} in turn, as one exchange with {messages(one)}"),
        *wrapped(f"to {neighbors(one)}: {both} ({one.how})"),
    ]


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
        if one.exchange_us > 2 * one.mpi_us and not unclear(one, job):
            lines.append("most of the time in it is waiting for ranks that are late")
    elif one.why:
        lines.append(f"not replayed: {one.why}")
    return lines
