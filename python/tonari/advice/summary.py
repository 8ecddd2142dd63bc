# SPDX-License-Identifier: BSD-3-Clause
"""The report of `tonari advise` as a paragraph for those who maintain the program."""

from __future__ import annotations

from collections.abc import Iterator

from tonari import output
from tonari.advice.exchanges import Exchange, Job, Loop
from tonari.advice.rows import changes, loop_advice, messages, neighbors, of_the_run, unclear

TOLD = 0.02  # of the run: places that take less are left to the report
MOST_TOLD = 3


def summary(job: Job) -> str:
    """Who exchanges what, what it costs, and what tonari would bring; empty if that is nothing."""
    told = [loop for loop in job.loops if of_the_run(loop.seconds, job) >= TOLD][:MOST_TOLD]
    if not told:
        return ""
    all_of_it = sum(loop.seconds for loop in job.loops) + job.left_out
    run = output.time(job.seconds / job.ranks * 1e6)
    where = f"{job.ranks} ranks" + (f" on {job.cores} cores" if job.shares_cores else "")
    begin = f"On {where}, exchanges take {100 * of_the_run(all_of_it, job):.0f} % of a run of {run}"
    return " ".join([begin + ".", *(line for loop in told for line in _about(loop, job))])


def _about(loop: Loop, job: Job) -> Iterator[str]:
    one = max(loop.exchanges, key=lambda each: each.seconds)
    share = f"{100 * of_the_run(loop.seconds, job):.1f} %"
    yield f"{_place(one)} takes {share}: {_what(loop, one)}."
    if one.mpi_us is not None and one.tonari_us is not None:
        alone = f"the MPI takes {output.time(one.mpi_us)} and tonari {output.time(one.tonari_us)}"
        alone += " for the longest one" if len(loop.exchanges) > 1 else " for it"
        late = one.exchange_us > 2 * one.mpi_us and not unclear(one, job)
        yield f"Alone, {alone}{'; the rest is waiting for ranks that are late' * late}."
    together = loop.together
    if together and together.tonari_us and loop.parts > 1:
        alone = f"As one exchange with {messages(together)} to {neighbors(together)}"
        yield f"{alone}, tonari takes {output.time(together.tonari_us)}."
    advice = loop_advice(loop, job)
    yield (advice if advice.startswith("tonari") else advice[0].upper() + advice[1:]) + "."


def _place(one: Exchange) -> str:
    if not one.function:
        return f"{one.call} at {one.site}"
    caller = one.callers[0].rpartition(" in ")[2] if one.callers else ""
    return f"{one.function} ({one.call} at {one.site}{f', called by {caller}' * bool(caller)})"


def _what(loop: Loop, one: Exchange) -> str:
    if not one.is_steady:
        return "partners change"
    many = len(loop.exchanges)
    begin = messages(one)
    if many > 1:
        begin = f"{many} exchanges, the longest one with {begin}"
    sizes = f"; {changes(one)}" if changes(one) else ""
    return f"{begin} to {neighbors(one)}{sizes}"
