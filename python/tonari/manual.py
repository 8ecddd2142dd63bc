# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages tonari(1), tonari-plan(1), tonari-bench-halo(1) and so on, made from the same
words as --help, in the language of man(7).

    python -m tonari.manual FOLDER    writes a page for each command
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from tonari import __version__
from tonari import help as helping
from tonari.cli import app
from tonari.core import core

STATUS = (
    ("0", "It did what it was asked to."),
    ("1", "It failed; one sentence on standard error says why."),
    ("2", "The command line is wrong; one sentence on standard error says where."),
)
Entry = tuple[str, str]  # both as man(7) has them


def plain(text: str) -> str:
    """Words as they are: hyphens that can be pasted, and no line that is taken for a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    for typed, named in (("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(typed, named)
    return f"\\&{text}" if text.startswith(".") else text


def bold(text: str) -> str:
    return f"\\fB{plain(text)}\\fR"


def italic(text: str) -> str:
    return f"\\fI{plain(text)}\\fR"


def section(title: str, lines: Iterable[str]) -> list[str]:
    """None where it would be empty."""
    body = list(lines)
    return [f".SH {title}", *body] if body else []


def entries(rows: Iterable[Entry]) -> list[str]:
    return [line for name, text in rows for line in (".TP", name, text)]


def page_name(command: str) -> str:
    """tonari-bench-halo, of the command `bench halo`; tonari itself has no name."""
    return "-".join(["tonari", *command.split()])


def option(param: Any) -> str:
    """Its names, and what stands for its value."""
    names = ", ".join(bold(name) for name in [*param.opts, *param.secondary_opts])
    flag = getattr(param, "is_flag", False)
    return names if flag else f"{names} {italic(helping.name_of(param))}"


def synopsis(name: str, arguments: list[Any]) -> str:
    pieces = [bold(" ".join(["tonari", *name.split()])), f"[{italic('OPTIONS')}]"]
    for param in arguments:
        value = italic(helping.name_of(param))
        pieces.append(value if param.required else f"[{value}]")
    return " ".join([*pieces, *([] if name else [f"{italic('COMMAND')} ..."])])


def examples(command: Any) -> list[str]:
    texts = [" ".join(text.split()) for text in helping.paragraphs(command)]
    found = [text.partition(":")[2].strip() for text in texts if text.startswith("Example:")]
    return [line for text in found for line in (".PP", ".EX", plain(text), ".EE")]


def description(command: Any) -> list[str]:
    texts = [" ".join(text.split()) for text in helping.paragraphs(command)]
    kept = [plain(text) for text in texts if not text.startswith("Example:")]
    return [line for text in kept for line in (".PP", text)][1:]


def environment() -> list[Entry]:
    """The settings that are variables. A table in the middle of a program has no other place."""
    rows = []
    for row in core().settings():
        if row.variable:
            default = f"; default: {row.default}" if row.default else ""
            meaning = f"{row.help[0].upper()}{row.help[1:]}. Values: {row.values}{default}."
            rows.append((bold(row.variable), plain(" ".join(meaning.split()))))
    return rows


def summary(command: Any) -> str:
    """The first sentence, as it stands behind a name."""
    first = helping.first_line(command).rstrip(".")
    return first[0].lower() + first[1:]


def page(name: str, command: Any, context: Any, every: dict[str, Any]) -> str:
    """One page; `every` has all commands by name."""
    arguments, options = helping.parameters(command, context)
    title = page_name(name)
    named = entries((italic(helping.name_of(p)), plain(helping.meaning(p))) for p in arguments)
    listed = entries((option(p), plain(helping.meaning(p))) for p in options)
    others = [] if name else [(bold(n), plain(helping.first_line(c))) for n, c in every.items()]
    also = ["tonari"] if name else [page_name(n) for n in every]
    lines = [
        f'.TH {plain(title.upper())} 1 "" "tonari {__version__}" "tonari"',
        *section("NAME", [f"{plain(title)} \\- {plain(summary(command))}"]),
        *section("SYNOPSIS", [synopsis(name, arguments)]),
        *section("DESCRIPTION", description(command)),
        *section("COMMANDS", entries(others)),
        *section("ARGUMENTS", named),
        *section("OPTIONS", listed),
        *section("EXAMPLES", examples(command)[1:]),
        *section("ENVIRONMENT", entries(environment()) if not name else []),
        *section("EXIT STATUS", entries((bold(code), plain(text)) for code, text in STATUS)),
        *section("SEE ALSO", [", ".join(f"{bold(other)}(1)" for other in also)]),
    ]
    return "\n".join([*lines, ""])


def pages() -> dict[str, str]:
    """By file name."""
    program: Any = typer.main.get_command(app)
    found = {}
    with typer.Context(program, info_name="tonari") as outer:
        for name, command in [("", program), *program.commands.items()]:
            with typer.Context(command, info_name=name, parent=outer) as context:
                found[f"{page_name(name)}.1"] = page(name, command, context, program.commands)
    return found


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
