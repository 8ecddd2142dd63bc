# SPDX-License-Identifier: BSD-3-Clause
"""The Python programs of the examples, as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from command_line import PATIENCE

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TONARI_BUILD", SOURCE / "build")).resolve()


def run_script(name: str, *arguments: str, columns: int) -> subprocess.CompletedProcess[str]:
    script = [sys.executable, str(SOURCE / "examples" / name), *arguments]
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": str(columns)}
    return subprocess.run(script, capture_output=True, text=True, timeout=PATIENCE, env=env)
