# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench --regret: what the default loses. No assertion about time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import call, printed, refused, words

from tonari.benchmark import regret
from tonari.benchmark.launch import Mpi
from tonari.benchmark.regret import STATES, Case, losses, table, verdict
from tonari.commands.regret import choose_cases
from tonari.views.regret import show

BUILT, needs_build, each_mpi = built.marks("tonari_bench")


def rows(
    default: float, ways: dict[str, tuple[float, float]], repeat: int = 0
) -> list[dict[str, Any]]:
    """Of one exchange in both states: ways as they took in odd and even rounds."""
    common = {
        "mpi": "openmpi",
        "mpi_version": "4.1.4",
        "pattern": "star:1:1",
        "op": "alltoall",
        "ranks": 2,
        "bytes": 8,
        "hosts": 0,
        "repeat": repeat,
        "verified": True,
        "chosen": "linear/shared",
    }
    times = {"auto": (default, default)} | ways
    return [
        common | {"state": state, "requested": name, "odd_us": odd, "even_us": even}
        for state in STATES
        for name, (odd, even) in times.items()
    ]


def test_the_best_of_the_odd_rounds_is_compared_by_the_even_ones() -> None:
    """Luck in the rounds that choose does not count, nor does luck in the others."""
    [found] = losses(rows(2.0, {"lucky": (1.0, 1.8), "late": (3.0, 0.5)}))
    assert found["cold_best"] == "lucky"
    assert found["cold_ratio"] == 0.9
    assert found["cold_missed"]


def test_what_delivers_wrong_blocks_is_not_the_best() -> None:
    made = rows(2.0, {"wrong": (1.0, 1.0), "right": (2.0, 2.0)})
    for row in made:
        row["verified"] = row["requested"] != "wrong"
    [found] = losses(made)
    assert found["cold_best"] == "right"
    assert not found["cold_missed"]


def test_one_good_run_of_three_is_no_miss() -> None:
    ways = {"best": (1.0, 1.0)}
    bad = [row for again in range(2) for row in rows(2.0, ways, again)]
    [found] = losses(bad + rows(1.0, ways, 2))
    assert found["cold_ratios"] == [0.5, 0.5, 1.0]
    assert found["cold_ratio"] == 0.5
    assert not found["cold_missed"]
    assert verdict([found]) == "at least 0.95 of the best: 1 of 1 cold, 1 of 1 remembered"
    [found] = losses(bad)
    assert verdict([found]) == "at least 0.95 of the best: 0 of 1 cold, 0 of 1 remembered"


def test_between_hosts_is_another_exchange_than_on_one(capsys: pytest.CaptureFixture[str]) -> None:
    ways = {"best": (1.0, 1.0)}
    between = [row | {"hosts": 2} for row in rows(2.0, ways)]
    assert [row["cold_ratio"] for row in losses(rows(1.0, ways) + between)] == [1.0, 0.5]
    show(between)
    assert "star:1:1 alltoall 2 hosts" in capsys.readouterr().out


def test_its_table_has_the_lowest_and_the_highest_ratio_of_the_repeats() -> None:
    ways = {"best": (1.0, 1.0)}
    found = losses(rows(2.0, ways) + rows(1.0, ways, 1) + rows(1.6, ways, 2))
    between = losses([row | {"hosts": 27, "bytes": 4096} for row in rows(2.0, ways)])
    assert table(found + between).splitlines() == [
        "pattern,ranks,MPI,block,cold,remembered",
        "star:1:1,2,Open MPI 4.1.4,8 B,0.50 to 1.00,0.50 to 1.00",
        "star:1:1,27 hosts,Open MPI 4.1.4,4 KiB,0.50 to 0.50,0.50 to 0.50",
    ]


def test_its_cases_are_on_one_host_or_on_several() -> None:
    assert choose_cases("", None, 27, ()) == [Case("moore:3:1", 27, 27)]
    assert all(case.hosts == 0 for case in choose_cases("", None, 0, ()))
    assert choose_cases("star:2:1", None, 4, ()) == [Case("star:2:1", 4, 4)]
    assert choose_cases("star:2:1", 8, 4, ()) == [Case("star:2:1", 8, 4)]


def test_both_states_of_a_case_have_a_cache_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[str] = []

    def started(*_: Any) -> list[dict[str, Any]]:
        variables = _[-1]
        assert "TONARI_CACHE_DIR" not in os.environ, "of the programs only"
        assert Path(variables["TONARI_CACHE_DIR"]).is_dir()
        folders.append(variables["TONARI_CACHE_DIR"])
        return []

    monkeypatch.delenv("TONARI_CACHE_DIR", raising=False)
    monkeypatch.setattr(regret, "launch", started)
    mpi = Mpi("openmpi", "mpiexec", Path("tonari_bench"), Path())
    for _ in range(2):
        regret.measure(mpi, Case("star:1:1", 2), "alltoall", "8", [], print)
    first, again, other, other_again = folders
    assert first == again != other == other_again
    assert not Path(first).exists()


@pytest.mark.more
@pytest.mark.skipif("openmpi" not in BUILT, reason="hosts need Open MPI in the build")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make network namespaces")
def test_hosts_are_measured_in_both_states() -> None:
    command = words("star:1:1 --regret --hosts 3 --bytes 8 --rounds 2 --max-time 1 --json")
    found = json.loads(printed(call("bench", *command)))
    names = {row["requested"] for row in found}
    assert {"auto", "one-shot", "native", "linear/p2p-packed", "torus/p2p-typed"} <= names
    assert not any("shared" in name for name in names), "no two ranks share a host"
    assert {(row["state"], row["hosts"], row["batch"]) for row in found} == {
        (state, 3, 8) for state in STATES
    }


@each_mpi
def test_the_default_is_measured_beside_each_way(mpi: str) -> None:
    command = words(f"star:1:1 --regret --bytes 8 --rounds 2 --max-time 1 --mpi {mpi} --json")
    found = json.loads(printed(call("bench", *command)))
    for state in STATES:
        names = {row["requested"] for row in found if row["state"] == state}
        assert {"auto", "one-shot", "native", "linear/p2p-packed", "torus/shared"} <= names
    for row in found:
        assert row["batch"] == 24
        assert row["odd_us"] > 0
        assert row["even_us"] > 0
    [default] = [r for r in found if r["requested"] == "auto" and r["state"] == "cold"]
    assert default["reason"] == "online"
    assert len(losses(found)) == 1


@pytest.mark.more
@needs_build
def test_ranks_may_compute_between_exchanges() -> None:
    command = words("star:1:1 --regret --bytes 8 --rounds 2 --max-time 0.1 --work 40 --json")
    for row in json.loads(printed(call("bench", *command))):
        assert row["work_us"] == 40
        assert row["min_us"] > 40
        assert row["verified"]


@needs_build
def test_its_table_names_what_was_chosen(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    command = words(f"star:1:1 --regret --bytes 8 --rounds 2 --max-time 1 --output {file}")
    shown = printed(call("bench", *command))
    assert "star:1:1 alltoall" in shown
    assert "at least 0.95 of the best:" in shown
    titles, row = file.read_text().splitlines()
    assert titles == "pattern,ranks,MPI,block,cold,remembered"
    assert row.startswith("star:1:1,2,")


@needs_build
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("star:1:1 --algorithms native", "--regret has candidates of its own"),
        ("star:1:1 --tune off", "--regret has candidates of its own"),
        ("--ranks 3", "--regret has patterns for 2, 4, 8 ranks, and for one rank on each of 27"),
        ("--hosts 3", "--regret has patterns for 2, 4, 8 ranks, and for one rank on each of 27"),
    ],
)
def test_what_does_not_go_together_is_refused(options: str, sentence: str) -> None:
    refused(call("bench", "--regret", *words(options)), sentence)
