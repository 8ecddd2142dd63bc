# SPDX-License-Identifier: BSD-3-Clause
"""From the records of all ranks to the exchanges of the program: a loop's patterns, how often and
how steadily they come, what they cost, and what they would cost by tonari."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from tonari import sites
from tonari.advice.stencil import Stencil, recognize

STEADY = 0.9  # of a loop's epochs, for its patterns to count as its own
Record = Mapping[str, Any]


@dataclass
class Job:
    """What all processes have written."""

    ranks: int = 0  # that wrote
    all_ranks: int = 0  # of the job; 0: nobody knows
    seconds: float = 0.0  # of the ranks together
    finalized: bool = True
    not_kept: int = 0  # epochs of loops beyond what a rank keeps
    exchanges: list[Exchange] = field(default_factory=list)
    packings: list[Packing] = field(default_factory=list)


@dataclass
class Packing:
    """A place that calls MPI_Pack or MPI_Unpack; all ranks together."""

    call: str
    site: str
    calls: int
    bytes: int
    seconds: float


@dataclass
class Exchange:
    """A pattern of a loop, or a loop that has none."""

    call: str
    site: str
    function: str
    communicator: int  # its ranks
    epochs: int  # of the rank with the most
    steady: float  # share of the loop's epochs that have one of its patterns
    patterns: int  # of the loop
    number: int  # among them, from 1
    seconds: float  # in MPI, all ranks together
    exchange_us: float = 0.0
    step_us: float = 0.0
    mpi_us: float | None = None
    tonari_us: float | None = None
    how: str = ""
    why: str = ""  # not replayed
    places: list[str] = field(default_factory=list)
    targets: dict[int, list[int]] = field(default_factory=dict)  # by rank, once per message
    sizes: dict[int, list[int]] = field(default_factory=dict)  # of these messages
    sources: dict[int, list[int]] = field(default_factory=dict)  # of receives; -1: any
    stencil: Stencil | None = None

    @property
    def is_steady(self) -> bool:
        return self.steady >= STEADY and self.patterns > 0

    @property
    def is_collective(self) -> bool:
        return self.call.startswith("MPI_Alltoall")

    @property
    def messages(self) -> int:
        """Of the rank that sends the most in an epoch."""
        return max(map(len, self.targets.values()), default=0)

    @property
    def bytes_range(self) -> tuple[int, int]:
        every = [size for list_ in self.sizes.values() for size in list_]
        return min(every, default=0), max(every, default=0)

    @property
    def saved_us(self) -> float:
        """Of an epoch: what tonari's exchange takes less, at most what the program spends."""
        if self.mpi_us is None or self.tonari_us is None:
            return 0.0
        return min(self.mpi_us - self.tonari_us, self.exchange_us)

    def share(self, job: Job) -> float:
        return self.seconds / job.seconds if job.seconds else 0.0

    def saved_share(self, job: Job) -> float:
        """Of the job's time, if every epoch becomes shorter by what a replayed one does."""
        mean_run = job.seconds / job.ranks if job.ranks else 0.0
        return self.saved_us * 1e-6 * self.epochs / mean_run if mean_run else 0.0


def read(records: Iterable[Record]) -> Job:
    """Those that cost the most time first."""
    job = Job()
    loops: dict[str, list[tuple[int, Record]]] = defaultdict(list)
    packings: dict[tuple[str, str, int], list[Record]] = defaultdict(list)
    rank = 0
    for record in records:
        if record["record"] == "rank":
            rank = _add_rank(job, record)
        elif record["record"] == "loop":
            loops[record["key"]].append((rank, record))
        else:
            packings[record["call"], record["file"], record["offset"]].append(record)
    job.exchanges = _exchanges(loops)
    job.exchanges.sort(key=lambda one: -one.seconds)
    job.packings = [_packing(*key, rows) for key, rows in packings.items()]
    return job


def _add_rank(job: Job, record: Record) -> int:
    job.ranks += 1
    job.all_ranks = max(job.all_ranks, record["ranks"])
    job.seconds += record["seconds"]
    job.finalized &= record["finalized"]
    job.not_kept += record["not_kept"]
    return record["rank"]


def _packing(call: str, file: str, offset: int, rows: list[Record]) -> Packing:
    total = {name: sum(row[name] for row in rows) for name in ("calls", "bytes", "seconds")}
    return Packing(call, sites.site(file, offset), **total)


def _exchanges(loops: Mapping[str, list[tuple[int, Record]]]) -> list[Exchange]:
    """Each of the loop in which most ranks wait for it: a rank without messages in one of several
    exchanges waits elsewhere than the others."""
    steady = {key: _steady([loop for _, loop in told]) for key, told in loops.items()}
    owned: dict[str, list[list[tuple[int, Record]]]] = defaultdict(list)
    for rows, owner in _patterns(loops):
        owned[owner].append(rows)
    found = []
    for key, told in loops.items():
        if steady[key] < STEADY:
            found.append(_unsteady(told, steady[key], len(owned[key])))
            continue
        order = sorted(owned[key], key=lambda rows: -sum(row["seconds"] for _, row in rows))
        loop = told[0][1]
        found += [
            _pattern(loop, rows, steady[key], len(order), k) for k, rows in enumerate(order, 1)
        ]
    return found


def _steady(loops: list[Record]) -> float:
    """Which part of their epochs have a pattern that came often."""
    every = sum(loop["epochs"] for loop in loops)
    often = (row["epochs"] for loop in loops for row in loop["patterns"] if "key" in row)
    return sum(often) / every if every else 0.0


def _patterns(
    loops: Mapping[str, list[tuple[int, Record]]],
) -> Iterator[tuple[list[tuple[int, Record]], str]]:
    """Those that came often, each as ranks have it, and the key of its loop."""
    rows: dict[str, list[tuple[int, Record]]] = defaultdict(list)
    waiting: dict[str, Counter[str]] = defaultdict(Counter)
    for key, told in loops.items():
        for rank, loop in told:
            for row in loop["patterns"]:
                if "key" in row:
                    rows[row["key"]].append((rank, row))
                    waiting[row["key"]][key] += 1
    for pattern, of_ranks in rows.items():
        yield of_ranks, waiting[pattern].most_common(1)[0][0]


def _base(loop: Record, **more: Any) -> Exchange:
    file, offset = loop["file"], loop["offset"]
    return Exchange(
        call=loop["call"],
        site=sites.site(file, offset),
        function=sites.function(file, offset),
        communicator=loop["ranks"],
        **more,
    )


def _unsteady(told: list[tuple[int, Record]], steady: float, patterns: int) -> Exchange:
    return _base(
        told[0][1],
        epochs=max(loop["epochs"] for _, loop in told),
        steady=steady,
        patterns=patterns,
        number=1,
        seconds=sum(loop["seconds"] for _, loop in told),
        why="its partners or sizes change",
    )


def _pattern(
    loop: Record, rows: list[tuple[int, Record]], steady: float, patterns: int, number: int
) -> Exchange:
    first = rows[0][1]
    one = _base(
        loop,
        epochs=max(row["epochs"] for _, row in rows),
        steady=steady,
        patterns=patterns,
        number=number,
        seconds=sum(row["seconds"] for _, row in rows),
        exchange_us=median(row["exchange_us"] for _, row in rows),
        step_us=median(row["step_us"] for _, row in rows),
        how=first.get("how", ""),
        why=first.get("why", ""),
    )
    if not one.why and first.get("tonari_us"):
        one.mpi_us, one.tonari_us = first["mpi_us"], first["tonari_us"]
    for rank, row in rows:
        _add_messages(one, rank, row)
    one.stencil = recognize(one.targets)
    return one


def _add_messages(one: Exchange, rank: int, row: Record) -> None:
    for place in row["places"]:
        name = f"{place['call']} at {sites.site(place['file'], place['offset'])}"
        if name not in one.places:
            one.places.append(name)
    sent = [(peer, size) for _, out, peer, size in row["messages"] if out]
    one.targets.setdefault(rank, []).extend(peer for peer, _ in sent)
    one.sizes.setdefault(rank, []).extend(size for _, size in sent)
    received = [peer for _, out, peer, _ in row["messages"] if not out]
    one.sources.setdefault(rank, []).extend(received)
