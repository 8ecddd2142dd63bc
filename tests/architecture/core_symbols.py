# SPDX-License-Identifier: BSD-3-Clause
"""The core's objects neither define nor want an MPI symbol: usage: core_symbols.py NM LIBRARY."""

import re
import subprocess
import sys

MPI = re.compile(r"\bP?MPIX?_\w+|\bompi_\w+|\bMPIR_\w+")

symbols = subprocess.run(
    [sys.argv[1], sys.argv[2]], capture_output=True, text=True, check=True
).stdout
found = sorted(set(MPI.findall(symbols)))
print("the core references", ", ".join(found) if found else "no MPI symbol")
if "tonari" not in symbols:
    sys.exit(f"{sys.argv[2]} holds no symbol of tonari: wrong file?")
sys.exit(bool(found))
