#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares tonari simulate with real runs between hosts, and prints the table of
docs/explanation/simulator.md.

Usage: tools/compare_hosts.py [--output FILE.csv] [--hosts 27,81] [--fit 3], as root.

Hosts are network namespaces of this machine (tools/netns_hosts.py), a rank on each. `tonari
calibrate` measures on few of them. With what it writes, `tonari simulate` says what one message per
block and what a combining plan take on many. The same are measured there, and their ratios are
compared. All hosts share the cores of this machine, which the simulator knows (`cores`), so nothing
else may run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SOURCE / folder) for folder in ("tools", "python", "build/python")]

import judged  # noqa: E402
from tonari.benchmark.launch import find_mpi, launch  # noqa: E402
from tonari.benchmark.presets import Run  # noqa: E402
from tonari.errors import Error  # noqa: E402

SIZES = "8,512,2048,4096,16384"
COMBINED = "torus"
WAY = f"{COMBINED}/p2p-packed"  # the simulator packs blocks, too
MPI = "openmpi"  # the one that starts ranks on such hosts


@dataclass(frozen=True)
class Case:
    """Each host has all others that are around it on a torus as neighbors."""

    hosts: int
    pattern: str
    dims: str


CASES = {
    case.hosts: case
    for case in (
        Case(3, "moore:3:1", "3x1x1"),
        Case(9, "moore:2:1", "3x3"),
        Case(27, "moore:3:1", "3x3x3"),
        Case(81, "moore:4:1", "3x3x3x3"),
    )
}


def impossible() -> str:
    """Why there can be no hosts here, or nothing."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if not shutil.which("ip"):
        return "there is no `ip`: install iproute2"
    try:
        find_mpi(MPI)
    except Error as error:
        return str(error)
    return ""


def tonari(*arguments: str) -> str:
    done = subprocess.run([SOURCE / "tonari", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"tonari {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def calibrated(hosts: int, file: Path) -> None:
    tonari("calibrate", "--hosts", str(hosts), "--output", str(file))
    print(file.read_text(), file=sys.stderr)


def predicted(case: Case, machine: Path) -> dict[tuple[str, int], float]:
    """Microseconds by algorithm and size."""
    options = ["--dims", case.dims, "--bytes", SIZES, "--machine", str(machine), "--json"]
    options += ["--algorithms", f"native,{COMBINED}"]
    rows = json.loads(tonari("simulate", case.pattern, *options))
    return {(row["algorithm"], row["bytes"]): row["predicted_us"] for row in rows}


def measured(case: Case, machine: Path, seconds: float) -> list[dict[str, Any]]:
    run = Run(case.pattern, "alltoall", SIZES, f"irecv,{WAY}").arguments()
    run += ["--dims", case.dims, "--rounds", "200", "--max-time", str(seconds), "--tune", "model"]
    variables = {"TONARI_MACHINE": str(machine)}
    return launch(find_mpi(MPI), case.hosts, run, case.hosts, variables=variables)


def compare(case: Case, repeat: int, machine: Path, seconds: float) -> list[dict[str, str]]:
    """A row for each size of blocks of one run."""
    times = predicted(case, machine)
    found = {(r["requested"], r["bytes"]): r for r in measured(case, machine, seconds)}
    rows = []
    for size in map(int, SIZES.split(",")):
        direct, combined = found["irecv", size], found[WAY, size]
        if not (direct["verified"] and combined["verified"]):
            raise SystemExit(f"{case.hosts} hosts: a result of {size} bytes is wrong")
        row = {
            "pattern": case.pattern,
            "hosts": case.hosts,
            "bytes": size,
            "run": repeat + 1,
            "plan": combined["chosen"],
            "direct_us": f"{direct['median_us']:.1f}",
            "combined_us": f"{combined['median_us']:.1f}",
            "predicted_direct_us": f"{times['native', size]:.1f}",
            "predicted_combined_us": f"{times[COMBINED, size]:.1f}",
        }
        rows.append({name: str(value) for name, value in row.items()})
        print(" ".join(rows[-1].values()), file=sys.stderr, flush=True)
    return rows


def rows_of(hosts: list[int], fit: int, repeat: int, seconds: float) -> list[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="tonari-hosts-") as folder:
        machine = Path(folder) / "machine.txt"
        calibrated(fit, machine)
        return [
            row
            for count in hosts
            for again in range(repeat)
            for row in compare(CASES[count], again, machine, seconds)
        ]


def add_options(options: argparse.ArgumentParser) -> None:
    options.add_argument("--hosts", default="27,81", help=f"of {', '.join(map(str, CASES))}")
    options.add_argument("--fit", type=int, default=3, help="hosts to calibrate on (3)")
    options.add_argument("--repeat", type=int, default=2, help="runs on each number of hosts (2)")
    options.add_argument("--seconds", type=float, default=8, help="per size of blocks (8)")


def host_counts(text: str) -> list[int]:
    counts = [int(word) if word.isdecimal() else 0 for word in text.split(",")]
    if not set(counts) <= CASES.keys():
        raise SystemExit(f"--hosts is '{text}'; it must be some of {', '.join(map(str, CASES))}")
    return counts


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    add_options(options)
    options.add_argument("--output", type=Path, help="write the rows there")
    given = options.parse_args()
    if reason := impossible():
        raise SystemExit(f"compare_hosts: {reason}")
    rows = rows_of(host_counts(given.hosts), given.fit, given.repeat, given.seconds)
    if given.output:
        judged.write_rows(rows, given.output)
    print(judged.as_table(judged.hosts(rows)), end="")
    return 0 if judged.hosts_agree(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
