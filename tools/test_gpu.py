#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of devices on the GPU of this machine, each in a process of its own and those of
exchanges with 1, 2 and 3 ranks that share it, and prints one table. Where there is none it says so
in a sentence, and lists what it skipped.

    tools/test_gpu.py BUILD
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path

from skips import reason_of

THERE = "Gpu.IsThere"
TESTS = "Gpu/*"
EXCHANGES = "on_gpu_tests"  # a program for each MPI
RANKS = (1, 2, 3)
# Any number of ranks anywhere, root included.
ENVIRONMENT = {
    "TONARI_TEST_DEVICE": "cuda",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_pml": "ob1",
}
PATIENCE = 300  # seconds for a test: the first one of a device compiles kernels


@dataclass
class Outcome:
    name: str
    result: str  # passed, failed or skipped
    seconds: float = 0
    why: str = ""
    said: str = ""


def names(command: list[str | Path], tests: str) -> list[str]:
    listed = subprocess.run(
        [*command, f"--gtest_filter={tests}", "--gtest_list_tests"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | ENVIRONMENT,
    ).stdout.splitlines()
    suite, found = "", []
    for line in listed:
        test = line.partition("#")[0]
        if not test.startswith(" "):
            suite = test.strip()
        elif suite.endswith("."):
            found.append(suite + test.strip())
    return found


def run(starter: list[str | Path], name: str, results: Path, label: str = "") -> Outcome:
    """starter: the program, and what starts it. label: what the table calls it."""
    label = label or name
    file = results / (label.replace("/", "_").replace(" ", "_") + ".xml")
    file.unlink(missing_ok=True)
    start = time.monotonic()
    command = [*starter, f"--gtest_filter={name}", f"--gtest_output=xml:{file}"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env=os.environ | ENVIRONMENT,
        )
    except subprocess.TimeoutExpired:
        return Outcome(label, "failed", PATIENCE, "it did not end")
    seconds = time.monotonic() - start
    if done.returncode != 0 or not file.is_file():
        said = done.stdout + done.stderr
        return Outcome(label, "failed", seconds, f"exit status {done.returncode}", said)
    for case in xml.parse(file).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if skipped is not None:
            return Outcome(label, "skipped", seconds, reason_of(skipped))
        if case.get("status") == "run":
            return Outcome(label, "passed", seconds, said=done.stdout)
    return Outcome(label, "failed", seconds, "it was not run")


def exchanges(build: Path) -> dict[str, tuple[list[str | Path], str]]:
    """What starts each test of exchanges, and its name, by what the table calls it: with the MPI
    and the number of ranks."""
    mpis = json.loads((build / "tonari-config.json").read_text())["mpis"]
    found: dict[str, tuple[list[str | Path], str]] = {}
    for mpi, has in mpis.items():
        program = Path(has["bin"]) / EXCHANGES
        if not program.is_file():
            continue
        tests = names([has["mpiexec"], "-n", "1", program], "*")
        for ranks in RANKS:
            starter = [has["mpiexec"], "-n", str(ranks), program]
            found |= {f"{test} {mpi}.{ranks}": (starter, test) for test in tests}
    return found


def show(outcomes: list[Outcome]) -> None:
    width = max(len(outcome.name) for outcome in outcomes)
    print(f"{'test':{width}}  {'result':7}  {'s':>6}  why")
    for outcome in outcomes:
        print(f"{outcome.name:{width}}  {outcome.result:7}  {outcome.seconds:6.2f}  {outcome.why}")


def main(build: Path) -> int:
    program = build / "tests" / "gpu_tests"
    results = build / "setup" / "test-gpu"
    results.mkdir(parents=True, exist_ok=True)
    there = run([program], THERE, results)
    tests = names([program], TESTS)
    by_ranks = exchanges(build)
    if there.result == "skipped":
        print(f"No test of a GPU was run: {there.why}.")
        outcomes = [Outcome(name, "skipped", 0, "no GPU") for name in [THERE, *tests, *by_ranks]]
    else:
        print("\n".join(line for line in there.said.splitlines() if not line.startswith("[")))
        outcomes = [there, *(run([program], name, results) for name in tests)]
        for label, (starter, name) in by_ranks.items():
            outcomes.append(run(starter, name, results, label))
    show(outcomes)
    for outcome in outcomes:
        if outcome.result == "failed" and outcome.said:
            print(f"\n{outcome.name}:\n{outcome.said}")
    count = {which: 0 for which in ("passed", "failed", "skipped")}
    for outcome in outcomes:
        count[outcome.result] += 1
    print(", ".join(f"{number} {which}" for which, number in count.items()))
    return count["failed"] > 0 or not tests or not by_ranks


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: tools/test_gpu.py BUILD")
    sys.exit(main(Path(sys.argv[1])))
