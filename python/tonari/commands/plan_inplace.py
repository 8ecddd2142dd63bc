# SPDX-License-Identifier: BSD-3-Clause
"""tonari plan inplace: in which step each pair of ranks swaps its blocks."""

from __future__ import annotations

from typing import Annotated

import typer

from tonari import output
from tonari.algorithm_table import NAMES
from tonari.commands.options import Json
from tonari.swaps import IN_PLACE, steps_of, swap_algorithms, swap_rows
from tonari.views.swaps import show

MOST = 4096  # ranks: a row for each pair


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("plan inplace")(plan_inplace)


def plan_inplace(
    ranks: Annotated[int, typer.Option(min=1, max=MOST, metavar="P", help="Number of ranks.")] = 8,
    algorithms: Annotated[
        str, typer.Option(metavar="A,A,...", help=f"{NAMES[IN_PLACE]}; default: all.")
    ] = "",
    json: Json = False,
) -> None:
    """In which step each pair of ranks swaps its blocks in an exchange in place.

    Every rank makes its swaps one after the other, each as early as possible. The
    fewer steps, the fewer ranks are idle.

    Example:  tonari plan inplace --ranks 7

    Example:  tonari plan inplace --ranks 64 --algorithms hierarchical-sets --json
    """
    names = swap_algorithms(algorithms.split(",") if algorithms else [])
    if json:
        output.print_json(row for name in names for row in swap_rows(name, ranks))
    else:
        show({name: steps_of(name, ranks) for name in names})
