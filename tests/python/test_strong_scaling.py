# SPDX-License-Identifier: BSD-3-Clause
"""The strong-scaling driver on a small grid."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from scripts import BUILD, run_script


def run_driver(arguments: str) -> subprocess.CompletedProcess[str]:
    words = ["--build", str(BUILD), *arguments.split()]
    return run_script("strong_scaling/strong_scaling.py", *words, columns=120)


def test_rows_and_picture(tmp_path: Path) -> None:
    picture = tmp_path / "scaling.png"
    job = "--cells 32 --steps 4 --ranks 1,2 --storages brick,zero-byte"
    done = run_driver(f"{job} --plot {picture} --json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    expected = [(1, "brick"), (1, "zero-byte"), (2, "brick"), (2, "zero-byte")]
    assert [(row["ranks"], row["storage"]) for row in rows] == expected
    for row in rows:
        assert row["cells"] == [32, 32, 32] and row["equal"] and row["error"] < 1e-12
        assert row["step_us"][2] >= row["compute_us"][0] > 0
        assert (row["speed_up"] == 1) if row["ranks"] == 1 else (row["speed_up"] > 0)
        assert (row["messages"] == 0) == (row["ranks"] == 1 or row["storage"] == "zero-byte")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_failure_has_a_reason_and_a_status() -> None:
    refused = run_driver("--cells 32 --ranks 1 --storages tiles")
    assert refused.returncode == 1
    assert "there is no storage tiles; there are array brick" in refused.stderr
