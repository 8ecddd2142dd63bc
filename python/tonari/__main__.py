# SPDX-License-Identifier: BSD-3-Clause
"""python -m tonari"""

from tonari.cli import main

raise SystemExit(main())
