# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a user calls it, but in this process: another interpreter, and all that it
imports, would take half a second for each of hundreds of calls."""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import IO, Any
from unittest import mock

from tonari.cli import main

# 80 columns, no colors.
PLAIN = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
PATIENCE = 900  # seconds: far more than any call takes on a busy machine
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


def words(*arguments: str) -> list[str]:
    """What stands alone is a line of words as in a shell; several are the words themselves."""
    return shlex.split(arguments[0]) if len(arguments) == 1 else list(arguments)


def refused(done: subprocess.CompletedProcess[str], sentence: str, status: int = 0) -> None:
    """The process failed (with that status) and said no more than one sentence."""
    assert done.returncode == status if status else done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.startswith("tonari: ") and len(done.stderr.splitlines()) == 1, done.stderr
    assert sentence in done.stderr, done.stderr


def printed(done: subprocess.CompletedProcess[str]) -> str:
    """What a call that must succeed wrote to its standard output."""
    assert done.returncode == 0, done.stderr
    return done.stdout


def fits(text: str) -> list[str]:
    """The lines of a readable form, none of which is wider than the terminal."""
    lines = text.splitlines()
    assert max(map(len, lines)) <= int(PLAIN["COLUMNS"])
    return lines


def shown(view: Callable[..., None], *rows: Any) -> list[str]:
    """The lines that a view prints, none of which is wider than the terminal."""
    with mock.patch.dict(os.environ, PLAIN), redirect_stdout(io.StringIO()) as out:
        view(*rows)
    return fits(out.getvalue())


@contextmanager
def errors_of_jobs() -> Iterator[IO[str]]:
    """What the processes that a call starts write to their standard error, for who reads it before
    the end. Afterwards it is there as always."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        before = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(before, 2)
            os.close(before)
            said.seek(0)
            os.write(2, said.read().encode())


def died_in_mpis_end(status: int, said: str) -> bool:
    """Open MPI's own thread may still run while MPI_Finalize unloads the code that it is in, about
    once in 10,000 jobs (open-mpi/ompi#10117). No stack can be printed then; where a program
    itself fails, there is one."""
    died = "Signal code: Address not mapped" in said
    return status == 128 + signal.SIGSEGV and died and "] [ 0]" not in said


def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """call("plan moore:2:1") -> what the process `tonari plan moore:2:1` would have left."""
    line = words(*arguments)
    with errors_of_jobs() as said:
        done = call_once(line, environment)
        said.seek(0)
        if died_in_mpis_end(done.returncode, said.read()):
            warnings.warn(f"died in MPI_Finalize, and ran again: {line}", stacklevel=2)
            done = call_once(line, environment)
    return done


def call_once(line: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, PLAIN | environment),
        redirect_stdout(out),
        redirect_stderr(err),
        time_limit(PATIENCE),
    ):
        status = main(line)
    if status == INTERRUPTED:  # who wants the command to stop wants the tests to stop
        raise KeyboardInterrupt
    return subprocess.CompletedProcess(["tonari", *line], status, out.getvalue(), err.getvalue())
