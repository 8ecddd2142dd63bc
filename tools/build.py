#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds targets of a build tree and shows one line of progress: rewritten on a terminal, elsewhere
a new one for each tenth. What compilers say is printed as it is.

    tools/build.py BUILD [TARGET...]    all targets, if none is named
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import TextIO

STATUS = re.compile(r"\[(\d+)/(\d+)\] ")  # as NINJA_STATUS asks for it
SILENT = ("ninja: no work to do.",)
SOON = 0.1  # of the steps, before which nothing is said about the time that is left


class Progress:
    """The line that says how far a build is."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._start = clock()
        self._rewrites = out.isatty()
        self._tenths = 0

    def step(self, done: int, total: int) -> None:
        tenths = 10 * done // total
        if self._rewrites:
            self._out.write(f"\r\033[K{self._line(done, total)}")
            self._out.flush()
        elif tenths > self._tenths:
            print(self._line(done, total), file=self._out, flush=True)
        self._tenths = tenths

    def say(self, line: str) -> None:
        self.clear()
        print(line, file=self._out, flush=True)

    def clear(self) -> None:
        if self._rewrites:
            self._out.write("\r\033[K")
            self._out.flush()

    def _line(self, done: int, total: int) -> str:
        spent = self._clock() - self._start
        line = f"  building: {100 * done // total} % ({done} of {total} steps), {spent:.0f} s"
        if done < SOON * total or done == total:
            return line
        return f"{line}, about {spent * (total - done) / done:.0f} s left"


def follow(lines: Iterable[str], progress: Progress) -> None:
    """Shows what ninja prints. Before the first step it may look for new files: [0/1]."""
    for line in lines:
        line = line.rstrip("\n")
        status = STATUS.match(line)
        if status and int(status[1]) > 0:
            progress.step(int(status[1]), int(status[2]))
        elif not status and line not in SILENT:
            progress.say(line)


def build(folder: str, targets: list[str], out: TextIO) -> int:
    """Returns the exit status of the build."""
    command = ["cmake", "--build", folder, *(["--target", *targets] if targets else [])]
    progress = Progress(out)
    with subprocess.Popen(
        command,
        env=os.environ | {"NINJA_STATUS": "[%f/%t] "},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        try:
            follow(process.stdout, progress)
        except KeyboardInterrupt:  # ninja got it, too, and ends by itself
            process.wait()
            return 130
        finally:
            progress.clear()
    return process.returncode


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: tools/build.py BUILD [TARGET...]")
    sys.exit(build(sys.argv[1], sys.argv[2:], sys.stdout))
