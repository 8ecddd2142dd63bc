# SPDX-License-Identifier: BSD-3-Clause
"""What an MPI gets wrong: jobs of tonari_conformance (tests/conformance), which go on behind an
exchange that ended the job."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tonari.benchmark.launch import ANY_RANKS
from tonari.errors import INTERNAL, Error

PROGRAM = "tonari_conformance"
MOST_JOBS = 400  # of one run: each but the last ends at an exchange that never does, or crashes
Row = dict[str, Any]


def try_all(
    start: Callable[[list[str]], list[str]],
    words: Sequence[str] = (),
    environment: Mapping[str, str] = {},
) -> list[Row]:
    """Rows {mpi, ranks, call, topology, data, wrong}: of each exchange what is wrong with it, in a
    sentence or empty. start: makes of the program's options the command of a job. environment: more
    variables for it."""
    rows: list[Row] = []
    after: list[str] = []
    for _ in range(MOST_JOBS):
        lines, said = _job(start, [*words, *after], environment)
        found, ended = _read(lines, said)
        rows += found
        if ended:
            return rows
        after = ["--after", str(_last(lines, said))]
    raise Error(
        f"{MOST_JOBS} exchanges have ended a job each: this is no MPI to work with", INTERNAL
    )


def _job(
    start: Callable[[list[str]], list[str]], options: list[str], environment: Mapping[str, str]
) -> tuple[list[Row], str]:
    """What the job has told, and what it said on standard error."""
    with tempfile.TemporaryDirectory(prefix="tonari-conformance-") as folder:
        file = Path(folder) / "trials"
        done = subprocess.run(
            start([*options, "--json", str(file)]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | os.environ | environment,
        )
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return [json.loads(line) for line in text.splitlines()], done.stderr.decode(errors="replace")


def _last(lines: Iterable[Row], said: str) -> int:
    begun = [line["trial"] for line in lines if "trial" in line]
    if not begun:
        sentence = next((line for line in said.splitlines() if line.strip("- ")), "it says nothing")
        raise Error(f"{PROGRAM} does not start: {sentence}", INTERNAL)
    return begun[-1]


def _read(lines: Sequence[Row], said: str) -> tuple[list[Row], bool]:
    """The rows, and whether the job came to its end."""
    common = {name: lines[0][name] for name in ("mpi", "ranks")} if lines else {}
    how = {line["ended"]: line["wrong"] for line in lines if "ended" in line}
    rows = [
        common
        | {name: line[name] for name in ("call", "topology", "data")}
        | {"wrong": how.get(line["trial"], _end(said))}
        for line in lines
        if "trial" in line
    ]
    return rows, bool(lines) and "trials" in lines[-1]


def _end(said: str) -> str:
    if "does not end" in said:
        return "the call does not end"
    return "the job ends" if "crashes" not in said else "the process crashes"
