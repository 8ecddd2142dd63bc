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
    node_ranks: int = 0  # of the host with the most for its cores
    cores: int = 0  # of that host, on which they may run; 0: not known
    left_out: float = 0.0  # seconds of exchanges that are in no row, all ranks together
    exchanges: list[Exchange] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)  # each exchange is in one of them
    packings: list[CountedCall] = field(default_factory=list)
    neighborhoods: list[CountedCall] = field(default_factory=list)

    @property
    def shares_cores(self) -> bool:
        return self.node_ranks > self.cores > 0


@dataclass
class CountedCall:
    """A place that calls MPI_Pack, MPI_Unpack or a neighborhood collective; all ranks together."""

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
    steady: float  # share of the loop's time that its patterns take
    patterns: int  # of the loop
    number: int  # among them, from 1; 0: those that did not come again
    seconds: float  # in MPI, all ranks together
    same_sizes: float = 0.0  # exchanges until sizes change; 0: they do not
    exchange_us: float = 0.0  # of a rank, median
    mean_us: float = 0.0
    step_us: float = 0.0
    making_us: float = 0.0  # part of tonari_us: a request after each change of sizes
    has_room: bool = False  # tonari's: one request for the largest sizes
    halves: list[list[float]] = field(default_factory=list)  # mpi_us and tonari_us of two replays
    busy: float = 0.0  # share of looks during replays at which others wanted the cores
    mpi_us: float | None = None
    tonari_us: float | None = None
    how: str = ""
    why: str = ""  # not replayed
    places: list[str] = field(default_factory=list)
    callers: list[str] = field(default_factory=list)  # of the function around the place, upwards
    between: tuple[int, int] | None = None  # bytes of messages, if they change
    targets: dict[int, list[int]] = field(default_factory=dict)  # by rank, once per message
    sizes: dict[int, list[int]] = field(default_factory=dict)  # of these messages
    sources: dict[int, list[int]] = field(default_factory=dict)  # of receives; -1: any
    stencil: Stencil | None = None

    @property
    def is_steady(self) -> bool:
        return self.number > 0

    @property
    def is_collective(self) -> bool:
        return self.call.startswith("MPI_Alltoall")

    @property
    def messages(self) -> int:
        """Of the rank that sends the most in an epoch."""
        return max(map(len, self.targets.values()), default=0)

    @property
    def bytes_range(self) -> tuple[int, int]:
        if self.between:
            return self.between
        every = [size for list_ in self.sizes.values() for size in list_]
        return min(every, default=0), max(every, default=0)

    @property
    def saved_us(self) -> float:
        """Of an epoch: what tonari's exchange takes less, at most what the program spends."""
        if self.mpi_us is None or self.tonari_us is None:
            return 0.0
        return min(self.mpi_us - self.tonari_us, self.exchange_us)

    def saved_in_halves(self, job: Job) -> list[float]:
        """As saved_share, of each of two replays."""
        saved = [min(mpi - tonari, self.exchange_us) for mpi, tonari in self.halves]
        return [self.of_the_run(us, job) for us in saved]

    def share(self, job: Job) -> float:
        return self.seconds / job.seconds if job.seconds else 0.0

    def saved_share(self, job: Job) -> float:
        """Of the job's time, if every epoch becomes shorter by what a replayed one does."""
        return self.of_the_run(self.saved_us, job)

    def of_the_run(self, saved_us: float, job: Job) -> float:
        mean_run = job.seconds / job.ranks if job.ranks else 0.0
        return saved_us * 1e-6 * self.epochs / mean_run if mean_run else 0.0


@dataclass
class Loop:
    """The exchanges that end at one place."""

    exchanges: list[Exchange]
    parts: int = 0  # how many come in turn, equally often; 0: nobody has looked
    together: Exchange | None = None  # these as one exchange, if that was replayed

    @property
    def in_turn(self) -> list[Exchange]:
        """Those that come as often as the one that comes most."""
        most = max((one.epochs for one in self.exchanges), default=0)
        return [one for one in self.exchanges if one.is_steady and 10 * one.epochs >= 9 * most]

    @property
    def seconds(self) -> float:
        return sum(one.seconds for one in self.exchanges)

    def saved_share(self, job: Job) -> float:
        """One after the other."""
        return sum(one.saved_share(job) for one in self.exchanges)

    def saved_together(self, job: Job) -> float:
        """As one exchange, of the job's time; 0 if that was not replayed."""
        one = self.together
        in_turn = self.in_turn
        if one is None or one.tonari_us is None or len(in_turn) != self.parts:
            return 0.0
        by_mpi = [part.mpi_us for part in in_turn if part.mpi_us is not None]
        if len(by_mpi) != self.parts:
            return 0.0
        spent = sum(part.exchange_us for part in in_turn)
        saved = min(sum(by_mpi) - one.tonari_us, spent)
        others = sum(part.saved_share(job) for part in self.exchanges if part not in in_turn)
        return one.of_the_run(saved, job) + others


def read(records: Iterable[Record]) -> Job:
    """Those that cost the most time first."""
    job = Job()
    loops: dict[str, list[tuple[int, Record]]] = defaultdict(list)
    counted: dict[tuple[str, str, str, int], list[Record]] = defaultdict(list)
    rank = 0
    records = list(records)
    sites.look_up(_places(records))
    for record in records:
        if record["record"] == "rank":
            rank = _add_rank(job, record)
        elif record["record"] == "loop":
            loops[record["key"]].append((rank, record))
        else:
            names = (record["record"], record["call"], record["file"], record["offset"])
            counted[names].append(record)
    job.loops = sorted(_loops(loops), key=lambda loop: -loop.seconds)
    job.exchanges = [one for loop in job.loops for one in loop.exchanges]
    job.exchanges.sort(key=lambda one: -one.seconds)
    every = sum(loop["seconds"] for told in loops.values() for _, loop in told)
    job.left_out = max(0.0, every - sum(one.seconds for one in job.exchanges))
    for (kind, *place), rows in counted.items():
        list_ = job.packings if kind == "packing" else job.neighborhoods
        list_.append(_counted(*place, rows))
    return job


def _places(records: Iterable[Record]) -> Iterator[tuple[str, int]]:
    for record in records:
        if "file" in record:
            yield record["file"], record["offset"]
        for row in [
            *record.get("patterns", []),
            *([record["together"]] if "together" in record else []),
        ]:
            yield from ((place["file"], place["offset"]) for place in row["places"])
            yield from ((file, offset) for file, offset in row.get("callers", []))


def _add_rank(job: Job, record: Record) -> int:
    job.ranks += 1
    job.all_ranks = max(job.all_ranks, record["ranks"])
    job.seconds += record["seconds"]
    job.finalized &= record["finalized"]
    job.not_kept += record["not_kept"]
    ranks, cores = record.get("node_ranks", 0), record.get("cores", 0)
    if cores and ranks * job.cores >= job.node_ranks * cores:
        job.node_ranks, job.cores = ranks, cores
    return record["rank"]


def _counted(call: str, file: str, offset: int, rows: list[Record]) -> CountedCall:
    total = {name: sum(row[name] for row in rows) for name in ("calls", "bytes", "seconds")}
    return CountedCall(call, sites.site(file, offset), **total)


def _loops(loops: Mapping[str, list[tuple[int, Record]]]) -> Iterator[Loop]:
    """Each exchange is in the loop in which most ranks wait for it: a rank without messages in one
    of several waits elsewhere than the others. Where much of a loop's time goes to exchanges that
    did not come again, that is one more."""
    steady = {key: _steady([loop for _, loop in told]) for key, told in loops.items()}
    owned: dict[str, list[list[tuple[int, Record]]]] = defaultdict(list)
    for rows, owner in _patterns(loops):
        owned[owner].append(rows)
    together = dict(_together(loops))
    for key, told in loops.items():
        order = sorted(owned[key], key=lambda rows: -_seconds(rows))
        found = []
        if steady[key] < STEADY:
            every = _seconds(told)
            order = [rows for rows in order if _seconds(rows) >= (1 - STEADY) * every]
            rest = every - sum(map(_seconds, order))
            found.append(_unsteady(told, steady[key], len(order), rest))
        loop = told[0][1]
        found += [
            _pattern(loop, rows, steady[key], len(order), k) for k, rows in enumerate(order, 1)
        ]
        if not found:
            continue
        parts, rows = together.get(key, (0, []))
        one = _pattern(loop, rows, 1.0, 1, 1) if rows else None
        yield Loop(found, parts, one if one and one.tonari_us else None)


def _together(
    loops: Mapping[str, list[tuple[int, Record]]],
) -> Iterator[tuple[str, tuple[int, list[tuple[int, Record]]]]]:
    """By loop: how many patterns come in turn, and they as one exchange of all ranks."""
    rows: dict[str, list[tuple[int, Record]]] = defaultdict(list)
    of: dict[str, tuple[int, str]] = {}
    for key, told in loops.items():
        for rank, loop in told:
            if "key" in loop.get("together", {}):
                name = loop["together"]["key"]
                rows[name].append((rank, loop["together"]))
                of[name] = max(of.get(name, (0, "")), (loop["parts"], key))
    for name, (parts, key) in of.items():
        yield key, (parts, rows[name])


def _seconds(rows: list[tuple[int, Record]]) -> float:
    return sum(row["seconds"] for _, row in rows)


def _steady(loops: list[Record]) -> float:
    """Which part of their time goes to patterns that came again; of their epochs, where clocks are
    too coarse. All of it if all epochs do: times are rounded."""
    shares: dict[str, float] = {}
    for name in ("seconds", "epochs"):
        every = sum(loop[name] for loop in loops)
        often = sum(row[name] for loop in loops for row in loop["patterns"] if "key" in row)
        if every:
            shares[name] = min(1.0, often / every)
    if shares.get("epochs") == 1:
        return 1.0
    return shares.get("seconds", shares.get("epochs", 0.0))


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


def _unsteady(
    told: list[tuple[int, Record]], steady: float, patterns: int, seconds: float
) -> Exchange:
    return _base(
        told[0][1],
        epochs=max(loop["epochs"] for _, loop in told),
        steady=steady,
        patterns=patterns,
        number=0,
        seconds=max(0.0, seconds),
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
        seconds=_seconds(rows),
        same_sizes=_same_sizes([row for _, row in rows]),
        exchange_us=median(row["exchange_us"] for _, row in rows),
        mean_us=1e6 * _seconds(rows) / sum(row["epochs"] for _, row in rows),
        step_us=median(row["step_us"] for _, row in rows),
        how=first.get("how", ""),
        why=first.get("why", ""),
    )
    if not one.why and first.get("tonari_us"):
        one.mpi_us, one.tonari_us = first["mpi_us"], first["tonari_us"]
        one.making_us, one.busy = first.get("making_us", 0.0), first.get("busy", 0.0)
        one.halves, one.has_room = first.get("halves", []), first.get("has_room", False)
    one.callers = [_named(file, offset) for file, offset in first.get("callers", [])]
    for rank, row in rows:
        _add_messages(one, rank, row)
    ranges = [row["sizes"] for _, row in rows if "sizes" in row]
    if ranges:
        one.between = min(least for least, _ in ranges), max(most for _, most in ranges)
    one.stencil = recognize(one.targets)
    return one


def _same_sizes(rows: list[Record]) -> float:
    """How many exchanges of the rank whose sizes change most often have the same."""
    changing = [row for row in rows if row.get("varies") and row["stretches"] > 1]
    return min((row["epochs"] / max(1, row["stretches"]) for row in changing), default=0.0)


def _named(file: str, offset: int) -> str:
    """halo.c:61 in exchange"""
    function = sites.function(file, offset)
    return sites.site(file, offset) + (f" in {function}" if function else "")


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
