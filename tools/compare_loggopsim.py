#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares tonari simulate with LogGOPSim to the nanosecond, and prints the table of
docs/howto/simulate.md.

Usage: tools/compare_loggopsim.py FOLDER [--stable FOLDER] [--output FILE.csv], in which LogGOPSim
and txt2bin are built. --stable: another build, in which std::sort(free_ops...) is
std::stable_sort(free_ops...).
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SOURCE / folder) for folder in ("tools", "python", "build/python")]

import judged  # noqa: E402
from tonari.core import core  # noqa: E402
from tonari.neighborhood import neighborhood  # noqa: E402

L, O, GAP, BYTE, EAGER = 2500, 1500, 1000, 6, 4096  # nanoseconds, bytes
MACHINE = (
    f"L={L}e-9 o={O}e-9 g={GAP}e-9 G={BYTE}e-9 eager={EAGER} rendezvous=0 "
    "copy_block=1e-7 copy_byte=1e-9 typed_block=1e-8"
)
PLANS = [
    ("moore:1:1", (7,)), ("moore:1:3", (9,)), ("moore:2:1", (5, 4)), ("moore:2:1", (2, 3)),
    ("star:2:2", (6, 5)), ("star:3:1", (3, 4, 5)), ("octant:3", (3, 3, 3)),
    ("moore:3:1", (5, 5, 5)),
]  # fmt: skip


def loggopsim(folder: Path, goal: Path) -> int | None:
    """Nanoseconds until the last rank is done; None: it never ends."""
    binary = goal.with_suffix(".bin")
    subprocess.run(
        [folder / "txt2bin", "-i", goal, "-o", binary], check=True, stdout=subprocess.DEVNULL
    )
    parameters = ["-L", L, "-o", O, "-g", GAP, "-G", BYTE, "-S", EAGER, "-O", 0]
    said = subprocess.run(
        [folder / "LogGOPSim", "-f", binary, "-b", *map(str, parameters)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = re.search(r"Maximum finishing time at host \d+: (\d+)", said)
    return int(found[1]) if found else None


def ours(goal: Path, model: object) -> int:
    simulation = core().Simulation(core().read_goal_file(str(goal)), model)
    while simulation.advance(1 << 20):
        pass
    if simulation.femtoseconds % 10**6:
        raise SystemExit(f"{goal}: no whole number of nanoseconds")
    return int(simulation.femtoseconds // 10**6)


def random_goal(seed: int, most_steps: int) -> str:
    """Messages of all sizes between ranks, some of them to the rank itself and without an own tag,
    calculations, and both kinds of dependencies on earlier steps."""
    dice = random.Random(seed)
    ranks = dice.randint(1, 8)
    programs: list[list[tuple[str, bool]]] = [[] for _ in range(ranks)]
    for message in range(dice.randint(1, most_steps)):
        sender, receiver = dice.randrange(ranks), dice.randrange(ranks)
        longest = 4096 if sender == receiver else 9000
        size = dice.choice([1, 2, dice.randint(1, 100), dice.randint(1, longest)])
        tag = message + 10
        programs[sender].append((f"send {size}b to {receiver} tag {tag}", False))
        source = "-1" if dice.random() < 0.2 else str(sender)
        programs[receiver].append((f"recv {size}b from {source} tag {tag}", True))
        if dice.random() < 0.5:
            programs[dice.randrange(ranks)].append((f"calc {dice.randint(0, 9000)}", False))
    text = f"num_ranks {ranks}\n"
    for rank, program in enumerate(programs):
        lines = [f"s{k}: {step}" for k, (step, _) in enumerate(program)]
        for k in range(1, len(program)):
            for earlier in range(max(0, k - 3), k):
                if dice.random() < 0.3:
                    kind = "irequires" if dice.random() < 0.3 else "requires"
                    lines.append(f"s{k} {kind} s{earlier}")
        body = "\n".join(lines or ["calc 0"])
        text += f"rank {rank} {{\n{body}\n}}\n"
    return text


def random_goals(folder: Path, count: int) -> Iterator[tuple[str, str, Path]]:
    """Those of few steps first."""
    for many in (False, True):
        kind, most = ("random, many steps", 90) if many else ("random, few steps", 8)
        for seed in range(count):
            if (seed % 4 == 0) == many:
                path = folder / "random.goal"
                path.write_text(random_goal(seed, most))
                yield kind, f"seed {seed}", path


def plan_goals(folder: Path, machine: Path) -> Iterator[tuple[str, str, Path]]:
    kind = "plans of 8 patterns, blocks of 8 and 1,000 bytes"
    path = folder / "plan.goal"
    for pattern, dims in PLANS:
        near = neighborhood(pattern, dims)
        for size in (8, 1000):
            question = near.exchange(bytes=size, machine=str(machine)).question
            for algorithm, variant in question.variants(""):
                schedule = core().schedule_of_offsets(question, algorithm, variant)
                core().write_goal_file(str(path), schedule)
                grid = "x".join(map(str, dims))
                words = filter(None, (pattern, "on", grid, algorithm, variant, f"{size} B"))
                yield kind, " ".join(words).replace(",", ""), path


def rows_of(folder: Path, stable: Path | None, count: int) -> list[dict[str, str]]:
    """One for each schedule: nanoseconds here, and there in each build; `never` where that says
    none."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        machine = scratch / "machine"
        machine.write_text(MACHINE)
        model = core().without_classes(core().read_cluster_file(str(machine)))
        for goals in (random_goals(scratch, count), plan_goals(scratch, machine)):
            for kind, schedule, goal in goals:
                row = {"schedules": kind, "schedule": schedule, "tonari_ns": str(ours(goal, model))}
                for column, build in (("loggopsim_ns", folder), ("stable_ns", stable)):
                    theirs = loggopsim(build.resolve(), goal) if build else ""
                    row[column] = "never" if theirs is None else str(theirs)
                rows.append(row)
                complain(row)
    return rows


def complain(row: dict[str, str]) -> None:
    """Of what differs in the last build that there is."""
    theirs = row["stable_ns"] or row["loggopsim_ns"]
    if theirs != row["tonari_ns"]:
        print(
            f"{row['schedules']}: {row['schedule']}: {row['tonari_ns']} ns here, {theirs} ns there",
            file=sys.stderr,
        )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--stable", type=Path)
    options.add_argument("--random", type=int, default=1000, help="schedules (1000)")
    options.add_argument("--output", type=Path, help="write the rows there")
    given = options.parse_args()
    rows = rows_of(given.folder, given.stable, given.random)
    if given.output:
        judged.write_rows(rows, given.output)
    print(judged.as_table(judged.loggopsim(rows)), end="")
    return 0 if judged.loggopsim_agrees(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
