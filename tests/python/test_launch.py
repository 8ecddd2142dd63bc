# SPDX-License-Identifier: BSD-3-Clause
"""Programs that `tonari bench` starts end with it, and how it finds them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PATIENCE
from tonari.benchmark import launch

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


def test_benchmarks_that_were_compiled_for_tests_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, and nothing else of the build does."""
    for program in ("tonari_bench_spmv", "tonari_conformance"):
        (tmp_path / program).touch()
    entry = {"mpiexec": "mpiexec", "bin": str(tmp_path)}
    mpis = {"quick": entry | {"for_tests": True}, "whole": entry | {"for_tests": False}}
    (tmp_path / "tonari-config.json").write_text(json.dumps({"source": "here", "mpis": mpis}))
    monkeypatch.setenv("TONARI_BUILD", str(tmp_path))
    launch.find_mpi("whole", "tonari_bench_spmv")
    launch.find_mpi("quick", "tonari_conformance")
    assert capsys.readouterr().err == ""
    for _ in range(2):
        launch.find_mpi("quick", "tonari_bench_spmv")
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 and "benchmarks for quick" in told[0] and "`make bench`" in told[0]
