"""The command line as a user calls it, but in this process: another interpreter, and all that it
imports, would take half a second for each of hundreds of calls."""

from __future__ import annotations

import io
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any
from unittest import mock

from built import TAKE_TURNS
from tonari.cli import main

# 80 columns, no colors.
PLAIN = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
PATIENCE = 300
INTERRUPTED = 130


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    def give_up(*_: Any) -> None:
        raise TimeoutError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """call("plan", "moore:2:1") -> what the process `tonari plan moore:2:1` would have left."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, PLAIN | TAKE_TURNS | environment),
        redirect_stdout(out),
        redirect_stderr(err),
        time_limit(PATIENCE),
    ):
        status = main(list(arguments))
    if status == INTERRUPTED:  # who wants the command to stop wants the tests to stop
        raise KeyboardInterrupt
    return subprocess.CompletedProcess(
        ["tonari", *arguments], status, out.getvalue(), err.getvalue()
    )
