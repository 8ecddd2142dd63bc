# SPDX-License-Identifier: BSD-3-Clause
"""What replaces `<!-- site: NAME ... -->` in a page: tables of settings and algorithms, help of
commands, what commands print, the reference of headers, pictures and measured rows.

Each takes the rest of the order and the folder of the page, where files may be put.
"""

from __future__ import annotations

import csv
import io
import os
import shlex
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import c_header
import cpp_header
import five_papers
import pictures
import python_api

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ["tonari", "large_counts", "grid", "grid_layout", "blocks", "vector", "sparse", "group"]
HEADERS += ["iso", "fortran", "petsc"]
CPP_HEADERS = ["tonari", "request", "neighborhood", "in_place", "ranges", "grid", "stencil"]
CPP_HEADERS += ["blocks", "vector", "sparse", "group", "spmv", "matrix_file"]
KINDS = {"offsets": "Offsets on a grid", "graphs": "Any graph", "in place": "In place"}


def fence(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.strip()}\n```"


def printed(order: str, _: Path) -> str:
    """What a command of the command line prints."""
    return fence(f"$ tonari {order}", "console") + "\n\n" + fence(output_of(shlex.split(order)))


def output_of(arguments: list[str]) -> str:
    from tonari import cli

    os.environ |= {"COLUMNS": "80", "NO_COLOR": "1"}
    with redirect_stdout(io.StringIO()) as text:
        status = cli.main(arguments)
    if status:
        raise ValueError(f"tonari {shlex.join(arguments)} failed")
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def commands(_order: str, _: Path) -> str:
    """The help of every command."""
    from tonari.cli import COMMANDS

    names = [name.replace("_", " ") for name in COMMANDS]
    parts = [f"## tonari {n}\n\n{fence(output_of([*n.split(), '--help']))}" for n in names]
    return "\n\n".join(parts)


def settings(_order: str, _: Path) -> str:
    """An entry for every key and variable, which names on other pages lead to."""
    from tonari.core import core

    seen: set[str] = set()
    return "\n\n".join(_setting(row, seen) for row in core().settings())


def _setting(row: Any, seen: set[str]) -> str:
    """seen: names of settings before it, which keep their anchors."""
    names = [name for name in (row.key, row.variable) if name]
    fresh = list(dict.fromkeys(n.lower() for n in names if n.lower() not in seen))
    seen.update(fresh)
    alike = "the same on all ranks" if row.alike else "may differ between ranks"
    default = f"**Default:** {row.default}\n\n" if row.default else ""
    title = " or ".join(f"`{name}`" for name in names)
    anchors = "".join(f"(setting-{name})=\n" for name in fresh)
    return (
        f"{anchors}## {title}\n\n{row.help[0].upper()}{row.help[1:]}.\n\n"
        f"**Values:** {row.values}\n\n{default}For {row.where}; {alike}."
    )


def algorithms(_order: str, _: Path) -> str:
    """The table of algorithms, one part for each kind of pattern."""
    from tonari.core import core

    parts = []
    for kind, title in KINDS.items():
        rows = [row for row in core().algorithms() if kind in row.applies_to]
        parts.append(
            f"## {title}\n\n"
            + _table(
                ["name", "what it does", "variants", "from"],
                [
                    [
                        f"`{r.name}`",
                        r.summary,
                        r.variants,
                        "tonari" if r.paper == "ours" else r.paper,
                    ]
                    for r in rows
                ],
            )
        )
    return "\n\n".join(parts)


def _table(titles: list[str], rows: list[list[str]]) -> str:
    cells = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def headers(_order: str, folder: Path) -> str:
    """A page for every header, and the list of them."""
    place = folder / "headers"
    place.mkdir(parents=True, exist_ok=True)
    public = ROOT / "include/tonari"
    for name in HEADERS:
        (place / f"{name}.h.rst").write_text(c_header.page(public / f"{name}.h"))
    for name in CPP_HEADERS:
        (place / f"{name}.hpp.rst").write_text(cpp_header.page(public / f"{name}.hpp"))
    names = [f"{n}.h" for n in HEADERS] + [f"{n}.hpp" for n in CPP_HEADERS]
    return "```{toctree}\n:maxdepth: 2\n\n" + "\n".join(f"headers/{n}" for n in names) + "\n```"


def picture(order: str, folder: Path) -> str:
    """A drawing, for a light and for a dark page."""
    name, _, caption = order.partition(" ")
    place = folder / "pictures"
    place.mkdir(parents=True, exist_ok=True)
    parts = []
    for theme in ("light", "dark"):
        pictures.draw(name, theme, place / f"{name}-{theme}.svg")
        parts.append(
            f"```{{figure}} pictures/{name}-{theme}.svg\n:figclass: only-{theme}\n"
            f":alt: {caption}\n\n{caption}\n```"
        )
    return "\n\n".join(parts)


def rows(order: str, _: Path) -> str:
    """A committed file of measured rows as a table."""
    with open(ROOT / order, encoding="utf-8", newline="") as file:
        titles, *body = csv.reader(file)
    return _table(titles, [[_unbroken(cell) for cell in row] for row in body])


def _unbroken(cell: str) -> str:
    """Short cells stay on one line."""
    return cell.replace(" ", "\u00a0") if len(cell) < 20 else cell


def python(_order: str, _: Path) -> str:
    """What tonari.mpi has."""
    return python_api.reference(ROOT / "python/tonari/mpi")


def report(_: str, __: Path) -> str:
    """A link to the report on five papers, which lies beside the site's first page."""
    return fence(
        f'<p><a href="../{five_papers.NAME}">The report of this version</a></p>', "{raw} html"
    )


INSERTS: dict[str, Callable[[str, Path], str]] = {
    function.__name__: function
    for function in (
        printed,
        commands,
        settings,
        algorithms,
        headers,
        picture,
        python,
        rows,
        report,
    )
}
