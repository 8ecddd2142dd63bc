# SPDX-License-Identifier: BSD-3-Clause
"""What messages between hosts cost where these are namespaces of one machine, whose cores all ranks
share.

There the processors do all that a network does, so there is no latency but theirs: times grow with
the ranks per core, and a rank that waits takes turns with all others. A ping-pong of two ranks
shows none of that. So exchanges of all ranks are measured: by a message per block, and by one per
rank. With r ranks on a core, `tonari simulate` finds for n messages of b bytes from each rank

    r (2 n o + n b G)            where sending them takes longer than a turn
    r ((n + 1) o + core_switch)  where it takes less, and they are short
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median_low

from tonari.benchmark.launch import PROGRAM, Mpi, find_mpi, launch
from tonari.benchmark.presets import Run
from tonari.benchmark.summary import Row

PATTERN = "moore:3:1"  # on hosts in a row: several blocks for each neighbor
# Bytes. A few kilobytes hide behind the waits of three hosts; these take several times as long as
# all else, and are still sent without asking the receiver first.
SIZES = (8, 32768)
LEAST = 1e-9, 1e-12  # seconds, and seconds per byte
Machine = dict[str, float]


@dataclass(frozen=True)
class Seen:
    """Seconds of exchanges on some hosts; messages and bytes are those that a rank sends to
    others."""

    direct: float  # short blocks, a message each
    direct_long: float  # longer ones
    packed: float  # short blocks, a message for each neighbor
    messages: int
    peers: int
    more_bytes: int  # of the longer blocks


def seen(rows: list[Row]) -> Seen:
    """Of rows of the benchmark, the median of its repeats; other load only ever adds."""

    def of(algorithm: str, size: int) -> tuple[float, int]:
        found = [r for r in rows if r["requested"] == algorithm and r["bytes"] == size]
        return median_low(r["median_us"] for r in found) * 1e-6, found[0]["messages_remote"]

    short, long = SIZES
    (direct, messages), (packed, peers) = of("irecv", short), of("linear", short)
    return Seen(direct, of("irecv", long)[0], packed, messages, peers, messages * (long - short))


def fitted(machine: Machine, ranks: int, cores: int, times: Seen) -> Machine:
    """The machine with o, G, L and core_switch for ranks that share so many cores. Where each has a
    core, what is left is latency."""
    turns = max(1.0, ranks / cores)
    many, few = times.messages, times.peers
    byte = max((times.direct_long - times.direct) / (turns * times.more_bytes), LEAST[1])
    o = times.direct / (2 * turns * many)
    waiting = times.packed / turns - (few + 1) * o
    if waiting > (many - 1) * o:  # a turn takes longer than all the sends
        o = max((times.direct - times.packed) / (turns * (many - few)), LEAST[0])
        waiting = times.packed / turns - (few + 1) * o
    waiting = max(waiting, LEAST[0])
    found = machine | {"o": o, "g": min(machine["g"], o), "G": byte, "cores": cores}
    return found | ({"L": LEAST[0], "core_switch": waiting} if turns > 1 else {"L": waiting})


def measure(mpi: Mpi, hosts: int, ranks: int, repeat: int, progress: Callable[[str], None]) -> Seen:
    """Runs the benchmark on the hosts."""
    bench = find_mpi(mpi.name, PROGRAM)
    sizes = ",".join(map(str, SIZES))
    arguments = [
        *Run(PATTERN, bytes=sizes, algorithms="irecv,linear").arguments(),
        *("--dims", f"{ranks}x1x1", "--rounds", "100", "--max-time", "5", "--tune", "model"),
    ]
    rows: list[Row] = []
    for _ in range(repeat):
        rows += launch(bench, ranks, arguments, hosts, progress)
    return seen(rows)
