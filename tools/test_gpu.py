#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of devices on the GPU of this machine, each in a process of its own and those of
exchanges with 1, 2 and 3 ranks that share it, and those of arrays of CuPy, PyTorch, JAX and Numba.
It prints one table. Where there is no GPU it says so in a sentence, and lists what it skipped.

    tools/test_gpu.py BUILD

Arrays are tried by the Python that TONARI_GPU_PYTHON names, else by the first of this one and
`python3` that has any of those libraries. It needs mpi4py and pytest, too.
"""

from __future__ import annotations

import json
import os
import shutil
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
SOURCE = Path(__file__).resolve().parents[1]
FRAMEWORKS = SOURCE / "tests/python/gpu"
LIBRARIES = ("cupy", "torch", "jax", "numba")
NEEDED = ("numpy", "pytest", "mpi4py")
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


def modules_of(python: str) -> set[str]:
    """Those of interest that this Python can import."""
    asked = [*LIBRARIES, *NEEDED]
    program = (
        "import importlib.util as u, sys; "
        "print(*[name for name in sys.argv[1:] if u.find_spec(name)])"
    )
    try:
        done = subprocess.run(
            [python, "-c", program, *asked], capture_output=True, text=True, check=False
        )
    except OSError:
        return set()
    return set(done.stdout.split())


def python_for_arrays() -> str:
    if named := os.environ.get("TONARI_GPU_PYTHON"):
        return named
    every = [sys.executable, shutil.which("python3") or sys.executable]
    return next((one for one in every if modules_of(one) & {*LIBRARIES}), sys.executable)


def frameworks(build: Path, results: Path) -> list[Outcome]:
    """One process for all: each test would start MPI and the libraries anew."""
    label, python = "arrays of Python", python_for_arrays()
    has = modules_of(python)
    if lacking := [name for name in NEEDED if name not in has]:
        return [Outcome(label, "skipped", 0, f"{python} has no {', '.join(lacking)}")]
    file = results / "frameworks.xml"
    file.unlink(missing_ok=True)
    paths = [str(SOURCE / "python"), str(build / "python"), os.environ.get("PYTHONPATH", "")]
    changed = {"PYTHONPATH": os.pathsep.join(paths), "TONARI_BUILD": str(build.absolute())}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={file}"]
    start = time.monotonic()
    try:
        done = subprocess.run(
            [*command, str(FRAMEWORKS)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env=os.environ | ENVIRONMENT | changed,
        )
    except subprocess.TimeoutExpired:
        return [Outcome(label, "failed", PATIENCE, "it did not end")]
    cases = [*xml.parse(file).getroot().iter("testcase")] if file.is_file() else []
    outcomes = [outcome_of(case) for case in cases]
    if done.returncode != 0 and not any(one.result == "failed" for one in outcomes):
        why, said = f"exit status {done.returncode}", done.stdout + done.stderr
        outcomes.append(Outcome(label, "failed", time.monotonic() - start, why, said))
    return outcomes


def outcome_of(case: xml.Element) -> Outcome:
    """Of a test of pytest."""
    name, seconds = f"{case.get('name')} python", float(case.get("time") or 0)
    if (skipped := case.find("skipped")) is not None:
        return Outcome(name, "skipped", seconds, reason_of(skipped))
    wrong = [found for kind in ("failure", "error") if (found := case.find(kind)) is not None]
    if not wrong:
        return Outcome(name, "passed", seconds)
    why = (wrong[0].get("message") or "").splitlines()
    return Outcome(name, "failed", seconds, why[0] if why else "", wrong[0].text or "")


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
    outcomes += frameworks(build, results)
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
