#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares tonari simulate with LogGOPSim to the nanosecond, and prints the table of
docs/howto/simulate.md.

Usage: tools/compare_loggopsim.py FOLDER [--stable FOLDER], in which LogGOPSim and txt2bin are
built. --stable: another build, in which std::sort(free_ops...) is std::stable_sort(free_ops...).
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "build/python")]

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


def plan_goals(folder: Path, machine: Path) -> Iterator[tuple[str, Path]]:
    for pattern, dims in PLANS:
        near = neighborhood(pattern, dims)
        for size in (8, 1000):
            question = near.exchange(bytes=size, machine=str(machine)).question
            for algorithm, variant in question.variants(""):
                name = f"{pattern} {dims} {algorithm} {variant} {size} B"
                path = folder / f"plan{abs(hash(name))}.goal"
                schedule = core().schedule_of_offsets(question, algorithm, variant)
                core().write_goal_file(str(path), schedule)
                yield name, path


def compare(
    what: str, goals: list[tuple[str, Path]], builds: list[Path], model: object
) -> list[Counter[str]]:
    """How many are equal, later or never end in each build; prints what differs in the last."""
    counts = [Counter[str]() for _ in builds]
    for name, goal in goals:
        mine = ours(goal, model)
        for build, count in zip(builds, counts, strict=True):
            theirs = loggopsim(build, goal)
            count["equal" if theirs == mine else "different"] += 1
            if theirs != mine and build == builds[-1]:
                print(f"{what}: {name}: {mine} ns here, {theirs} ns there", file=sys.stderr)
    return counts


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--stable", type=Path)
    options.add_argument("--random", type=int, default=1000)
    given = options.parse_args()
    builds = [build.resolve() for build in (given.folder, given.stable) if build]
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine = folder / "machine"
        machine.write_text(MACHINE)
        model = core().without_classes(core().read_cluster_file(str(machine)))
        goals: dict[str, list[tuple[str, Path]]] = {
            "random, few steps": [],
            "random, many steps": [],
        }
        for seed in range(given.random):
            kind, most = ("random, many steps", 90) if seed % 4 == 0 else ("random, few steps", 8)
            path = folder / f"{seed}.goal"
            path.write_text(random_goal(seed, most))
            goals[kind].append((f"seed {seed}", path))
        goals["plans of 8 patterns, blocks of 8 and 1,000 bytes"] = list(
            plan_goals(folder, machine)
        )
        heads = ["schedules", "number", "equal", "equal, sorted stably"][: 2 + len(builds)]
        print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
        for what, some in goals.items():
            counts = compare(what, some, builds, model)
            equal = [str(count["equal"]) for count in counts]
            print("| " + " | ".join([what, str(len(some)), *equal]) + " |")
            wrong += counts[-1]["different"]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
