#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures exchanges inside PETSc by each type of star forest, as rows of
docs/performance/petsc.csv.

tools/real_programs/petsc_rows.py --ranks 2,8 --matrix Andrews.mtx.gz --python /usr/bin/python3

    --side 64        ghosts of a grid of so many cells per dimension, products and a solver
    --times 100      exchanges of a round on 2 ranks; more ranks share cores, and do a fifth of it
    --matrix FILE    products with this matrix, too (Matrix Market, perhaps .gz)
    --python FILE    a solve of DOLFINx, too, by the Python that has it
    --runs 3         in each of which types take turns, every second time beginning with the last
                     one. The first two know nothing; later ones know what tonari found out in the
                     first one

It builds petsc_scatters.c with the PETSc that pkg-config finds, and needs its libtonari_petsc in
the build. A number is the lowest and the highest of the runs' medians.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import BUILD, HERE, MPIS, RAW, Row, launch, said

TYPES = ("basic", "neighbor", "tonari")
COLUMNS = ("exchange", "MPI", "ranks", *(f"{kind}, us" for kind in TYPES))
Times = dict[str, dict[str, float]]  # microseconds by exchange and type


@dataclass(frozen=True)
class Job:
    name: str  # begins those of its exchanges; empty: they have no other
    words: list[str]


def library_of(name: str) -> Path:
    return BUILD / "openmpi/lib" / f"petsc-{name}" / "libtonari_petsc.so"


def compiled(mpi: str, folder: Path) -> Path:
    program = folder / "petsc_scatters"
    flags = said(["pkg-config", "--cflags", "--libs", "PETSc"], folder).split()
    source = HERE / "petsc_scatters.c"
    said([f"mpicc.{mpi}", "-O2", source, *flags, "-lm", "-o", program], folder)
    return program


def as_text(matrix: Path, folder: Path) -> Path:
    if matrix.suffix != ".gz":
        return matrix.resolve()
    text = folder / matrix.stem
    text.write_bytes(gzip.decompress(matrix.read_bytes()))
    return text


def jobs(options: argparse.Namespace, ranks: int, folder: Path) -> Iterator[Job]:
    program = str(compiled(options.mpi, folder))
    times = str(options.times if ranks <= 2 else max(options.times // 5, 1))
    yield Job("", [program, "-side", str(options.side), "-times", times])
    if options.matrix:
        matrix = as_text(options.matrix, folder)
        yield Job(matrix.stem, [program, "-matrix", str(matrix), "-times", times])
    if options.python:
        yield Job("DOLFINx", [options.python, str(HERE / "poisson.py"), "24", "44", "1"])


def times_of(output: str, job: Job) -> Times:
    """Of lines with a name, a type and microseconds."""
    lines = re.findall(r"^(\S+) (\S+) ([\d.]+)$", output, re.MULTILINE)
    times: Times = {}
    for name, kind, us in lines:
        times.setdefault(f"{job.name}/{name}" if job.name else name, {})[kind] = float(us)
    return times


def run(
    options: argparse.Namespace, ranks: int, job: Job, kinds: Sequence[str], cache: Path
) -> Times:
    command = launch(options.mpi, ranks, *job.words)
    types = ",".join(kinds)
    words = ["-dll_prepend", str(library_of(options.petsc))]
    wisdom = {"TONARI_CACHE_DIR": str(cache)}
    if job.name == "DOLFINx":  # whose program has no options of PETSc's
        asked = {"PETSC_OPTIONS": " ".join(words), "PYTHONPATH": ""}
        return times_of(said([*command, types], cache, **wisdom, **asked), job)
    return times_of(said([*command, *words, "-types", types], cache, **wisdom), job)


def measured(options: argparse.Namespace, ranks: int, folder: Path) -> list[Row]:
    found: dict[str, dict[str, list[float]]] = {}
    all_jobs = list(jobs(options, ranks, folder))
    for number in range(options.runs):
        kinds = TYPES if number % 2 == 0 else TYPES[::-1]
        for job in all_jobs:
            cache = folder / f"{ranks}-{job.name}-{number if number < 2 else 0}"
            cache.mkdir(exist_ok=True)
            for name, times in run(options, ranks, job, kinds, cache).items():
                for kind, us in times.items():
                    found.setdefault(name, {}).setdefault(kind, []).append(us)
    return [row(options, ranks, name, times) for name, times in found.items()]


def row(options: argparse.Namespace, ranks: int, name: str, times: dict[str, list[float]]) -> Row:
    cells = [f"{min(times[kind]):.1f} to {max(times[kind]):.1f}" for kind in TYPES]
    return dict(zip(COLUMNS, [name, MPIS[options.mpi], str(ranks), *cells], strict=True))


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    parser.add_argument("--mpi", choices=list(MPIS), default="openmpi")
    parser.add_argument("--ranks", default="2,8")
    parser.add_argument("--petsc", default="real", help="as the folder petsc-NAME in the build")
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--matrix", type=Path)
    parser.add_argument("--python", default="")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> None:
    options = parsed(words)
    if not library_of(options.petsc).exists():
        sys.exit(f"{library_of(options.petsc)} is missing: build it, with PETSc installed")
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    with tempfile.TemporaryDirectory() as folder:
        for ranks in map(int, options.ranks.split(",")):
            writer.writerows(measured(options, ranks, Path(folder)))
            sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    main()
