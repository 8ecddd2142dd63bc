#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts the table that `./tonari settings --markdown` prints into docs/settings.md. Build before:
the rows are those of the library."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/settings.md"
TABLE = re.compile(r"(?<=<!-- settings -->\n\n).*?(?=\n\n)", re.DOTALL)

if __name__ == "__main__":
    command = [ROOT / "tonari", "settings", "--markdown"]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    PAGE.write_text(TABLE.sub(lambda _: table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
