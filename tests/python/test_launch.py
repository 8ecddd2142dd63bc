# SPDX-License-Identifier: BSD-3-Clause
"""Programs that `tonari bench` starts end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from command_line import PATIENCE

CODE = """
import os
from tonari.benchmark import launch
launch._run(["sh", "-c", "echo x: $$; exec sleep 600"], dict(os.environ), "x",
            lambda line: print(line, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_outlives_a_benchmark_that_is_ended(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as bench:
        assert bench.stdout is not None
        pid = int(bench.stdout.readline())
        bench.send_signal(number)
        assert bench.wait(timeout=PATIENCE) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
