# SPDX-License-Identifier: BSD-3-Clause
"""The demo as `make demo` starts it, on a smaller grid."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from math import prod
from pathlib import Path
from typing import Any

import pytest
from scripts import BUILD, SOURCE, run_script

sys.path.insert(0, str(SOURCE / "examples/heat3d"))

import speedup  # noqa: E402
from command_line import PATIENCE


CORES = len(os.sched_getaffinity(0))


def run_demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_script("heat3d/demo.py", *arguments, columns=100)


MPIS = json.loads((BUILD / "tonari-config.json").read_text())["mpis"]


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build tree that keeps its results apart from those of `make demo`."""
    (tmp_path / "tonari-config.json").write_text((BUILD / "tonari-config.json").read_text())
    return tmp_path


def test_demo_checks_and_draws(build: Path) -> None:
    done = run_demo("--build", str(build), "--points", "8", "--steps", "40")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((build / "demo/heat.json").read_text())
    assert prod(report["ranks"]) == min(max(2, CORES), 8)
    assert report["passed"] and report["fields_equal"]
    assert 0 < max(report["error_native"], report["error_tonari"]) <= report["error_limit"] < 1e-12
    assert (build / "demo/heat.png").read_bytes().startswith(b"\x89PNG")
    words = ("native", "tonari", "plan", "chosen by", "equal bit by bit")
    for word in (*words, report["plan"]["algorithm"]):
        assert word in done.stdout, done.stdout
    check_end(done.stdout, report)


def check_end(text: str, report: dict[str, Any]) -> None:
    """Bars and break-even of each run, the picture, and what to try next."""
    crowded = report["crowded"]
    assert bool(crowded) == (CORES < 8)
    runs = [report, *([crowded] if crowded else [])]
    assert not crowded or crowded["ranks"] == [2, 2, 2]
    for run in runs:
        assert run["setup_ms"] >= run["plan"]["init_ms"] > 0 and run["steps"] == 40
        for name in ("native", "tonari"):
            slowest = run[f"{name}_steps_us"]
            assert len(slowest) == 40
            assert run[f"{name}_us"][1] == pytest.approx(sorted(slowest)[20], abs=1e-3)
        assert f"  {speedup.break_even(run)}" in text.splitlines()
    first = next(line for line in text.splitlines() if line.startswith("Exchanges "))
    assert first.endswith(f": {speedup.where(report)}, {speedup.break_even(report)}")
    end = text[text.index("Time of an exchange") :]
    assert ("Ranks that share a core" in end) == any(prod(r["ranks"]) > r["cores"] for r in runs)
    bars = [line.split()[0] for line in end.splitlines() if "█" in line]
    assert bars == ["native", "tonari"] * len(runs)
    assert end.splitlines()[-1].startswith("next: make bench")


def made_up(native: float, tonari: float, **others: Any) -> dict[str, Any]:
    """400 steps that are equally fast; in microseconds."""
    times = {"native_us": [1, native, 1], "tonari_us": [1, tonari, 1], "ratio": native / tonari}
    times |= {"native_steps_us": [native] * 400, "tonari_steps_us": [tonari] * 400}
    common = {"ranks": [2, 2, 2], "cores": 2, "steps": 400, "setup_ms": 3.7}
    return common | times | others


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (made_up(300, 100), "8 ranks on 2 cores: 3 times as fast as native MPI"),
        (made_up(100, 98), "8 ranks on 2 cores: as fast as native MPI"),
        (made_up(90, 100), "8 ranks on 2 cores: 0.9 times as fast as native MPI"),
        (made_up(9, 1, cores=8), "8 ranks, a core each: 9 times as fast as native MPI"),
        (made_up(9, 1, cores=1), "8 ranks on 1 core: 9 times as fast as native MPI"),
    ],
)
def test_bars_are_as_long_as_the_times(
    report: dict[str, Any], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    speedup.show(speedup.Console(width=40, color_system=None), report)
    first, *note, native, tonari, paid = capsys.readouterr().out.splitlines()
    assert first == sentence
    assert note == ([f"  {speedup.sharing(report)}"] if report["cores"] < 8 else [])
    assert paid == f"  {speedup.break_even(report)}"
    longest = max(report["native_us"][1], report["tonari_us"][1])
    for line, name in ((native, "native"), (tonari, "tonari")):
        assert line.split()[0] == name
        assert line.count("█") == round(speedup.WIDEST * report[f"{name}_us"][1] / longest)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (made_up(9, 2, cores=8), "Exchanges 4.5 times as fast as native MPI's"),
        (made_up(9, 9.1, cores=8), "Exchanges as fast as native MPI's"),
        (made_up(9, 10, cores=8), "Exchanges 0.9 times as fast as native MPI's"),
    ],
)
def test_one_number_comes_first(
    report: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    speedup.show_first(speedup.Console(width=40, color_system=None), report)
    line = f"{said}: 8 ranks, a core each, {speedup.break_even(report)}"
    assert capsys.readouterr().out.splitlines() == [line, ""]


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (made_up(300, 200), "break-even after 37 steps (setup took 3.7 ms)"),
        (made_up(9000, 1), "break-even after 1 step (setup took 3.7 ms)"),
        (made_up(1, 2), "no break-even within 400 steps (setup took 3.7 ms)"),
        (made_up(100, 99), "no break-even within 400 steps (setup took 3.7 ms)"),
        (
            made_up(12, 2, setup_ms=15000),
            "break-even after about 1,500,000 steps at this rate (setup took 15,000.0 ms)",
        ),
    ],
)
def test_the_break_even_is_said(report: dict[str, Any], sentence: str) -> None:
    assert speedup.break_even(report) == sentence


def test_the_break_even_is_for_good() -> None:
    """Steps in which the exchange was still being chosen may cost what had been saved."""
    steps = {"native_steps_us": [10, 10, 10, 10, 10], "tonari_steps_us": [1, 25, 1, 1, 1]}
    assert speedup.break_even_steps(made_up(1, 1, setup_ms=0.005, **steps)) == 4
    assert speedup.break_even_steps(made_up(1, 1, setup_ms=0.030, **steps)) == 0


def test_the_demo_compiles_the_library_for_one_mpi_and_one_program() -> None:
    command = ["cmake", "--build", str(BUILD), "--", "-t", "commands", "tonari_demo"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    objects = set(re.findall(r" -o (\S+\.o)\b", done.stdout))
    folders = {re.sub(r"CMakeFiles/(\w+)\.dir.*", r"\1", path) for path in objects}
    libraries = {folder for folder in folders if folder.startswith("src/")}
    assert folders - libraries == {f"examples/heat3d_{next(iter(MPIS))}"}
    assert len(libraries) == 2 and "src/tonari_core" in libraries


@pytest.mark.more
def test_modes_decay_as_computed(build: Path) -> None:
    done = run_demo("--build", str(build), "--points", "8", "--steps", "40", "--ranks", "3")
    assert done.returncode == 0
    report = json.loads((build / "demo/heat.json").read_text())
    last = report["samples"][-1]
    for mode, content in zip(report["modes"], last["content"], strict=True):
        assert 0 < mode["eigenvalue"] < 1
        assert content == pytest.approx(mode["eigenvalue"] ** last["step"], abs=1e-13)


@pytest.mark.more
def test_the_first_setup_says_how_long_and_the_next_is_silent(tmp_path: Path) -> None:
    for name in ("venv", "local"):
        if (BUILD / name).exists():
            (tmp_path / name).symlink_to(BUILD / name)

    def setup() -> list[str]:
        env = os.environ | {"BUILD": str(tmp_path), "INSTALL": "no"}
        command = [str(SOURCE / "tools/setup.sh"), "demo"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    slowly = re.compile(r"  CMake: still running after \d+ s")  # on a busy machine
    first, step, *told = [line for line in setup() if not slowly.match(line)]
    assert re.match(r"make demo compiles the library first: about \d+0 s on \d+ core", first)
    assert re.match(r"  CMake: done in \d+ s", step)
    assert len(told) == 1 and told[0].startswith("-- tonari: building for ")
    program = tmp_path / next(iter(MPIS)) / "bin/heat3d"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.touch()
    assert setup() == []


def test_failure_has_a_reason_and_a_status(build: Path) -> None:
    lost = run_demo("--build", str(build / "nowhere"))
    assert lost.returncode == 1
    assert "make build" in lost.stdout
    refused = run_demo("--build", str(build), "--points", "0")
    assert refused.returncode == 1
    assert "--points must be at least 1" in refused.stdout
