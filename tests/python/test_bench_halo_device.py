# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench halo --device, on the simulated device: what is filled, how often something is
launched, and what is refused. No assertion about time."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import built
import pytest
from command_line import call, printed, refused

BUILT, needs_build, each_mpi = built.marks("tonari_bench_halo_device")
QUICK = "--rounds 2 --max-time 0.2"
# Launches and contiguous pieces, or messages where they have rows. Section 3 of Zhao 2021: 26
# neighbors, 42 pieces, 98 regions.
EXPECTED = {
    "buffers/copy": (1, 1), "buffers/launch": (1, 0),
    "array/gather": (1, 26), "array/gathers": (26, 26), "array/pack": (2, 26),
    "array/launches": (52, 26), "array/direct": (1, 26), "array/datatypes": (2, 26),
    "brick/basic": (1, 98), "brick/layout": (1, 42), "brick/copies": (42, 42),
    "mapped/layout": (1, 42), "mapped/memmap": (0, 0),
    "array/copy-all": (1, 1), "array/stencil-7": (1, 1),
    "brick/copy-all": (1, 1), "brick/stencil-7": (1, 1),
}  # fmt: skip


def bench(arguments: str) -> subprocess.CompletedProcess[str]:
    return call("bench", "halo", *f"{arguments} {QUICK}".split())


def rows(arguments: str) -> list[dict[str, Any]]:
    return json.loads(printed(bench(f"{arguments} --json")))


@each_mpi
def test_every_way_delivers_with_as_many_launches_as_it_should(mpi: str) -> None:
    found = rows(f"--device simulated --size 24 --mpi {mpi}")
    names = [f"{row['storage']}/{row['exchange']}" for row in found]
    assert names == list(EXPECTED)
    for name, row in zip(names, found, strict=True):
        assert (row["launches"], row["pieces"]) == EXPECTED[name], row
        assert row["verified"] is True, row
        assert (row["size"], row["ghost"]) == (24, 8)
        # what is built for the standard ABI names the MPI that it runs with
        assert row["mpi"] in built.names_in_rows(mpi)
        assert row["simulated"] is True
        assert row["device"] == "simulated"
        assert not any(isinstance(value, (dict, list)) for value in row.values())
    ghosts = 8 * (40**3 - 24**3)
    moved = {name: row["bytes"] for name, row in zip(names, found, strict=True)}
    for name in ("buffers/copy", "array/pack", "array/direct", "brick/layout", "brick/basic"):
        assert moved[name] == ghosts, name
    assert moved["mapped/layout"] > ghosts  # with padding


@needs_build
def test_full_stencils_agree_with_the_host() -> None:
    found = rows("--device simulated --size 16 --stencil 125")
    computed = [row for row in found if row["exchange"] == "stencil-125"]
    assert [row["storage"] for row in computed] == ["array", "brick"]
    assert all(row["verified"] for row in computed)


@needs_build
def test_the_table_says_that_times_mean_nothing() -> None:
    table = printed(bench("--device simulated --size 16"))
    assert "devices are simulated, and times mean nothing" in table
    assert "WRONG" not in table


@needs_build
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--device gpu", "unknown device 'gpu'; there are auto, cuda, simulated"),
        ("--device simulated --size 20", "--size 20 is no multiple of bricks of 8 cells; take 24"),
        ("--device simulated --size 8", "--size 8 is less than two halos of 8 cells"),
        ("--device simulated --brick 4", "leave out --brick"),
        ("--device simulated --ranks 2", "leave out --ranks"),
        ("--device simulated --exchanges pack", "leave out --exchanges"),
    ],
)
def test_wrong_options_are_refused(arguments: str, sentence: str) -> None:
    refused(bench(arguments), sentence)


@needs_build
def test_without_a_gpu_cuda_is_refused() -> None:
    done = bench("--device cuda --size 16")
    if done.returncode == 0:
        pytest.skip("there is a GPU")
    refused(done, "CUDA")
