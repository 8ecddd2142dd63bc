#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares tonari simulate with SimGrid's SMPI, which runs the messages of the same plans as an MPI
program, and prints the table of docs/explanation/simulator.md.

Usage: tools/compare_simgrid.py [--output FILE.csv] [--most RANKS], with smpicc and smpirun of
SimGrid in PATH (Debian: libsimgrid-dev), or in the folder of --bin.

Both get the same L, o and G, and SMPI runs each program twice. At first a message takes L on its
link, o at its sender (smpi/ois), and o and G for each byte at its receiver (smpi/or): the rules of
LogGP. Then bytes take their time on links that messages share, as SMPI's users have it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SOURCE / folder) for folder in ("tools", "python", "build/python")]

import judged  # noqa: E402
from tonari.core import core  # noqa: E402
from tonari.graph_report import make_question  # noqa: E402
from tonari.graphs import read_graph  # noqa: E402
from tonari.neighborhood import neighborhood  # noqa: E402

PROGRAM = SOURCE / "tools/simgrid/run_goal.c"
L, O, BYTE = 1.0e-6, 0.4e-6, 1.0e-10  # seconds
EAGER = 1 << 20  # bytes; no message is longer
MACHINE = (
    f"L={L} o={O} g=1e-7 G={BYTE} eager={EAGER} rendezvous=0 "
    "copy_block=1e-8 copy_byte=1e-10 typed_block=2e-8"
)
SIZES = (8, 64, 512, 4096)
MANY, SIZES_OF_MANY = 4096, (8, 512)  # SMPI takes long for so many ranks
TORI = [
    ("moore:3:1", (3, 3, 3)), ("moore:2:1", (8, 8)), ("moore:3:1", (8, 8, 8)),
    ("star:3:2", (8, 8, 8)), ("octant:3", (10, 10, 10)), ("moore:2:2", (32, 32)),
    ("moore:2:1", (64, 64)),
]  # fmt: skip
MESHES = [("moore:3:1", (4, 4, 4)), ("moore:2:1", (16, 16))]
HOTSPOTS = (27, 64, 512)  # ranks, of which the first sends to all others


@dataclass(frozen=True)
class Case:
    name: str
    ranks: int
    bytes: int
    plans: list[tuple[str, Any]]  # names of plans, and what makes their schedules


def of_pattern(
    pattern: str, dims: tuple[int, ...], periodic: bool, size: int, machine: Path
) -> Case:
    near = neighborhood(pattern, dims, periodic)
    question = near.exchange(bytes=size, machine=str(machine)).question
    plans = [("native", lambda: core().native_schedule(question))]
    for algorithm, variant in question.variants(""):
        if algorithm == "linear":  # the messages of native
            continue
        plans.append(
            (
                ", ".join(filter(None, (algorithm, variant))),
                lambda a=algorithm, v=variant: core().schedule_of_offsets(question, a, v),
            )
        )
    name = f"{pattern} on a {'torus' if periodic else 'mesh'}"
    return Case(name, prod(dims), size, plans)


def of_hotspot(ranks: int, size: int, machine: Path, folder: Path) -> Case:
    path = folder / "hotspot.txt"
    path.write_text("".join(f"0 {rank}\n" for rank in range(1, ranks)))
    question = make_question(
        read_graph(str(path), None), "alltoall", bytes=size, machine=str(machine)
    )
    plans = [("native", lambda: core().native_schedule(question))]
    planned = core().GraphSchedules(question, "tree")
    plans += [
        (f"tree, {planned.variant(k)}", lambda k=k: planned.schedule(k))
        for k in range(len(planned))
    ]
    return Case("one sends to all", ranks, size, plans)


def cases(least: int, most: int, machine: Path, folder: Path) -> Iterator[Case]:
    grids = [(p, d, True) for p, d in TORI] + [(p, d, False) for p, d in MESHES]
    for pattern, dims, periodic in sorted(grids, key=lambda grid: prod(grid[1])):
        sizes = SIZES if prod(dims) < MANY else SIZES_OF_MANY
        if least <= prod(dims) <= most:
            yield from (of_pattern(pattern, dims, periodic, size, machine) for size in sizes)
    for ranks in HOTSPOTS:
        if least <= ranks <= most:
            yield from (of_hotspot(ranks, s, machine, folder) for s in SIZES)


def platform(ranks: int, links: bool) -> str:
    """Hosts at a switch: a message passes two links. Without `links` any number passes at a time,
    and bytes take none."""
    bandwidth = f"{1 / BYTE}Bps" if links else "1e18Bps"
    sharing = "SPLITDUPLEX" if links else "FATPIPE"
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="all" prefix="h" suffix="" radical="0-{ranks - 1}" speed="1Gf" bw="{bandwidth}"
           lat="{L / 2}s" sharing_policy="{sharing}" loopback_bw="1e18Bps" loopback_lat="{L}s"/>
</platform>
"""


class Smpi:
    """SMPI with the parameters above."""

    def __init__(self, folder: Path, tools: Path | None, links: bool, order: list[str]) -> None:
        self.folder, self.links, self.order = folder, links, order
        self.run = str(tools / "smpirun") if tools else "smpirun"
        self.program = folder / "run_goal"
        compiler = str(tools / "smpicc") if tools else "smpicc"
        subprocess.run([compiler, "-O2", "-std=gnu11", PROGRAM, "-o", self.program], check=True)

    def settings(self) -> list[str]:
        receive = f"0:{O}:{0 if self.links else BYTE}"
        return [
            "smpi/simulate-computation:no",
            *(f"smpi/{name}:0:{O}:0" for name in ("os", "ois")),
            f"smpi/or:{receive}",
            f"smpi/async-small-thresh:{2 * EAGER}",
            f"smpi/send-is-detached-thresh:{2 * EAGER}",
            *(f"smpi/{name}:0:1" for name in ("bw-factor", "lat-factor")),
            "network/weight-S:0",
            "network/TCP-gamma:0",
            "network/crosstraffic:no",
            *(f"smpi/{name}:0" for name in ("wtime", "test", "iprobe", "init")),
            "surf/precision:1e-12",
            "contexts/stack-size:256",
        ]

    def microseconds(self, goal: Path, ranks: int) -> float:
        here, hosts = self.folder / "platform.xml", self.folder / "hosts"
        here.write_text(platform(ranks, self.links))
        hosts.write_text("".join(f"h{rank}\n" for rank in range(ranks)))
        command = [
            self.run,
            "-no-privatize",
            "-np",
            str(ranks),
            "-platform",
            here,
            "-hostfile",
            hosts,
        ]
        command += [f"--cfg={setting}" for setting in self.settings()]
        done = subprocess.run(
            [*command, self.program, goal, *self.order], capture_output=True, text=True
        )
        lines = done.stdout.split()
        if done.returncode or not lines:
            raise SystemExit(f"{goal}: smpirun failed: {done.stderr.strip()[-500:]}")
        return float(lines[-1])


def ours(goal: Path, model: Any) -> float:
    simulation = core().Simulation(core().read_goal_file(str(goal)), model)
    while simulation.advance(1 << 20):
        pass
    return float(simulation.predicted_us)


def compare(case: Case, same: Smpi, links: Smpi, model: Any, folder: Path) -> list[dict[str, str]]:
    rows = []
    seen = set()
    for name, make in case.plans:
        goal = folder / "plan.goal"
        core().write_goal_file(str(goal), make())
        text = goal.read_bytes()
        if text in seen:  # another algorithm has planned the same
            continue
        seen.add(text)
        here, there = ours(goal, model), same.microseconds(goal, case.ranks)
        rows.append(
            {
                "pattern": case.name,
                "ranks": str(case.ranks),
                "bytes": str(case.bytes),
                "plan": name,
                "tonari_us": f"{here:.3f}",
                "smpi_us": f"{there:.3f}",
                "links_us": f"{links.microseconds(goal, case.ranks):.3f}",
            }
        )
        print(" ".join(rows[-1].values()), file=sys.stderr, flush=True)
    return rows


def rows_of(
    least: int, most: int, tools: Path | None = None, messages_first: bool = False
) -> list[dict[str, str]]:
    """Of all cases with so many ranks. tools: the folder of smpicc and smpirun."""
    rows: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine = folder / "machine"
        machine.write_text(MACHINE)
        model = core().without_classes(core().read_cluster_file(str(machine)))
        order = ["messages-first"] if messages_first else []
        same, links = (Smpi(folder, tools, links, order) for links in (False, True))
        for case in cases(least, most, machine, folder):
            rows += compare(case, same, links, model, folder)
    return rows


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bin", type=Path, help="the folder of smpicc and smpirun")
    options.add_argument("--least", type=int, default=1, help="ranks (1)")
    options.add_argument("--most", type=int, default=4096, help="ranks (4096)")
    options.add_argument(
        "--messages-first", action="store_true", help="ranks take messages before they send"
    )
    options.add_argument("--output", type=Path, help="write the rows there")
    given = options.parse_args()
    rows = rows_of(given.least, given.most, given.bin, given.messages_first)
    if given.output:
        judged.write_rows(rows, given.output)
    print(judged.as_table(judged.simgrid(rows)), end="")
    return 0 if judged.simgrid_agrees(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
