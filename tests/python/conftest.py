# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the command line share: calls, their rows, and what jobs measure of this
machine."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import call, words

Run = Callable[..., subprocess.CompletedProcess[str]]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "more: runs in `make test-all` only (built.more: a single case of a test)"
    )


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a job measures of the machine, the jobs of all tests have, seconds each; and nothing is
    read or left below the user's home."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["TONARI_CACHE_DIR"] = str(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What compile_once.py has compiled, for all processes of the tests."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "compiled"
    folder.mkdir(exist_ok=True)
    os.environ["TONARI_COMPILED"] = str(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def failed_jobs_end_at_once() -> None:
    """Where one rank has failed, Open MPI's launcher would give the others a second or two to end
    by themselves."""
    for prefix in ("OMPI", "PRTE"):
        os.environ[f"{prefix}_MCA_odls_base_sigkill_timeout"] = "0"


@pytest.fixture(scope="session", autouse=True)
def patient_mpis() -> None:
    os.environ.update(built.PATIENT)


@pytest.fixture
def tonari() -> Run:
    """tonari("plan", "moore:2:1") -> the finished process; 80 columns, no colors."""
    return call


@pytest.fixture
def rows(tonari: Run) -> Callable[..., dict[str, dict[str, Any]]]:
    """rows("moore:2:1") -> the rows of `tonari plan ... --json` by algorithm."""

    def plan(*arguments: str) -> dict[str, dict[str, Any]]:
        done = tonari("plan", *words(*arguments), "--json")
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return {row["algorithm"]: row for row in json.loads(done.stdout)}

    return plan
