# SPDX-License-Identifier: BSD-3-Clause
"""The rows of `tonari advise --json`, and the words in which its reports tell of an exchange."""

from __future__ import annotations

from typing import Any

from tonari import output
from tonari.advice import code
from tonari.advice.exchanges import Exchange, Job, Loop

WORTH_IT = 0.01  # of the run
BUSY = 0.5  # of the looks at the machine during a replay
NOT_EXPECTED = "ranks do not expect what others send"  # as watch/replay.cpp says it
NEW_EACH_TIME = 1.5  # exchanges with the same sizes, below which sizes are called new each time
APART = 2.0  # times that one replay takes another one's time, from which on neither tells anything


def rows(job: Job) -> list[dict[str, Any]]:
    """Flat, those first that cost the most; then places that pack."""
    exchanges = [_row(one, job) for one in job.exchanges]
    loops = [_loop_row(loop, job) for loop in job.loops if len(loop.exchanges) > 1]
    counted = [
        {
            "kind": kind,
            "call": one.call,
            "site": one.site,
            "calls": one.calls,
            "bytes": one.bytes,
            "percent": _percent(of_the_run(one.seconds, job)),
        }
        for kind, calls in (("packing", job.packings), ("neighborhood", job.neighborhoods))
        for one in calls
    ]
    return exchanges + loops + counted


def _loop_row(loop: Loop, job: Job) -> dict[str, Any]:
    """Of several exchanges that end at one place."""
    first, together = loop.exchanges[0], loop.together
    return {
        "kind": "loop",
        "call": first.call,
        "site": first.site,
        "function": first.function,
        "exchanges": len(loop.exchanges),
        "in_turn": loop.parts,
        "together_messages": together.messages if together else 0,
        "together_mpi_us": together.mpi_us if together else None,
        "together_tonari_us": together.tonari_us if together else None,
        "percent": _percent(of_the_run(loop.seconds, job)),
        "saved_percent": _percent(loop.saved_share(job)),
        "together_saved_percent": _percent(loop.saved_together(job)),
        "advice": loop_advice(loop, job),
        "code": "\n".join(loop_code(loop, job)),
    }


def is_worth_joining(loop: Loop, job: Job) -> bool:
    """Whether one exchange would shorten the run by more than its parts do by tonari in turn."""
    return loop.saved_together(job) >= max(WORTH_IT, 1.1 * loop.saved_share(job))


def loop_advice(loop: Loop, job: Job) -> str:
    """One sentence."""
    in_turn = 100 * loop.saved_share(job)
    here = ", here where ranks share cores" if job.shares_cores else ""
    if is_worth_joining(loop, job):
        return (
            f"as one exchange, tonari saves {100 * loop.saved_together(job):.1f} % of the run"
            f"{here}, if none needs what another has brought; in turn {max(0.0, in_turn):.1f} %"
        )
    if any(is_worth_it(one, job) for one in loop.exchanges):
        return f"tonari saves {in_turn:.1f} % of the run{here}"
    return advice(max(loop.exchanges, key=lambda one: one.seconds), job)


def loop_code(loop: Loop, job: Job) -> list[str]:
    """Once per loop: of the exchange that it can become, or of the part that gains most."""
    if is_worth_joining(loop, job) and loop.together:
        return code.lines(loop.together)
    worth = [one for one in loop.exchanges if is_worth_it(one, job)]
    if not worth:
        return []
    best = max(worth, key=lambda one: one.saved_share(job))
    others = len(worth) - 1
    more = [f"/* and so on, for {others} more exchange{'s' * (others > 1)} */"] if others else []
    return code.lines(best) + more


def of_the_run(seconds: float, job: Job) -> float:
    """The share of what all ranks together spent."""
    return seconds / job.seconds if job.seconds else 0.0


def _row(one: Exchange, job: Job) -> dict[str, Any]:
    least, most = one.bytes_range
    return {
        "kind": "exchange",
        "call": one.call,
        "site": one.site,
        "function": one.function,
        "places": one.places,
        "callers": one.callers,
        "communicator": one.communicator,
        "epochs": one.epochs,
        "pattern": one.number,
        "patterns": one.patterns,
        "steady_percent": _percent(one.steady),
        "neighbors": neighbors(one),
        "messages": one.messages,
        "same_sizes": round(one.same_sizes, 1),
        "least_bytes": least,
        "most_bytes": most,
        "exchange_us": one.exchange_us,
        "mean_us": round(one.mean_us, 3),
        "step_us": one.step_us,
        "mpi_us": one.mpi_us,
        "tonari_us": one.tonari_us,
        "making_us": one.making_us,
        "has_room": one.has_room,
        "halves_us": one.halves,
        "busy_percent": _percent(one.busy),
        "tonari": one.how,
        "percent": _percent(one.share(job)),
        "saved_percent": _percent(one.saved_share(job)),
        "advice": advice(one, job),
        "code": "\n".join(code.lines(one)) if is_worth_it(one, job) else "",
    }


def _percent(share: float) -> float:
    return round(100 * share, 2)


def is_worth_it(one: Exchange, job: Job) -> bool:
    """Whether tonari's exchange would shorten the run, as far as replays can tell."""
    return one.saved_share(job) >= WORTH_IT and not unclear(one, job)


def unclear(one: Exchange, job: Job) -> str:
    """Why replays do not tell; empty if they do."""
    shares = one.saved_in_halves(job)
    if len({share >= WORTH_IT for share in shares}) > 1:
        percents = " and ".join(f"{100 * share:.1f} %" for share in shares)
        return f"two replays say that tonari saves {percents} of the run"
    if one.share(job) >= WORTH_IT and (apart := _apart(one)):
        return apart
    if one.busy > BUSY and not job.shares_cores:
        return "other programs wanted the cores during the replay"
    return ""


def _apart(one: Exchange) -> str:
    """What two replays of the same took, where that is not the same at all: a rank was without a
    core for slices of milliseconds."""
    for who, times in zip(("the MPI", "tonari"), zip(*one.halves, strict=True)):
        if max(times) > APART * min(times):
            both = " and ".join(output.time(us) for us in times)
            return f"two replays by {who} took {both}"
    return ""


def neighbors(one: Exchange) -> str:
    """Who talks to whom."""
    if not one.is_steady:
        return "changing partners"
    if not one.stencil:
        return "one rank each" if set(map(len, one.targets.values())) == {1} else "a graph"
    return f"{one.stencil}, each once" if one.stencil.once else str(one.stencil)


def changes(one: Exchange) -> str:
    """When sizes change; empty: they do not."""
    if not one.same_sizes:
        return ""
    if one.same_sizes < NEW_EACH_TIME:
        return "partners are fixed, sizes change with each exchange"
    return f"partners are fixed, sizes change every {one.same_sizes:.0f} exchanges"


def messages(one: Exchange) -> str:
    """8 messages of 3 KiB"""
    least, most = one.bytes_range
    size = output.short_size(most)
    if least != most:
        size = f"{output.short_size(least)} to {size}"
    return f"{one.messages} message{'s' * (one.messages != 1)} of {size}"


def advice(one: Exchange, job: Job) -> str:
    """One sentence."""
    if not one.is_steady or (one.why == NOT_EXPECTED and 0 < one.same_sizes < NEW_EACH_TIME):
        return "leave it, or send to ranks that expect nothing (tonari/sparse.h)"
    if one.why:
        return f"not replayed: {one.why}"
    if one.tonari_us is None:
        return "not replayed: the program did not come to MPI_Finalize"
    if unclear(one, job):
        return f"cannot be told here: {unclear(one, job)}"
    if is_worth_it(one, job):
        here = ", here where ranks share cores" if job.shares_cores else ""
        return f"tonari saves {100 * one.saved_share(job):.1f} % of the run{here}"
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
    if job.shares_cores:
        lines.append(
            f"{job.node_ranks} ranks share {job.cores} core{'s' * (job.cores > 1)}: replays tell "
            "little of ranks with a core each"
        )
    if job.not_kept:
        lines.append(f"{job.not_kept:,} exchanges of more than 64 loops were left out")
    return lines
