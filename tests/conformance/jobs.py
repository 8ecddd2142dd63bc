# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of programs that know nothing of tonari, without and with the library before the MPI."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import built
from tonari import preload
from tonari.benchmark.launch import ANY_RANKS

LIBRARY = "../lib/libtonari_preload.so"
OTHER_BLOCKS = "this MPI delivers other blocks"
ENDED = "does not end"


@dataclass(frozen=True)
class Run:
    """An MPI, and how ranks start under it: programs for the standard ABI run under several."""

    name: str
    mpi: str
    mpiexec: str
    libraries: str

    @property
    def mpicc(self) -> str:
        return built.c_compiler(_MPIS[self.mpi])

    @property
    def library(self) -> Path:
        return (Path(_MPIS[self.mpi]["bin"]) / LIBRARY).resolve()

    @property
    def program_folder(self) -> Path:
        return Path(_MPIS[self.mpi]["bin"])


_MPIS = built.with_program(LIBRARY)
RUNS = [
    Run(name, mpi, how["mpiexec"], how["libraries"])
    for mpi, mpi_of in _MPIS.items()
    for name, how in mpi_of["runs"].items()
    if name == mpi  # ranks of Intel MPI spin: eight on two cores take minutes
]


@dataclass(frozen=True)
class Done:
    """What a job has done; status None: it was still running when the time was over."""

    status: int | None
    said: str
    calls: dict[str, int]  # by function: those that went through tonari
    why: dict[str, set[str]]


def job(
    run: Run,
    ranks: int,
    command: Sequence[str],
    folder: Path,
    preloaded: bool,
    environment: Mapping[str, str] = {},
    patience: int = 120,
) -> Done:
    """Runs it in an empty folder. preloaded: with the library, which sends through tonari all that
    can go there, and counts."""
    records = folder / "records"
    records.mkdir(exist_ok=True)
    variables = {"LD_PRELOAD": loaded(run, preloaded, environment.get("LD_PRELOAD", ""))}
    if preloaded:
        variables |= {"TONARI_PRELOAD": "tonari", "TONARI_RUN_REPORT": str(records)}
    words = [f"{name}={value}" for name, value in variables.items()]
    status, said = _end(
        [run.mpiexec, "-n", str(ranks), "env", *words, *command],
        surroundings(run) | {k: v for k, v in environment.items() if k != "LD_PRELOAD"},
        folder,
        patience,
    )
    rows = preload.rows(preload.read_records(records))
    return Done(status, said, _counted(rows), _reasons(rows))


def surroundings(run: Run) -> dict[str, str]:
    """Of launchers: any number of ranks, which take turns."""
    paths = {"LD_LIBRARY_PATH": run.libraries} if run.libraries else {}
    return {
        **ANY_RANKS,
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
        "I_MPI_PIN": "off",
        "I_MPI_THREAD_YIELD": "2",
        **os.environ,
        **paths,
    }


def loaded(run: Run, preloaded: bool, others: str = "") -> str:
    """LD_PRELOAD of the ranks."""
    ours = str(run.library) if preloaded else ""
    return ":".join(filter(None, (ours, built.PATIENT["LD_PRELOAD"], others)))


def _end(
    command: list[str], env: dict[str, str], folder: Path, patience: int
) -> tuple[int | None, str]:
    """Launchers end their ranks when they are told to."""
    with (folder / "said").open("w+") as said:
        process = subprocess.Popen(
            command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        try:
            status: int | None = process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            status = None
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        said.seek(0)
        return status, said.read()


def _counted(rows: list[dict[str, Any]]) -> dict[str, int]:
    calls: dict[str, int] = {}
    for row in rows:
        calls[row["call"]] = calls.get(row["call"], 0) + row["through_tonari"]
    return calls


def _reasons(rows: list[dict[str, Any]]) -> dict[str, set[str]]:
    reasons: dict[str, set[str]] = {}
    for row in rows:
        reasons.setdefault(row["call"], set()).add(row["why"])
    return reasons


def went_through(done: Done, call: str) -> bool:
    """Or was left to the MPI by the rule that a program may rely on what its MPI does."""
    return done.calls.get(call, 0) > 0 or OTHER_BLOCKS in done.why.get(call, set())


def as_text(done: Done) -> str:
    return json.dumps({"status": done.status, "calls": done.calls}) + "\n" + done.said[-4000:]
