# SPDX-License-Identifier: BSD-3-Clause
"""The three judges of tonari simulate, by rows that are made up, and the command that asks them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools"))

import judge_simulator
import judged


def host(direct: float, combined: float, predicted: float, size: int = 8) -> dict[str, str]:
    """One run; the prediction is the ratio."""
    times = {
        "direct_us": direct,
        "combined_us": combined,
        "predicted_direct_us": 100 * predicted,
        "predicted_combined_us": 100,
    }
    named = {"pattern": "moore:3:1", "hosts": "27", "bytes": str(size)}
    return named | {name: str(value) for name, value in times.items()}


def schedule(kind: str, ours: int, theirs: str, stable: str) -> dict[str, str]:
    columns = ("schedules", "schedule", "tonari_ns", "loggopsim_ns", "stable_ns")
    return dict(zip(columns, (kind, "seed 1", str(ours), theirs, stable), strict=True))


@pytest.mark.parametrize(
    ("runs", "close", "winner"),
    [
        ([host(200, 100, 1.5)], True, True),  # a quarter below
        ([host(200, 100, 1.3)], False, True),
        ([host(200, 100, 2.7)], False, True),
        ([host(120, 100, 0.95)], True, False),
        ([host(110, 100, 0.9)], True, None),  # neither wins clearly
        ([host(50, 100, 0.6)], True, True),
        ([host(100, 100, 2), host(200, 100, 2), host(900, 100, 2)], True, True),  # the median
    ],
)
def test_hosts_agree_by_ratio_and_winner(runs, close, winner) -> None:
    assert judged.close(runs) == close
    assert judged.same_host_winner(runs) is winner
    assert judged.hosts_agree(runs) == (close and winner is not False)
    words = f"{int(close)} of 1 ratios, {int(winner is True)} of {int(winner is not None)} winners"
    assert judged.hosts_found(runs) == words


def test_the_table_of_hosts_has_a_line_for_each_size() -> None:
    runs = [host(200, 100, 2), host(80, 100, 0.5, 4096), host(220, 100, 2)]
    _, first, second = judged.hosts(runs)
    assert first == ["moore:3:1", "27", "8 B", "2.00 to 2.20", "2.00", "yes", "yes", "0.95"]
    assert second == ["moore:3:1", "27", "4,096 B", "0.80", "0.50", "no", "yes", "0.62"]


def test_loggopsim_counts_schedules_that_end_at_the_same_nanosecond() -> None:
    rows = [
        schedule("few", 5, "5", "5"),
        schedule("few", 6, "7", "6"),
        schedule("many", 9, "never", "9"),
    ]
    assert judged.loggopsim(rows) == [
        ["schedules", "number", "equal", "equal, sorted stably"],
        ["few", "2", "1", "2"],
        ["many", "1", "0", "1"],
    ]
    assert judged.loggopsim_agrees(rows)
    assert judged.loggopsim_found(rows) == "3 of 3 schedules"
    alone = [row | {"stable_ns": ""} for row in rows]
    assert judged.loggopsim(alone)[0] == ["schedules", "number", "equal"]
    assert not judged.loggopsim_agrees(alone)


def one(name: str, agrees: bool, missing: str = "") -> judge_simulator.Judge:
    rows = [{"what": name}]

    def table(rows: judge_simulator.Rows) -> list[list[str]]:
        return [["what"], *([row["what"]] for row in rows)]

    return judge_simulator.Judge(
        name, missing, lambda: rows, table, lambda _: agrees, "equal", lambda _: "one of one"
    )


def test_one_command_asks_all_and_says_who_is_left_out(tmp_path, capsys) -> None:
    both = [one("first", True), one("second", True, "it is not there")]
    assert judge_simulator.judge(both, tmp_path) == 0
    said = capsys.readouterr().out
    assert "| first | equal | one of one | yes |" in said
    assert "| second | equal | it is not there | left out |" in said
    assert (tmp_path / "first.csv").read_text() == "what\nfirst\n"
    assert not (tmp_path / "second.csv").exists()
    assert judge_simulator.judge([one("first", True), one("second", False)], None) == 1
    assert judge_simulator.judge([one("first", True, "away")], None) == 1, "nobody has judged"


def test_judges_that_are_missing_say_what_they_need(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert judge_simulator.missing_simgrid().startswith("there is no smpicc and no smpirun")
    assert "names no folder" in judge_simulator.missing_loggopsim(None)
    (tmp_path / "txt2bin").touch()
    assert judge_simulator.missing_loggopsim(tmp_path) == f"{tmp_path} has no LogGOPSim"
    (tmp_path / "LogGOPSim").touch()
    assert not judge_simulator.missing_loggopsim(tmp_path)


def test_words_of_the_command_are_checked(tmp_path, capsys) -> None:
    with pytest.raises(SystemExit):
        judge_simulator.main(["--only", "oracle"])
    assert "there is no judge 'oracle'; there are loggopsim" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="--hosts is '5'; it must be some of 3, 9, 27, 81"):
        judge_simulator.main(["--hosts", "5"])
    with pytest.raises(SystemExit):
        judge_simulator.main(["--output", str(tmp_path / "none")])
    assert "which is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("far", "lost", "agrees"), [(0, 0, True), (2, 1, True), (3, 0, False), (0, 2, False)]
)
def test_simgrid_agrees_where_nine_of_ten_times_and_winners_do(far, lost, agrees) -> None:
    """Ten sizes with two plans each, of which so many are far off, or win on one side only."""
    rows = []
    for size in range(10):
        there = [100.0, 105.0] if size >= lost else [105.0, 100.0]
        for plan, (here, smpi) in enumerate(zip([100.0, 104.0], there, strict=True)):
            off = 0.5 if plan == 1 and size >= 10 - far else 1.0
            times = {"tonari_us": str(here), "smpi_us": str(smpi), "links_us": str(smpi)}
            times["tonari_us"] = str(here / off)  # far, and still not the fastest
            rows.append({"pattern": "a ring", "ranks": "27", "bytes": str(size)} | times)
    assert sum(judged.near_of(rows)) == 20 - far
    assert sum(judged.winners_of(rows)) == 10 - lost
    assert judged.simgrid_agrees(rows) == agrees
