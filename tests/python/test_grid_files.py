# SPDX-License-Identifier: BSD-3-Clause
"""Files of grids and NumPy: what it saves is loaded, and what is saved it loads as the same
array."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
from command_line import PATIENCE
from test_peers import ENVIRONMENT, command, each_mpi


@each_mpi
def test_arrays_come_back_as_they_were(mpi: str, tmp_path: Path) -> None:
    array = np.random.default_rng(6).standard_normal((24, 16, 40))
    np.save(tmp_path / "from.npy", array)
    words = command(mpi, 3, "npy", str(tmp_path / "from.npy"), str(tmp_path / "to.npy"))
    env = os.environ | ENVIRONMENT
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=PATIENCE, env=env)
    assert done.returncode == 0, done.stderr
    back = np.load(tmp_path / "to.npy", allow_pickle=False)
    assert back.dtype == array.dtype
    assert back.flags["C_CONTIGUOUS"]
    assert np.array_equal(back, array)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["from.npy", "to.npy"]
