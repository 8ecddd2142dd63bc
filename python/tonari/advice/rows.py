# SPDX-License-Identifier: BSD-3-Clause
"""The rows of `tonari advise --json`, and the words in which its reports tell of an exchange."""

from __future__ import annotations

from typing import Any

from tonari import output
from tonari.advice import code
from tonari.advice.exchanges import Exchange, Job

WORTH_IT = 0.01  # of the run


def rows(job: Job) -> list[dict[str, Any]]:
    """Flat, those first that cost the most; then places that pack."""
    exchanges = [_row(one, job) for one in job.exchanges]
    return exchanges + [
        {
            "kind": "packing",
            "call": one.call,
            "site": one.site,
            "calls": one.calls,
            "bytes": one.bytes,
            "percent": _percent(one.seconds / job.seconds if job.seconds else 0.0),
        }
        for one in job.packings
    ]


def _row(one: Exchange, job: Job) -> dict[str, Any]:
    least, most = one.bytes_range
    return {
        "kind": "exchange",
        "call": one.call,
        "site": one.site,
        "function": one.function,
        "places": one.places,
        "communicator": one.communicator,
        "epochs": one.epochs,
        "pattern": one.number,
        "patterns": one.patterns,
        "steady_percent": _percent(one.steady),
        "neighbors": neighbors(one),
        "messages": one.messages,
        "least_bytes": least,
        "most_bytes": most,
        "exchange_us": one.exchange_us,
        "step_us": one.step_us,
        "mpi_us": one.mpi_us,
        "tonari_us": one.tonari_us,
        "tonari": one.how,
        "percent": _percent(one.share(job)),
        "saved_percent": _percent(one.saved_share(job)),
        "advice": advice(one, job),
        "code": "\n".join(code.lines(one)) if is_worth_it(one, job) else "",
    }


def _percent(share: float) -> float:
    return round(100 * share, 2)


def is_worth_it(one: Exchange, job: Job) -> bool:
    """Whether tonari's exchange would shorten the run."""
    return one.saved_share(job) >= WORTH_IT


def neighbors(one: Exchange) -> str:
    """Who talks to whom."""
    if not one.is_steady:
        return "changing partners or sizes"
    if not one.stencil:
        return "a graph"
    return f"{one.stencil}, each once" if one.stencil.once else str(one.stencil)


def messages(one: Exchange) -> str:
    """8 messages of 3 KiB"""
    least, most = one.bytes_range
    size = output.short_size(most)
    if least != most:
        size = f"{output.short_size(least)} to {size}"
    return f"{one.messages} message{'s' * (one.messages != 1)} of {size}"


def advice(one: Exchange, job: Job) -> str:
    """One sentence."""
    if not one.is_steady:
        return "leave it, or send to ranks that expect nothing (tonari/sparse.h)"
    if one.why:
        return f"not replayed: {one.why}"
    if one.tonari_us is None:
        return "not replayed: the program did not come to MPI_Finalize"
    if is_worth_it(one, job):
        return f"tonari saves {100 * one.saved_share(job):.1f} % of the run"
    return "leave it: tonari would save less than 1 % of the run"


def heading(job: Job) -> list[str]:
    """What was watched, and what could not be."""
    if not job.ranks:
        return [
            "no rank has written what it did: the program has not used this MPI,",
            "or was ended before it could",
        ]
    mean = job.seconds / job.ranks
    count = len(job.exchanges)
    found = f"{count} kind{'s' * (count > 1)} of exchange" if count else "no exchange"
    lines = [f"{job.ranks} ranks ran for {output.time(mean * 1e6)} and made {found}"]
    if not job.finalized:
        lines.append("a rank has not come to MPI_Finalize: nothing was replayed")
    if job.ranks < job.all_ranks:
        lines.append(f"{job.all_ranks - job.ranks} ranks have written nothing")
    if job.not_kept:
        lines.append(f"{job.not_kept:,} exchanges of more than 64 loops were left out")
    return lines
