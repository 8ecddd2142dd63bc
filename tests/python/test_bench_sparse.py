# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench sparse: rows and table. No assertion about time."""

from __future__ import annotations

import json

import built
import pytest
from command_line import call, refused, words

BUILT, needs_build, each_mpi = built.marks("tonari_bench_sparse")
FIELDS = set(
    """
    algorithm chosen ranks mpi bytes targets verified median_us q1_us q3_us rounds ratio_counts
    ratio_dense ratio_plain_nbx disturbed
""".split()
)
SHORT = "--rounds 4 --max-time 2"


@each_mpi
@pytest.mark.parametrize("ranks", [built.more("1"), "2", "3", built.more("4")])
def test_every_way_delivers(mpi: str, ranks: str) -> None:
    every = "counts,dense,plain-nbx,auto,in-flight,pairwise,nbx,personalized,store-and-forward/1"
    done = call(
        "bench",
        *words(
            f"sparse --bytes 1,40000 --targets 2 --ranks {ranks} --mpi {mpi} --algorithms {every} "
            f"{SHORT} --json"
        ),
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert all(set(row) >= FIELDS for row in rows)
    assert all(row["verified"] for row in rows)
    assert [row["algorithm"] for row in rows] == 2 * every.split(",")
    assert {row["bytes"] for row in rows} == {8, 40000}
    assert {row["targets"] for row in rows} == {min(2, int(ranks) - 1)}


@needs_build
def test_table_fits() -> None:
    done = call("bench", *words(f"sparse --bytes 8 {SHORT}"))
    assert done.returncode == 0, done.stderr
    assert "auto (pairwise)" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@needs_build
def test_errors_are_one_sentence() -> None:
    refused(call("bench", *words("sparse --algorithms magic")), "magic")


def test_help_has_an_example() -> None:
    done = call("bench", "sparse", "--help")
    assert done.returncode == 0
    assert "tonari bench sparse --bytes" in done.stdout
