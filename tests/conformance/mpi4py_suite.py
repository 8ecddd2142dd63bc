# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own suite, with the MPIs that its wheel can run with."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import mpi4py_jobs
import suites
from jobs import RUNS, Done, Run, as_text, job

USED = [run for run in RUNS if run.mpi in mpi4py_jobs.LIBRARIES]
# Those that start processes of their own: launchers of tests do not let them.
NOT_HERE = ["-e", "spawn", "-e", "dynproc"]
# MPI_THREAD_MULTIPLE would keep non-blocking calls from tonari.
NOT_HERE += ["--thread-level", "serialized"]
HERE = Path(__file__).parent
Verdicts = dict[str, set[str]]  # of a test: those of all ranks


def run_suite(
    run: Run, ranks: int, folder: Path, preloaded: bool, *options: str, patience: int = 1500
) -> tuple[Verdicts, Done]:
    """options: of mpi4py's test program, such as -i cco_ngh."""
    verdicts = folder / "verdicts"
    verdicts.mkdir(parents=True)
    mpi = mpi4py_jobs.built.with_program("../lib/libtonari_preload.so")[run.mpi]
    environment = mpi4py_jobs.environment(run.mpi, mpi, folder)
    if run.mpi == "mpich":  # what stands in front of it finds it only if it is there before Python
        environment["LD_PRELOAD"] = str(folder / mpi4py_jobs.LIBRARIES[run.mpi])
    command = [sys.executable, str(HERE / "rank_mpi4py.py"), str(suites.mpi4py()), str(verdicts)]
    words = [*command, *NOT_HERE, *options]
    done = job(run, ranks, words, folder, preloaded, environment, patience)
    return read(verdicts), done


def read(folder: Path) -> Verdicts:
    verdicts: Verdicts = defaultdict(set)
    for file in folder.iterdir():
        last: dict[str, str] = {}
        for line in file.read_text().splitlines():
            name, _, said = line.rpartition(" ")
            last[name] = "wrong" if last.get(name) == "wrong" else said
        for name, said in last.items():
            verdicts[name].add(said)
    return verdicts


def wrong(verdicts: Verdicts) -> set[str]:
    """Tests that failed on any rank, or ended a process."""
    return {name for name, said in verdicts.items() if said & {"wrong", "begun"}}


def prove(run: Run, ranks: int, folder: Path, *options: str) -> tuple[Verdicts, set[str]]:
    """Fails if a test fails with the library before the MPI, but not without it. Returns what came
    of all, and the functions, without _c, of which calls went through tonari."""
    ours, done = run_suite(run, ranks, folder / "preloaded", True, *options)
    assert ours, as_text(done)
    if done.status != 0:  # otherwise nothing is to be known of the MPI alone
        alone, _ = run_suite(run, ranks, folder / "alone", False, *options)
        assert wrong(ours) <= wrong(alone) and done.status is not None, as_text(done)
        assert alone.keys() <= ours.keys(), as_text(done)
    return ours, {name.removesuffix("_c") for name, count in done.calls.items() if count}
