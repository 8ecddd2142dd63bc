#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what tonari brings programs that are not ours, as rows of
docs/performance/real-programs.csv.

tools/real_programs/measure.py hpcg FOLDER     HPCG's source: its exchange, and the one of
                                               hpcg_exchange.cpp, in turns
tools/real_programs/measure.py exchange NAME -- PROGRAM...
                                               the exchanges that `tonari advise` replays
tools/real_programs/measure.py poisson         DOLFINx and PETSc, with and without `tonari run`

    --mpi openmpi --ranks 4 --runs 5

Programs are fetched by whoever measures. Results are compared: a run with another one is an error.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("TONARI_BUILD") or ROOT / "build").absolute()
COLUMNS = ("program", "measured", "MPI", "ranks", "runs", "by the MPI", "by tonari")
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
Row = dict[str, str]


def said(command: Sequence[str | Path], folder: Path, **variables: str) -> str:
    """What a command writes to its output; an error of it ends this program."""
    words = list(map(str, command))
    done = subprocess.run(
        words, cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def launch(mpi: str, ranks: int, *program: str | Path) -> list[str | Path]:
    return [f"mpirun.{mpi}", "-n", str(ranks), *program]


def numbers(found: Iterable[float], digits: int) -> str:
    """1.20 (1.10 to 1.30): the median, and between which all are."""
    values = sorted(found)
    shown = [f"{value:.{digits}f}" for value in (median(values), values[0], values[-1])]
    return f"{shown[0]} ({shown[1]} to {shown[2]})"


# ---- HPCG


def build_hpcg(source: Path, mpi: str, exchange: Path, program: Path) -> None:
    """Its files, but for that of the exchange."""
    library = BUILD / mpi / "lib"
    files = [file for file in sorted((source / "src").glob("*.cpp")) if file.stem != "ExchangeHalo"]
    flags = ["-O2", "-ffast-math", "-w", "-DHPCG_NO_OPENMP", f"-I{source}/src", f"-I{ROOT}/include"]
    with tempfile.TemporaryDirectory() as folder:

        def compiled(file: Path) -> Path:
            target = Path(folder) / f"{file.stem}.o"
            said([f"mpicxx.{mpi}", "-std=c++17", *flags, "-c", file, "-o", target], source)
            return target

        with ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(compiled, [*files, exchange]))
        link = [f"-L{library}", f"-Wl,-rpath,{library}", "-ltonari", "-o", program]
        said([f"mpicxx.{mpi}", *objects, *link], source)


def run_hpcg(program: Path, mpi: str, ranks: int, cells: int, seconds: int) -> float:
    """GFLOP/s of a run whose results HPCG calls valid."""
    with tempfile.TemporaryDirectory() as folder:
        cube = [f"--n{axis}={cells}" for axis in "xyz"]
        said(launch(mpi, ranks, program, *cube, f"--rt={seconds}"), Path(folder))
        [report] = [f for f in Path(folder).glob("HPCG*.txt")]
        found = re.search(r"result is VALID.*rating of=([\d.e+-]+)", report.read_text())
    if not found:
        sys.exit(f"{program} did not solve HPCG's problem")
    return float(found[1])


def hpcg(options: argparse.Namespace) -> list[Row]:
    """Both programs are kept below the build folder: remove them there to build them again."""
    source = options.folder.resolve()
    kept = BUILD / "real_programs"
    kept.mkdir(exist_ok=True)
    native, ours = (kept / f"hpcg-{options.mpi}-{whose}" for whose in ("native", "ours"))
    exchanges = {native: source / "src/ExchangeHalo.cpp", ours: HERE / "hpcg_exchange.cpp"}
    for program, exchange_file in exchanges.items():
        if not program.exists():
            build_hpcg(source, options.mpi, exchange_file, program)
    found: dict[Path, list[float]] = {native: [], ours: []}
    for _ in range(options.runs):
        for program, rates in found.items():
            rates.append(
                run_hpcg(program, options.mpi, options.ranks, options.cells, options.seconds)
            )
    what = f"GFLOP/s, {options.cells}^3 rows of a rank"
    return [row(options, "HPCG", what, numbers(found[native], 3), numbers(found[ours], 3))]


# ---- exchanges alone


def exchange(options: argparse.Namespace) -> list[Row]:
    """Those that take a hundredth of the run, and that were replayed in all runs."""
    times: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.runs):
            advise = ["advise", "--json", f"{folder}/rows.json", "--"]
            command = launch(options.mpi, options.ranks, *options.program)
            said(tonari(*advise, *command), options.inside.resolve(), **OURS)
            for one in json.loads(Path(folder, "rows.json").read_text(encoding="utf-8")):
                if one["kind"] == "exchange" and one["tonari_us"] and one["percent"] >= 1:
                    name = (one["function"] or one["site"], described(one))
                    times.setdefault(name, []).append((one["mpi_us"], one["tonari_us"]))
    return [
        row(options, f"{options.name}, {place}", f"us, {what}", *sides(found))
        for (place, what), found in times.items()
        if len(found) == options.runs
    ]


def described(one: dict[str, Any]) -> str:
    changing = ", sizes change" if one["same_sizes"] else ""
    count = f"{one['messages']} message{'s' * (one['messages'] != 1)}"
    return f"{count} to {one['neighbors']}{changing} ({one['pattern']})"


def sides(found: Sequence[tuple[float, float]]) -> list[str]:
    return [numbers(side, 1) for side in zip(*found, strict=True)]


# ---- tonari run

OURS = {"PYTHONPATH": f"{ROOT}/python:{BUILD}/python", "TONARI_BUILD": str(BUILD)}


def tonari(*words: str | Path) -> list[str | Path]:
    return [BUILD / "venv/bin/python", "-m", "tonari", *words]


def poisson(options: argparse.Namespace) -> list[Row]:
    program = [options.python, HERE / "poisson.py", options.cells, options.solves, options.updates]
    command = launch(options.mpi, options.ranks, "env", "-u", "PYTHONPATH", *map(str, program))
    found: dict[bool, list[list[float]]] = {False: [], True: []}
    norms: set[str] = set()
    for _ in range(options.runs):
        for by_tonari, times in found.items():
            words = tonari("run", "--", *command) if by_tonari else command
            told = said(words, Path.cwd(), **(OURS if by_tonari else {}))
            norm, *us = re.findall(r"norm (\S+) solve (\S+) update (\S+)", told)[0]
            norms.add(norm)
            times.append([float(one) for one in us])
    if len({f"{float(norm):.9e}" for norm in norms}) > 1:
        sys.exit(f"solutions differ: {', '.join(sorted(norms))}")
    names = ("PETSc, CG with Jacobi", "us, a solve"), ("DOLFINx, scatter_forward", "us, an update")
    return [
        row(
            options, *name, *(numbers((one[k] for one in found[ours]), 1) for ours in (False, True))
        )
        for k, name in enumerate(names)
    ]


# ---- rows


def row(options: argparse.Namespace, *cells: str) -> Row:
    """cells: program, what is measured, by the MPI, by tonari."""
    program, measured, native, ours = cells
    job = [MPIS[options.mpi], str(options.ranks), str(options.runs)]
    return dict(zip(COLUMNS, [program, measured, *job, native, ours], strict=True))


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    kinds = parser.add_subparsers(required=True)

    def kind(name: str, call: Callable[[argparse.Namespace], list[Row]]) -> argparse.ArgumentParser:
        made = kinds.add_parser(name)
        made.set_defaults(call=call)
        made.add_argument("--mpi", choices=list(MPIS), default="openmpi")
        made.add_argument("--ranks", type=int, default=4)
        made.add_argument("--runs", type=int, default=5)
        return made

    one = kind("hpcg", hpcg)
    one.add_argument("folder", type=Path)
    one.add_argument("--cells", type=int, default=16)
    one.add_argument("--seconds", type=int, default=5)
    one = kind("exchange", exchange)
    one.add_argument("name")
    one.add_argument("--inside", type=Path, default=Path.cwd(), help="the program's folder")
    one.add_argument("program", nargs="+")
    one = kind("poisson", poisson)
    one.add_argument("--python", default="/usr/bin/python3", help="that DOLFINx is installed for")
    for name, value in (("--cells", 16), ("--solves", 5), ("--updates", 2000)):
        one.add_argument(name, type=int, default=value)
    return parser.parse_args(words)


RAW = argparse.RawDescriptionHelpFormatter


def main(words: Sequence[str] | None = None) -> None:
    options = parsed(words)
    rows = options.call(options)
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


if __name__ == "__main__":
    main()
