# SPDX-License-Identifier: BSD-3-Clause
"""A program that has set a locale with commas reads the same files. localedef makes the locale, so
that it need not be installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

TESTS, needed, _ = built.marks("vector_tests")


@pytest.fixture(scope="module")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for LOCPATH."""
    folder = tmp_path_factory.mktemp("locales")
    command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(folder / "de_DE.utf8")]
    if not shutil.which("localedef") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("localedef cannot make a German locale here (Debian: locales)")
    return folder


@needed
@pytest.mark.parametrize("name", TESTS)
def test_matrices_are_read_in_a_locale_with_commas(name: str, locales: Path) -> None:
    mpi: dict[str, Any] = TESTS[name]
    words = [mpi["mpiexec"], "-n", "2", str(Path(mpi["bin"]) / "vector_tests")]
    env = {**ANY_RANKS, "OMPI_MCA_mpi_yield_when_idle": "1", **os.environ, "LOCPATH": str(locales)}
    done = subprocess.run(
        [*words, "--gtest_filter=MatrixFiles.*"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=env,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 tests" in done.stdout
