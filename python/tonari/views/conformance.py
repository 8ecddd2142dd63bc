# SPDX-License-Identifier: BSD-3-Clause
"""The readable form of `tonari conformance`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.padding import Padding
from rich.text import Text

from tonari.output import console


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """A paragraph for each call and topology with which something is wrong."""
    out = console()
    wrong = [row for row in rows if row["wrong"]]
    for (call, topology), found in groupby(wrong, lambda row: (row["call"], row["topology"])):
        kinds = list(found)
        out.print(f"{call}, {topology}", style="bold")
        sentence = f"{kinds[0]['wrong']} ({', '.join(row['data'] for row in kinds)})"
        out.print(Padding(Text(sentence), (0, 0, 0, 2)))
    if rows:
        out.print(f"{rows[0]['mpi']}, {rows[0]['ranks']} ranks")
    out.print(f"{len(wrong)} of {len(rows)} exchanges are wrong")
