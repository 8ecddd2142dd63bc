# SPDX-License-Identifier: BSD-3-Clause
"""tonari layout: in which order to store the surface of a grid."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tonari import output
from tonari.commands.options import Json
from tonari.core import core
from tonari.views.layout import show

SEARCH = "Look for an order anew, for at most this many seconds; default: the one in the table."


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(layout)


def layout(
    dims: Annotated[
        int, typer.Argument(metavar="D", help="Dimensions of the grid, 1 to 5.", show_default=False)
    ],
    search: Annotated[float | None, typer.Option(min=0.0, metavar="SECONDS", help=SEARCH)] = None,
    json: Json = False,
) -> None:
    """The order of a grid's surface regions that needs the fewest messages.

    Near its border a grid has a region for each sign vector: +0- is at the upper
    end of the first dimension and the lower end of the third. A neighbor needs
    several; those stored one after the other travel in one message.

    Example:  tonari layout 3

    Example:  tonari layout 5 --search 10 --json
    """
    order = (
        core().surface_order(dims) if search is None else core().search_surface_order(dims, search)
    )
    if json:
        output.print_json([_row(order)])
    else:
        show(order)


def _row(order: Any) -> dict[str, Any]:
    return {
        "dims": order.dims,
        "messages": order.messages,
        "basic": order.basic,
        "neighbors": order.neighbors,
        "neighbours": order.neighbors,  # its earlier name
        "bound": order.bound,
        "order": order.texts,
    }
