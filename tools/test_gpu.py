#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of devices on the GPU of this machine, each in a process of its own, and prints
one table. Where there is none it says so in a sentence, and lists what it skipped.

    tools/test_gpu.py BUILD
"""

from __future__ import annotations

import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path

from skips import reason_of

THERE = "Gpu.IsThere"
TESTS = "Gpu/*"
PATIENCE = 300  # seconds for a test: the first one of a device compiles kernels


@dataclass
class Outcome:
    name: str
    result: str  # passed, failed or skipped
    seconds: float = 0
    why: str = ""
    said: str = ""


def names(program: Path) -> list[str]:
    listed = subprocess.run(
        [program, f"--gtest_filter={TESTS}", "--gtest_list_tests"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    suite, found = "", []
    for line in listed:
        test = line.partition("#")[0]
        if not test.startswith(" "):
            suite = test.strip()
        elif suite.endswith("."):
            found.append(suite + test.strip())
    return found


def run(program: Path, name: str, results: Path) -> Outcome:
    file = results / (name.replace("/", "_") + ".xml")
    file.unlink(missing_ok=True)
    start = time.monotonic()
    command = [program, f"--gtest_filter={name}", f"--gtest_output=xml:{file}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(name, "failed", PATIENCE, "it did not end")
    seconds = time.monotonic() - start
    if done.returncode != 0 or not file.is_file():
        return Outcome(name, "failed", seconds, f"exit status {done.returncode}", done.stdout)
    for case in xml.parse(file).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if skipped is not None:
            return Outcome(name, "skipped", seconds, reason_of(skipped))
        if case.get("status") == "run":
            return Outcome(name, "passed", seconds, said=done.stdout)
    return Outcome(name, "failed", seconds, "it was not run")


def show(outcomes: list[Outcome]) -> None:
    width = max(len(outcome.name) for outcome in outcomes)
    print(f"{'test':{width}}  {'result':7}  {'s':>6}  why")
    for outcome in outcomes:
        print(f"{outcome.name:{width}}  {outcome.result:7}  {outcome.seconds:6.2f}  {outcome.why}")


def main(build: Path) -> int:
    program = build / "tests" / "gpu_tests"
    results = build / "setup" / "test-gpu"
    results.mkdir(parents=True, exist_ok=True)
    there = run(program, THERE, results)
    tests = names(program)
    if there.result == "skipped":
        print(f"No test of a GPU was run: {there.why}.")
        outcomes = [Outcome(name, "skipped", 0, "no GPU") for name in [THERE, *tests]]
    else:
        print("\n".join(line for line in there.said.splitlines() if not line.startswith("[")))
        outcomes = [there, *(run(program, name, results) for name in tests)]
    show(outcomes)
    for outcome in outcomes:
        if outcome.result == "failed" and outcome.said:
            print(f"\n{outcome.name}:\n{outcome.said}")
    count = {which: 0 for which in ("passed", "failed", "skipped")}
    for outcome in outcomes:
        count[outcome.result] += 1
    print(", ".join(f"{number} {which}" for which, number in count.items()))
    return count["failed"] > 0 or not tests


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: tools/test_gpu.py BUILD")
    sys.exit(main(Path(sys.argv[1])))
