# SPDX-License-Identifier: BSD-3-Clause
"""The demo as `make demo` starts it, on a smaller grid."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from scripts import BUILD, run_script


def run_demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_script("heat3d/demo.py", *arguments, columns=100)


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build tree that keeps its results apart from those of `make demo`."""
    (tmp_path / "tonari-config.json").write_text((BUILD / "tonari-config.json").read_text())
    return tmp_path


def test_demo_checks_and_draws(build: Path) -> None:
    done = run_demo("--build", str(build), "--points", "8", "--steps", "40")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((build / "demo/heat.json").read_text())
    assert report["ranks"] == [2, 2, 2]
    assert report["passed"] and report["fields_equal"]
    assert 0 < max(report["error_native"], report["error_tonari"]) <= report["error_limit"] < 1e-12
    assert (build / "demo/heat.png").read_bytes().startswith(b"\x89PNG")
    words = ("native", "tonari", "ratio", "plan", "chosen by", "equal bit by bit")
    for word in (*words, report["plan"]["algorithm"]):
        assert word in done.stdout, done.stdout


@pytest.mark.more
def test_modes_decay_as_computed(build: Path) -> None:
    done = run_demo("--build", str(build), "--points", "8", "--steps", "40", "--ranks", "3")
    assert done.returncode == 0
    report = json.loads((build / "demo/heat.json").read_text())
    last = report["samples"][-1]
    for mode, content in zip(report["modes"], last["content"], strict=True):
        assert 0 < mode["eigenvalue"] < 1
        assert content == pytest.approx(mode["eigenvalue"] ** last["step"], abs=1e-13)


def test_failure_has_a_reason_and_a_status(build: Path) -> None:
    lost = run_demo("--build", str(build / "nowhere"))
    assert lost.returncode == 1
    assert "make build" in lost.stdout
    refused = run_demo("--build", str(build), "--points", "0")
    assert refused.returncode == 1
    assert "--points must be at least 1" in refused.stdout
