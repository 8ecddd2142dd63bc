# SPDX-License-Identifier: BSD-3-Clause
"""Most tests call the command line in their own process: here it is one, with the same output and
exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from command_line import PATIENCE, PLAIN, call, died_in_mpis_end, errors_of_jobs


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


CRASH = """[host:1] *** Process received signal ***
[host:1] Signal: Segmentation fault (11)
[host:1] Signal code: Address not mapped (1)
[host:1] Failing at address: 0x7ff9f494d6f0
"""


def test_a_crash_that_is_not_the_programs_is_known_by_its_missing_stack() -> None:
    assert died_in_mpis_end(139, CRASH)
    assert not died_in_mpis_end(139, CRASH + "[host:1] [ 0] libc.so.6(+0x3c050)[0x7f0000000000]\n")
    assert not died_in_mpis_end(1, CRASH)
    assert not died_in_mpis_end(139, "")


def test_what_jobs_say_is_read_and_said(capfd: Any) -> None:
    with errors_of_jobs() as said:
        subprocess.run(["sh", "-c", "echo it fails >&2"], check=True)
        said.seek(0)
        assert said.read() == "it fails\n"
    assert capfd.readouterr().err == "it fails\n"
