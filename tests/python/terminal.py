# SPDX-License-Identifier: BSD-3-Clause
"""What a command shows on a terminal, and Ctrl-C there."""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import sys

from command_line import INTERRUPTED, PLAIN


def read_until(terminal: int, text: str) -> str:
    """What a terminal shows until the text comes."""
    shown = ""
    while text not in shown:
        got = os.read(terminal, 1 << 16).decode(errors="replace")
        assert got, f"ended without '{text}': {shown}"
        shown += got
    return shown


def rest(terminal: int) -> str:
    shown = ""
    while True:
        try:
            got = os.read(terminal, 1 << 16).decode(errors="replace")
        except OSError:  # its other end is closed
            return shown
        if not got:
            return shown
        shown += got


def seconds_of(process: int) -> float:
    """Of processor time, so far."""
    with open(f"/proc/{process}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def seconds_of_children() -> float:
    """Of processor time, of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def interrupted_when(arguments: list[str], shown: str) -> tuple[str, float]:
    """What `tonari ARGUMENTS` still shows after Ctrl-C came when this was shown, and the seconds of
    processor time until its end: they do not depend on what else runs. It has printed nothing, and
    its status says that it was interrupted."""
    outer, inner = pty.openpty()
    before = seconds_of_children()
    with subprocess.Popen(
        [sys.executable, "-m", "tonari", *arguments],
        stdout=subprocess.PIPE,
        stderr=inner,
        env=os.environ | PLAIN | {"TERM": "xterm", "COLUMNS": "100"},
    ) as running:
        os.close(inner)
        read_until(outer, shown)
        running.send_signal(signal.SIGINT)
        until_then = seconds_of(running.pid)
        end = rest(outer)
        assert running.stdout is not None
        assert running.stdout.read() == b""
        assert running.wait() == INTERRUPTED
    os.close(outer)
    return end, seconds_of_children() - before - until_then
