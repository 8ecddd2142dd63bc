"""Running the command line as a user does: a process, its output, its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tonari() -> Run:
    """tonari("plan", "moore:2:1") -> the finished process; 80 columns, no colours."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}
        return subprocess.run(
            [sys.executable, "-m", "tonari", *arguments], capture_output=True, text=True, encoding="utf-8", timeout=60, env=environment
        )

    return run


@pytest.fixture
def rows(tonari: Run) -> Callable[..., dict[str, dict[str, Any]]]:
    """rows("moore:2:1") -> the rows of `tonari plan ... --json` by algorithm."""

    def plan(*arguments: str) -> dict[str, dict[str, Any]]:
        done = tonari("plan", *arguments, "--json")
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return {row["algorithm"]: row for row in json.loads(done.stdout)}

    return plan
