# SPDX-License-Identifier: BSD-3-Clause
"""tonari calibrate: a machine file that every reader takes. No assertion about time."""

from __future__ import annotations

import json
import os
from pathlib import Path

import built
import pytest
from command_line import call, printed, refused, words
from tonari.benchmark.launch import Mpi, find_mpi
from tonari.calibration import Job, disturbance, measured, middle, parse, text_of
from tonari.core import core

BUILT, needs_build, each_mpi = built.marks("tonari_calibrate")
NEEDED = {"L", "o", "g", "G", "copy_block", "copy_byte", "typed_block", "eager", "rendezvous"}


def test_of_several_runs_the_middle_one_counts() -> None:
    runs = [{"L": 1.0, "o": 5.0}, {"L": 3.0, "o": 4.0}, {"L": 2.0, "o": 6.0, "node_gap": 7.0}]
    assert middle(runs) == {"L": 2.0, "o": 5.0, "node_gap": 7.0}
    assert middle(runs[:2]) == {"L": 1.0, "o": 4.0}, "one that was measured"


def spread(median: float, p90: float, disturbed: int) -> str:
    """What the program writes, with times that are made up."""
    words = f"pingpong_us=1.5 pingpong_p90_us=1.6 pingpong_after_us={median} "
    return f"# {words}pingpong_after_p90_us={p90} disturbed={disturbed}\nL=1e-06 eager=4000\n"


def test_a_disturbed_machine_is_told_of() -> None:
    quiet, busy = measured(spread(1.5, 1.7, 0)), measured(spread(2, 9.25, 1))
    assert quiet.machine == busy.machine == {"L": 1e-6, "eager": 4000}
    assert disturbance([quiet, quiet]) == ""
    said = disturbance([quiet, busy, quiet])
    assert said.startswith("disturbed in 1 of 3 runs: a tenth of the ping-pongs took 9.25 us")
    assert "their median was 2 us" in said
    assert text_of({"L": 1e-6}, "made up", said) == f"# made up\n# {said}\nL=1e-06\n"
    assert text_of({"L": 1e-6}, "made up", "") == "# made up\nL=1e-06\n"


def test_what_is_written_is_read_back() -> None:
    machine = parse("L=1.5e-06 o=1e-07 eager=4000 ranks_per_core=4")
    assert machine == {"L": 1.5e-6, "o": 1e-7, "eager": 4000, "ranks_per_core": 4}
    assert text_of(machine, "made up") == "# made up\nL=1.5e-06\no=1e-07\neager=4000\n"


def test_a_launcher_starts_the_ranks() -> None:
    mpi = Mpi("openmpi", "mpiexec", Path("tonari_calibrate"), Path())
    assert Job(launcher="srun -N 2 -n 4").start(mpi) == ["srun", "-N", "2", "-n", "4"]
    assert Job(ranks=3).start(mpi) == ["mpiexec", "-n", "3"]


@needs_build
def test_says_what_is_wrong() -> None:
    refused(call("calibrate", *words("--launcher srun --ranks 2")), "leave out --ranks")
    refused(
        call("calibrate", "--launcher", "no-such-program -n 2"),
        "no-such-program cannot be started",
        status=1,
    )
    refused(call("calibrate", "--launcher", "srun '"), "--launcher cannot be read", status=1)
    refused(call("calibrate", "--launcher", " "), "--launcher is empty", status=1)


@each_mpi
def test_writes_a_machine_file(mpi: str, tmp_path: Path) -> None:
    file = tmp_path / "machine.txt"
    done = call("calibrate", "--mpi", mpi, "--repeat", "1", "--output", str(file), "--json")
    [found] = json.loads(printed(done))
    assert NEEDED | {"shared_latency", "core_switch"} <= set(found)
    assert core().read_machine_file(str(file)).L == found["L"]
    assert core().read_cluster_file(str(file))
    rows = json.loads(
        printed(call("simulate", *words(f"star:1:1 --ranks 4 --machine {file} --json")))
    )
    assert rows[0]["predicted_us"] > 0


@pytest.mark.more
@each_mpi
def test_ranks_may_be_started_by_a_command(
    mpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On emulated nodes there are two distances."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TONARI_NODES", "2")
    monkeypatch.setenv("TONARI_MACHINE", "not there")
    start = f"{find_mpi(mpi).mpiexec} -n 4"
    call_ = call("calibrate", "--mpi", mpi, "--repeat", "1", "--launcher", start, "--json")
    [found] = json.loads(printed(call_))
    assert {"node_latency", "node_overhead", "node_byte", "node_eager"} <= set(found)
    assert os.listdir(tmp_path) == ["machine.txt"]
