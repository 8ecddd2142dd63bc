#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command, and what it starts, so that ranks which share cores take turns soon, also beside
other busy processes.

    tools/short_slices.py COMMAND [ARGUMENT...]

Linux gives a process that never waits 3 to 4 ms at a time, and takes as much from one that yields,
so ranks that wait for each other pass a message per slice. Since 6.12 a process may ask for
slices of its own; elsewhere slices are as long as before.

Where other processes keep the cores busy, ranks that yield would give them nearly all the time:
two of them made tests take 30 times as long. Linux shares time out evenly between sessions
(`sched_autogroup`), so the command gets one of its own. Signals that end a program are passed on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import subprocess
import sys

SLICE = 100_000  # ns, the shortest that the system grants
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274, "ppc64le": 355, "s390x": 345}


class Attributes(ctypes.Structure):
    """struct sched_attr of linux/sched/types.h; the policy is the usual one, 0."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def ask_for_slices(nanoseconds: int) -> None:
    """For this process and those that it starts. Systems that know no slices do nothing."""
    number = SCHED_SETATTR.get(platform.machine())
    if number is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = Attributes(size=48, nice=nice, runtime=nanoseconds)
    ctypes.CDLL(None).syscall(number, 0, ctypes.byref(attributes), 0)


def run(command: list[str]) -> int:
    """In a session of its own; returns its exit status as a shell tells it."""
    started: list[int] = []
    early: list[int] = []  # signals that came while it was being started

    def pass_on(number: int, _: object) -> None:
        if not started:
            early.append(number)
            return
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.killpg(started[0], number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, pass_on)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        started.append(process.pid)
        while early:
            pass_on(early.pop(), None)
        status = process.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: tools/short_slices.py COMMAND [ARGUMENT...]")
    ask_for_slices(SLICE)
    try:
        sys.exit(run(sys.argv[1:]))
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error.strerror}")
