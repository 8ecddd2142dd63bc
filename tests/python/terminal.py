# SPDX-License-Identifier: BSD-3-Clause
"""What a command shows on a terminal, and Ctrl-C there."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time

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


def interrupted_when(arguments: list[str], shown: str) -> tuple[str, float]:
    """What `tonari ARGUMENTS` still shows after Ctrl-C came when this was shown, and the seconds
    until its end. It has printed nothing, and its status says that it was interrupted."""
    outer, inner = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tonari", *arguments],
        stdout=subprocess.PIPE,
        stderr=inner,
        env=os.environ | PLAIN | {"TERM": "xterm", "COLUMNS": "100"},
    ) as running:
        os.close(inner)
        read_until(outer, shown)
        running.send_signal(signal.SIGINT)
        begin = time.monotonic()
        end = rest(outer)
        assert running.stdout is not None
        assert running.stdout.read() == b""
        assert running.wait() == INTERRUPTED
    os.close(outer)
    return end, time.monotonic() - begin
