# SPDX-License-Identifier: BSD-3-Clause
"""tonari settings: every info key and environment variable of the library."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tonari import output
from tonari.commands.options import Json
from tonari.core import core
from tonari.errors import ARGUMENT, Error
from tonari.suggestion import did_you_mean
from tonari.views.settings import markdown, show

NAME = "Only those whose key or variable has this in its name."


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(settings)


def settings(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help=NAME, show_default=False)] = "",
    as_markdown: Annotated[
        bool,
        typer.Option("--markdown", help="The table as it stands in docs/settings.md."),
    ] = False,
    json: Json = False,
) -> None:
    """Info keys and environment variables, with their values and defaults.

    A variable wins over the key. What must be the same on all ranks is checked.

    Example:  tonari settings

    Example:  tonari settings channel --json
    """
    rows = [row for row in core().settings() if name.lower() in f"{row.key} {row.variable}".lower()]
    if not rows:
        names = [word for row in core().settings() for word in _words(row)]
        raise Error(
            f"no setting has '{name}' in its name: `tonari settings` lists all"
            + did_you_mean(name, names),
            ARGUMENT,
        )
    if json:
        output.print_json([_row(row) for row in rows])
    elif as_markdown:
        print(markdown(rows))
    else:
        show(rows)


def _words(row: Any) -> list[str]:
    """By which somebody may look for a setting: both names, and what stands behind their prefix."""
    names = [name.lower() for name in (row.key, row.variable) if name]
    return [*names, *(name.partition("_")[2] for name in names)]


def _row(row: Any) -> dict[str, Any]:
    return {
        "key": row.key,
        "variable": row.variable,
        "values": row.values,
        "default": row.default,
        "where": row.where,
        "same_on_all_ranks": row.alike,
        "help": row.help,
    }
