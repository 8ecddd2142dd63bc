# SPDX-License-Identifier: BSD-3-Clause
"""`make test-conformance`: whole suites, without and with the library before the MPI."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "python")]


@pytest.fixture(scope="session", autouse=True)
def jobs_end_at_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """And leave nothing below the user's home."""
    os.environ["TONARI_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    for prefix in ("OMPI", "PRTE"):
        os.environ[f"{prefix}_MCA_odls_base_sigkill_timeout"] = "0"


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Where everything is skipped, nothing is proved."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    ran = [*reporter.stats.get("passed", []), *reporter.stats.get("failed", [])]
    if not ran and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
