# SPDX-License-Identifier: BSD-3-Clause
"""Most tests call the command line in their own process: here it is one, with the same output and
exit status."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from command_line import PATIENCE, PLAIN, call


@pytest.mark.parametrize(
    "arguments",
    [["plan", "moore:2:1"], ["plan", "more:2:1"], ["layout", "three"], ["bench", "--help"], []],
    ids=" ".join,
)
def test_a_process_leaves_what_a_call_returns(arguments: list[str]) -> None:
    process = [sys.executable, "-m", "tonari", *arguments]
    env = os.environ | PLAIN | {"PYTHONUTF8": "1"}
    done = subprocess.run(process, capture_output=True, encoding="utf-8", timeout=PATIENCE, env=env)
    same = call(*arguments)
    expected = (same.returncode, same.stdout, same.stderr)
    assert (done.returncode, done.stdout, done.stderr) == expected
    assert done.stdout or done.stderr
