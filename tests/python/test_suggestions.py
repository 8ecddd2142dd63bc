# SPDX-License-Identifier: BSD-3-Clause
"""Misspelled names of any kind are refused with what was probably meant."""

from __future__ import annotations

import built
import pytest
from command_line import call, refused, words
from tonari.suggestion import did_you_mean, nearest

_, needs_build, _ = built.marks("tonari_bench")
_, needs_halo, _ = built.marks("tonari_bench_halo")
_, needs_in_place, _ = built.marks("tonari_bench_inplace")
_, needs_sparse, _ = built.marks("tonari_bench_sparse")
QUICK = "--rounds 2 --max-time 0.1"


def test_near_names_only() -> None:
    known = ["torus", "torus-direct", "linear"]
    assert nearest("torsu", known) == nearest("TORUS", known) == "torus"
    assert did_you_mean("torus-dierct", known) == "; did you mean torus-direct?"
    assert did_you_mean("quantum", known) == did_you_mean("", known) == did_you_mean("x", []) == ""


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("plam moore:2:1", "there is no command 'plam'; did you mean plan?"),
        ("bnech halo", "there is no command 'bnech'; did you mean bench?"),
        ("plan moore:2:1 --byts 8", "there is no option --byts; did you mean --bytes?"),
        ("bench halo --gohst 8", "there is no option --gohst; did you mean --ghost?"),
        ("--verison", "there is no option --verison; did you mean --version?"),
        ("plan more:2:1", "of offsets; did you mean moore:2:1?"),
        ("plan octent:3", "of offsets; did you mean octant:3?"),
        ("plan moore:2:1 --algorithm torsu", "did you mean torus?"),
        (
            "plan moore:2:1 --op alltoal",
            "--op is 'alltoal'; it must be alltoall or allgather; did you mean alltoall?",
        ),
        ("plan moore:2:1 --storage seperate", "did you mean separate?"),
        ("bench more:2:1", "of offsets; did you mean moore:2:1?"),
        ("bench scalefree:2", "of offsets; did you mean scale-free:2?"),
        ("bench hotsopt", "of offsets; did you mean hotspot?"),
        ("bench halp", "did you mean `tonari bench halo`?"),
        ("bench inplaec --ranks 2", "did you mean `tonari bench inplace`?"),
        ("bench --preset fig22", "there is no preset 'fig22'; there are table2, fig2, "),
        ("bench --preset hotspot", "; did you mean hotspots?"),
        ("settings chanel", "lists all; did you mean channel?"),
    ],
)
def test_what_was_meant_is_said(line: str, meant: str) -> None:
    refused(call(line), meant)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("quantum", "there is no command 'quantum'; `tonari --help` lists all"),
        ("plan moore:2:1 --quantum", "there is no option --quantum; --help lists all"),
        ("plan no-such-file", "neither moore:d:r, star:d:r, octant:d[:r], shells:d:r1,r2 nor a"),
        ("bench no-such-file", "random:P, hotspot, hotspot-in, scale-free:K, clique:K nor a"),
        ("plan moore:2:1 --op reduce", "--op is 'reduce'; it must be alltoall or allgather"),
    ],
)
def test_without_a_near_name_there_is_no_guess(line: str, sentence: str) -> None:
    done = call(line)
    refused(done, sentence)
    assert "did you mean" not in done.stderr


@pytest.mark.parametrize("command", ["halo", "inplace", "spmv", "sparse"])
def test_a_command_behind_options_gets_a_hint(command: str) -> None:
    refused(call(f"bench --ranks 2 {command}"), f"write `tonari bench {command}` first", 2)


@needs_build
@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("--op alltoal", "did you mean alltoall?"),
        ("--algorithms torsu", "did you mean torus?"),
        ("--algorithms native-persistant", "did you mean native-persistent?"),
        ("--algorithms irecv-persitent", "did you mean irecv-persistent?"),
        ("--layout contigous", "did you mean contiguous?"),
        ("--tune onlien --algorithms auto", "did you mean online?"),
        ("--mpi openmip", "did you mean openmpi?"),
    ],
)
def test_bench_says_what_was_meant(arguments: str, meant: str) -> None:
    refused(call("bench", "moore:2:1", *words(f"{QUICK} {arguments}")), meant)


@needs_halo
def test_halo_exchanges() -> None:
    for name, meant in (("layuot", "layout"), ("mapped/memap", "mapped/memmap")):
        refused(call(f"bench halo --exchanges {name} {QUICK}"), f"; did you mean {meant}?")


@needs_in_place
def test_orders_and_channels() -> None:
    refused(call(f"bench inplace --algorithms linear-shfit {QUICK}"), "did you mean linear-shift?")
    refused(call(f"bench inplace --channel shard {QUICK}"), "did you mean shared?")


@needs_sparse
def test_sparse_algorithms() -> None:
    refused(call(f"bench sparse --algorithms pairwize {QUICK}"), "did you mean pairwise?")
