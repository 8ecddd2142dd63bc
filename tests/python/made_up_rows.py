# SPDX-License-Identifier: BSD-3-Clause
"""Rows as the commands of `tonari reproduce` would print them, with numbers made up at random: they
take no time, and no judge can know them before."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from tonari.benchmark.presets import PRESETS, Run
from tonari.halos import EXCHANGES
from tonari.reproduce.papers.duymus import ALGORITHMS as MEANS
from tonari.reproduce.papers.hofmann import ORDERS
from tonari.reproduce.papers.traeff_setup import OURS

Row = dict[str, Any]
SWEPT = ("native", "torus")
PLANNED = ("linear", "torus", "torus-direct")
USUAL = "auto,native,irecv"


def rows(arguments: Sequence[str], numbers: random.Random) -> list[Row]:
    """Of this call."""
    words = list(arguments)
    if words[:2] == ["bench", "spmv"]:
        return list(_products(words, numbers))
    if words[:2] == ["bench", "inplace"]:
        return list(_in_place(words, numbers))
    if words[:2] == ["bench", "halo"]:
        return list(_halos(words, numbers))
    if words[0] == "share":
        return list(_shared(words, numbers))
    if words[0] == "layout":
        counts = {name: numbers.randint(1, 3000) for name in ("messages", "basic", "neighbors")}
        return [{"dims": int(words[1])} | counts]
    if words[0] == "bench":
        return list(_measured(words, numbers))
    if "--sweep" in words:
        return list(_swept(words, numbers))
    if words[:2] == ["simulate", "inplace"]:
        return list(_simulated_in_place(words, numbers))
    if words[:2] == ["simulate", "halo"]:
        return list(_simulated_halos(words, numbers))
    if words[0] == "simulate":
        return list(_simulated(words, numbers))
    if words[:2] == ["plan", "inplace"]:
        return list(_swaps(int(given(words, "--ranks", "8")), numbers))
    if words[0] == "plan":
        return [{"algorithm": name, "rounds": numbers.randint(1, 2000)} for name in PLANNED]
    raise AssertionError(f"no rows are made up for tonari {' '.join(words)}")


def given(words: Sequence[str], option: str, otherwise: str) -> str:
    return words[words.index(option) + 1] if option in words else otherwise


def _times(numbers: random.Random) -> Row:
    low, median, high = sorted(numbers.uniform(1, 1000) for _ in range(3))
    return {"q1_us": low, "median_us": median, "q3_us": high}


def _measured(words: Sequence[str], numbers: random.Random) -> Iterator[Row]:
    if "--preset" in words:
        runs = PRESETS[given(words, "--preset", "")]
    else:
        op, sizes = given(words, "--op", "alltoall"), given(words, "--bytes", "8")
        some = given(words, "--algorithms", "")
        runs = [Run(words[1], op, sizes, some, "--setup" in words)]
    ranks = int(given(words, "--hosts", given(words, "--ranks", "2")))
    for run in runs:
        about = {"pattern": run.pattern, "op": run.op, "ranks": ranks}
        about["mpi"] = given(words, "--mpi", "openmpi")
        if run.setup:
            for function, algorithm in OURS:
                yield about | {"function": function, "algorithm": algorithm} | _times(numbers)
            continue
        for size in run.bytes.split(","):
            for name in (run.algorithms or USUAL).split(","):
                yield about | {"bytes": int(size), "requested": name} | _times(numbers)


def _products(words: Sequence[str], numbers: random.Random) -> Iterator[Row]:
    for ranks in given(words, "--ranks", "2").split(","):
        for name in given(words, "--candidates", USUAL).split(","):
            yield {"matrix": "made up", "ranks": int(ranks), "candidate": name} | _times(numbers)


def _simulated(words: Sequence[str], numbers: random.Random) -> Iterator[Row]:
    for size in given(words, "--bytes", "64").split(","):
        for name in given(words, "--algorithms", "native,torus").split(","):
            time = numbers.uniform(1, 1000)
            yield {"algorithm": name, "bytes": int(size), "predicted_us": time}


def _simulated_in_place(words: Sequence[str], numbers: random.Random) -> Iterator[Row]:
    for ranks in given(words, "--ranks", "64").split(","):
        for name in ("native", *ORDERS):
            yield {"algorithm": name, "ranks": int(ranks), "predicted_us": numbers.uniform(1, 1000)}


def _simulated_halos(words: Sequence[str], numbers: random.Random) -> Iterator[Row]:
    for size in given(words, "--size", "64").split(","):
        for name in EXCHANGES:
            yield {"algorithm": name, "size": int(size), "predicted_us": numbers.uniform(1, 1000)}


def _swaps(ranks: int, numbers: random.Random) -> Iterator[Row]:
    for name in ORDERS:
        for rank in range(ranks):
            for partner in range(rank, ranks):
                pair = {"rank": rank, "partner": partner, "step": numbers.randint(1, 13)}
                yield {"algorithm": name, "ranks": ranks} | pair


def _swept(words: Sequence[str], numbers: random.Random) -> Iterator[Row]:
    about = {
        "bytes": int(given(words, "--bytes", "64")),
        "ranks": int(given(words, "--ranks", "8")),
    }
    for parameter in ("o", "L", "G"):
        for factor in (0.0625, 0.25, 1.0, 4.0, 16.0):
            times = {name: numbers.uniform(1, 1000) for name in SWEPT}
            for name, time in times.items():
                fastest = time == min(times.values())
                place = {"parameter": parameter, "factor": factor, "seconds": 1e-6 * factor}
                yield (
                    {"kind": "time", "algorithm": name, "predicted_us": time, "fastest": fastest}
                    | about
                    | place
                )
    factor = numbers.uniform(0.1, 10)
    yield (
        {"kind": "turn", "parameter": "L", "factor": factor, "seconds": 1e-6 * factor}
        | about
        | {"algorithm": "native", "instead_of": "torus"}
    )


def _in_place(words: Sequence[str], numbers: random.Random) -> Iterator[Row]:
    for ranks in given(words, "--ranks", "2").split(","):
        for name in given(words, "--algorithms", "").split(","):
            kinds = [None] if name.startswith("native") else _budgets(words)
            for budget in kinds:
                about = {"algorithm": name, "ranks": int(ranks), "budget_bytes": budget}
                yield about | _times(numbers)


def _budgets(words: Sequence[str]) -> list[int | None]:
    return [1 << (10 + k) for k, _ in enumerate(given(words, "--memory", "1").split(","))]


def _halos(words: Sequence[str], numbers: random.Random) -> Iterator[Row]:
    page = int(given(words, "--page", "4KiB").removesuffix("KiB")) * 1024
    for size in given(words, "--size", "16").split(","):
        for name in given(words, "--exchanges", "").split(","):
            storage, _, exchange = name.rpartition("/")
            about = {"storage": storage or "buffers", "exchange": exchange, "size": int(size)}
            more = {"page": page, "padding_percent_65536": numbers.uniform(1, 1000)}
            more |= {key: numbers.uniform(1, 1000) for key in ("compute_us", "step_us")}
            yield about | more | _times(numbers)


def _shared(words: Sequence[str], numbers: random.Random) -> Iterator[Row]:
    for file in (word for word in words if ".mtx" in word):
        for by in ("thesis", "as counted", "tonari"):
            row = {"table": "6.2", "name": file.rpartition("/")[2], "by": by}
            for kind in ("average", "bottleneck"):
                for phase in ("initial", "phase_1", "phase_2"):
                    row[f"{kind}_messages_{phase}"] = numbers.uniform(1, 500)
            yield row | {"average_overhead": numbers.uniform(0, 9)}
    for name in MEANS:
        both = ("average_messages", "maximally_loaded_messages")
        yield {"table": "6.3", "algorithm": name} | {key: numbers.uniform(1, 200) for key in both}
