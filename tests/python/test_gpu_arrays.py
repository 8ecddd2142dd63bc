# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory of a GPU, on devices without hardware (tests/python/ranks/gpu_arrays.py)."""

from __future__ import annotations

from pathlib import Path

import built
import mpi4py_jobs as jobs
import pytest
from test_mpi import checks

DRIVER = built.CONFIG.parent.absolute() / "fake_cuda"
pytestmark = [
    jobs.needed,
    pytest.mark.skipif(
        not (DRIVER / "libcuda.so.1").is_file(), reason="no driver of the tests was built"
    ),
]


def passed(mpi: str, ranks: int, folder: Path, *modules: str) -> None:
    """All that these modules check."""
    paths = f"{DRIVER}:{folder}"
    done = jobs.run(mpi, ranks, folder, jobs.RANKS / "run.py", *modules, LD_LIBRARY_PATH=paths)
    said = [line for line in jobs.succeeded(done).splitlines() if line.startswith("passed: ")]
    assert said == [f"passed: {module}.{name}" for module in modules for name in checks(module)]
    assert said


@jobs.on_ranks([1], [], [2, 3], 5)
def test_on_ranks(mpi: str, ranks: int, tmp_path: Path) -> None:
    passed(mpi, ranks, tmp_path, "device_arrays", "device_mistakes", "device_grids")


@jobs.on_ranks([1], [], [])
def test_what_nothing_orders_is_found(mpi: str, ranks: int, tmp_path: Path) -> None:
    passed(mpi, ranks, tmp_path, "device_order")
