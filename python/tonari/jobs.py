# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a command starts: a signal that ends the command ends them, and leaves none of their
processes behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import typer

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PATIENCE = 10.0  # seconds for a launcher to end its ranks


class Ended(BaseException):
    """By a signal, and no part of the program may take it for an error of its own."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def status_of(command: Sequence[str]) -> int:
    """Runs it, and returns its exit status as a shell has it. If a signal comes, the job ends, and
    so does the command."""
    with _signals_raise() as started:
        job = subprocess.Popen(command)
        try:
            started()
            status = job.wait()
        except Ended as asked:
            _end(job, asked.number)
            raise typer.Exit(128 + asked.number) from None
    return status if status >= 0 else 128 - status


@contextmanager
def _signals_raise() -> Iterator[Callable[[], None]]:
    """Signals that end processes raise Ended, from when `started` is called. Those that are
    ignored, as under nohup, stay so."""
    came: list[int] = []
    runs = False

    def handle(number: int, _: FrameType | None) -> None:
        came.append(number)
        if runs and len(came) == 1:
            raise Ended(number)

    def started() -> None:
        nonlocal runs
        runs = True
        if came:
            raise Ended(came[0])

    before = {
        number: signal.signal(number, handle)
        for number in ENDING
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield started
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(job: subprocess.Popen[bytes], number: int) -> None:
    """The launcher first, since it knows its ranks on other hosts. A terminal has sent Ctrl-C to
    all of them; a second signal would make them leave things behind."""
    below = _below(job.pid)
    if number == signal.SIGINT:
        _wait(job, 1.0)
    job.terminate()
    _wait(job, PATIENCE)
    job.kill()
    job.wait()
    for process, begin in below.items():
        if _begin(process) == begin:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _wait(job: subprocess.Popen[bytes], seconds: float) -> None:
    end = time.monotonic() + seconds
    while job.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


# ---- processes of this host


def _below(root: int) -> Mapping[int, str]:
    """The processes that it has started, directly and not, with the moments when they began: their
    numbers may be given to others."""
    parents = {process: _fields(process) for process in _all()}
    found: dict[int, str] = {}
    new = {root}
    while new:
        new = {process for process, (parent, _) in parents.items() if int(parent or 0) in new}
        found |= {process: parents[process][1] for process in new}
    return found


def _all() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _fields(process: int) -> tuple[str, str]:
    """Its parent's number, and when it began; empty where it has ended."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "", ""
    return words[1], words[19]


def _begin(process: int) -> str:
    return _fields(process)[1]
