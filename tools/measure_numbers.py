#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures numbers of docs/performance/numbers.csv again, and writes there what each run gave, with
the command. For a machine that does nothing else; tools/write_numbers.py then writes
the pages.

tools/measure_numbers.py            all that are known here, three runs of each command
tools/measure_numbers.py spmv       those whose names begin so
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import write_numbers as numbers  # noqa: E402

Row = dict[str, Any]
KEPT = "runs: "  # what stands before the numbers of all runs


def median(rows: Iterable[Row], **wanted: object) -> float:
    """That of the one row with these fields."""
    (found,) = (r for r in rows if all(r[key] == value for key, value in wanted.items()))
    assert found["verified"], found
    return float(found["median_us"])


def fastest(rows: Iterable[Row], key: str, names: Iterable[str], **wanted: object) -> float:
    return min(median(rows, **{key: name}, **wanted) for name in names)


def whole_neighborhood(rows: list[Row], size: int) -> list[float]:
    native = [r for r in rows if r["algorithm"] != "auto" and r["verified"] and r["bytes"] == size]
    least = min(float(row["median_us"]) for row in native)
    return [least / median(rows, algorithm="auto", bytes=size)]


def sparse(rows: list[Row], *sizes: int) -> list[float]:
    return [
        median(rows, algorithm="counts", bytes=size) / median(rows, algorithm="auto", bytes=size)
        for size in sizes
    ]


DEFAULT_BUDGET = 1 << 20


def in_place(rows: list[Row]) -> Row:
    """The fastest order of tonari within the memory that it takes by default."""
    found = [row for row in rows if row["budget_bytes"] == DEFAULT_BUDGET and row["verified"]]
    return min(found, key=lambda row: float(row["median_us"]))


def second_buffer(rows: list[Row]) -> list[float]:
    its = median(rows, algorithm="native-out-of-place")
    return [its / float(in_place(rows)["median_us"])]


HALOS = (32, 64, 128)


def mapped(rows: list[Row]) -> list[float]:
    return [median(rows, exchange="zero-byte", size=size) for size in HALOS]


def reverse(rows: list[Row]) -> list[float]:
    array = [row for row in rows if row["storage"] == "array"]
    return [
        median(array, exchange="reverse", size=size) / median(array, exchange="auto", size=size)
        for size in HALOS
    ]


def products(rows: list[Row]) -> list[float]:
    """By rows and by columns, beside the fastest that MPI does."""
    mpi = {row["candidate"] for row in rows if row["candidate"].startswith(("irecv", "native"))}
    return [
        fastest(rows, "candidate", mpi, kind=kind)
        / median(rows, candidate="vector/direct", kind=kind)
        for kind in ("rows", "columns")
    ]


def exchanged(rows: list[Row]) -> list[float]:
    forward, product = (median(rows, kind=k, candidate="auto") for k in ("forward", "rows"))
    return [100 * forward / product]


# By name: what a run gives, and the unit in the page. A number of several values is a range.
MEASURED: dict[str, tuple[str, Callable[[list[Row]], list[float]]]] = {
    "moore33.8B": ("", lambda rows: whole_neighborhood(rows, 8)),
    "moore33.4KiB.openmpi": ("", lambda rows: whole_neighborhood(rows, 4096)),
    "moore33.4KiB.mpich": ("", lambda rows: whole_neighborhood(rows, 4096)),
    "sparse.8.short": ("", lambda rows: sparse(rows, 8, 1024)),
    "sparse.8.64KiB": ("", lambda rows: sparse(rows, 65536)),
    "sparse.2": ("", lambda rows: sparse(rows, 8, 1024, 65536)),
    "in-place.copies": ("", lambda rows: [float(in_place(rows)["of_floor"])]),
    "in-place.second.2": ("", second_buffer),
    "in-place.second.8": ("", second_buffer),
    "halo.mapped": ("us", mapped),
    "halo.reverse": ("", reverse),
    "spmv.product": ("ms", lambda rows: [median(rows, kind="rows", candidate="auto") / 1000]),
    "spmv.share": ("%", exchanged),
    "spmv.vector.2": ("", products),
    "spmv.vector.8": ("", products),
}
COMMANDS = {
    "moore33": "./tonari bench moore:3:3 --op alltoall --bytes 8,4KiB"
    " --algorithms auto,native,native-persistent,irecv --max-time 2",
    "sparse": "./tonari bench sparse --max-time 2",
    "in-place": "./tonari bench inplace --total-bytes 64MiB --max-time 4",
    "halo": "./tonari bench halo --size 32,64,128 --ghost 8 --max-time 4",
    "spmv": "./tonari bench spmv Andrews.mtx.gz --max-time 2",
}
KINDS = {"Open MPI": "openmpi", "MPICH": "mpich"}  # as a row begins to say it, and as options do


def digits(number: float) -> str:
    """Two that count, and never 1e+02."""
    return f"{number:.0f}" if number >= 9.95 else f"{number:.2g}"


def shown(name: str, values: list[float]) -> str:
    return f"{numbers.said(map(digits, values))} {MEASURED[name][0]}".strip()


def commands(row: dict[str, str]) -> list[list[str]]:
    """One for each MPI and number of ranks that the row names."""
    base = shlex.split(COMMANDS[row["name"].partition(".")[0]])
    kinds = [kind for name, kind in KINDS.items() if name in row["MPI"]]
    ranks = row["ranks"].replace(" and ", ", ").split(", ")
    return [[*base, "--mpi", kind, "--ranks", n, "--json"] for kind in kinds for n in ranks]


def run(words: list[str], again: int, known: dict[str, list[Row]], folder: Path) -> list[Row]:
    """The rows of a command, which several numbers may need."""
    key = f"{again} {shlex.join(words)}"
    if key not in known:
        print(f"run {again}: {shlex.join(words)}", file=sys.stderr, flush=True)
        words = [str(folder / word) if word.endswith(".mtx.gz") else word for word in words]
        done = subprocess.run(
            words, stdout=subprocess.PIPE, text=True, cwd=numbers.ROOT, check=True
        )
        known[key] = json.loads(done.stdout)
        if any(row.get("disturbed") for row in known[key]):
            print("  the machine was disturbed", file=sys.stderr, flush=True)
    return known[key]


def version() -> str:
    ask = ["git", "rev-parse", "--short=8", "HEAD"]
    done = subprocess.run(ask, stdout=subprocess.PIPE, text=True, cwd=numbers.ROOT, check=True)
    today = datetime.datetime.now(datetime.UTC).date()
    return f"0.1.0 ({today}, {done.stdout.strip()})"


def measure(row: dict[str, str], runs: int, run_one: Callable[..., list[Row]]) -> None:
    _, number = MEASURED[row["name"]]
    values = [
        value
        for again in range(runs)
        for words in commands(row)
        for value in number(run_one(words, again))
    ]
    row["shown"] = shown(row["name"], values)
    row["command"] = COMMANDS[row["name"].partition(".")[0]]
    row["version"] = version()
    row["kept"] = KEPT + " ".join(map(digits, values))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measures numbers of the pages again.")
    parser.add_argument("name", nargs="?", default="", help="how the names of numbers begin")
    parser.add_argument("--runs", type=int, default=3, help="how often each command runs")
    parser.add_argument("--matrices", type=Path, default=numbers.ROOT, help="where Andrews lies")
    options = parser.parse_args(arguments)
    path = numbers.ROOT / numbers.ROWS / "numbers.csv"
    known: dict[str, list[Row]] = {}
    run_one = partial(run, known=known, folder=options.matrices.absolute())
    found = numbers.Rows(numbers.ROOT).of("numbers")
    for row in found:
        if row["name"] in MEASURED and row["name"].startswith(options.name):
            measure(row, options.runs, run_one)
    out = StringIO()
    writer = csv.DictWriter(out, found[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    path.write_text(out.getvalue(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
