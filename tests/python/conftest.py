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
import turns
from command_line import call, words

Run = Callable[..., subprocess.CompletedProcess[str]]


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "more: runs in `make test-all` only (built.more: a single case of a test)",
        "long: runs in `make test-long` only; turns.py marks cases that others make up for",
        *(f"{share}: of that share (tools/drawn-share.sh)" for share in (*SHARES, "packages")),
    ):
        config.addinivalue_line("markers", line)


# Files that take longest come first, so that no worker ends long after the others.
LONGEST = ["test_wheel", "test_package", "test_packaging", "test_make_wheel", "test_docs"]
LONGEST += ["test_programs", "test_preload", "test_cuda_kernels", "test_peers", "test_bench"]
LONGEST += ["test_bad_luck", "test_bench_inplace", "test_share_schedule", "test_advise"]

# Of which share of `make test-all` a file is with what is marked `more`; the rest has `packages`.
# They take about as long, together with what CTest runs of a share.
SHARES = {
    "first": ["test_bench", "test_bench_halo", "test_bench_halo_device", "test_bench_inplace"]
    + ["test_bench_sparse", "test_bench_spmv", "test_regret", "test_share_schedule"]
    + ["test_advise", "test_advise_drawn", "test_bad_luck", "test_gpu_arrays", "test_late_ranks"]
    + ["test_mpi", "test_peers", "test_preload_large", "test_programs"],
    "others": ["test_locale", "test_preload", "test_preload_arguments", "test_profilers"],
}
SHARE_OF = {file: share for share, files in SHARES.items() for file in files}


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    turns.take_turns(items)
    for item in items:
        item.add_marker(SHARE_OF.get(item.path.stem, "packages"))
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


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
