# SPDX-License-Identifier: BSD-3-Clause
"""tools/short_slices.py: what tests are started by."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PATIENCE

TOOL = Path(__file__).resolve().parents[2] / "tools/short_slices.py"
_spec = importlib.util.spec_from_file_location("short_slices", TOOL)
assert _spec and _spec.loader
short_slices = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(short_slices)
SHOW = "print(open('/proc/self/sched').read())"


def slice_of(*command: str, before: int) -> int:
    """The nanoseconds that a command finds, where its parent has asked for others."""
    printed = subprocess.run(
        [*command, sys.executable, "-c", SHOW],
        preexec_fn=lambda: short_slices.ask_for_slices(before),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = re.search(r"^se\.slice +: +(\d+)$", printed, re.MULTILINE)
    return int(found[1]) if found else 0


def test_what_a_command_starts_has_short_slices() -> None:
    kernel = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
    if kernel < (6, 12) or not Path("/proc/self/sched").exists():
        pytest.skip("this system gives no process slices of its own")
    assert slice_of(before=700_000) == 700_000
    assert slice_of(sys.executable, str(TOOL), before=700_000) == short_slices.SLICE


def test_a_command_says_how_it_ended() -> None:
    code = "import sys; sys.exit(int(sys.argv[1]))"
    for status in (0, 3):
        command = [sys.executable, TOOL, sys.executable, "-c", code, str(status)]
        assert subprocess.run(command, check=False).returncode == status


def test_a_command_that_is_not_there_is_named() -> None:
    done = subprocess.run(
        [sys.executable, TOOL, "/no/such/command"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "/no/such/command: No such file or directory\n"


def test_a_command_has_a_session_of_its_own() -> None:
    """Where others keep the cores busy, it has its share whoever started them."""
    code = "import os; print(os.getsid(0) == os.getpid())"
    command = [sys.executable, TOOL, sys.executable, "-c", code]
    assert subprocess.check_output(command, text=True) == "True\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_command(number: signal.Signals) -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    command = [sys.executable, TOOL, sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as tool:
        assert tool.stdout is not None
        pid = int(tool.stdout.readline())
        tool.send_signal(number)
        assert tool.wait() in (128 + number, 130)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_signal_that_comes_while_the_command_starts_ends_it() -> None:
    """The tool ended before, and left the command behind."""
    code = """
import os, signal, subprocess, sys
import short_slices
start = subprocess.Popen
def interrupted(*arguments, **keywords):
    process = start(*arguments, **keywords)
    print(process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    return process
subprocess.Popen = interrupted
sys.exit(short_slices.run(["sleep", "600"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": str(TOOL.parent)},
    )
    assert done.returncode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), signal.SIGKILL)
