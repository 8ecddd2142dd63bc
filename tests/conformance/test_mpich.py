# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's suite under every MPI: with the library before the MPI no test fails that does not fail
without it."""

from __future__ import annotations

from pathlib import Path

import mpich_suite
import pytest
from jobs import RUNS, Run
from mpich_suite import Program, Unfit, prove
from suites import Missing

try:
    TESTS = mpich_suite.tests()
    reason = ""
except Missing as missing:
    TESTS, reason = [], str(missing)
pytestmark = pytest.mark.skipif(not TESTS, reason=reason or "none")


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
@pytest.mark.parametrize("test", TESTS or [Program("", "none", 0)], ids=lambda test: test.id)
def test_no_test_more_fails(run: Run, test: Program, tmp_path: Path) -> None:
    try:
        nothing = prove(run, test, tmp_path)
    except Unfit as sentence:
        nothing = str(sentence)
    if nothing:
        pytest.skip(nothing)
