# SPDX-License-Identifier: BSD-3-Clause
"""--help of every command: it fits, says everything that the sources say, and has examples that the
command takes."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import Any

import pytest
import typer
from command_line import call, fits, printed

from tonari import help as helping
from tonari.cli import app

PROGRAM = typer.main.get_command(app)
COMMANDS: dict[str, Any] = PROGRAM.commands  # type: ignore[attr-defined]
every_command = pytest.mark.parametrize("name", ["", *COMMANDS], ids=lambda name: name or "tonari")
# Figures, tables and sections of papers mean nothing to somebody who asks for help.
PRIVATE = re.compile(r"§|\bFigures? \d|\bTables? \d|\b[Ss]ections? \d|\bEq\. ")


@cache
def help_of(name: str, columns: int = 80) -> str:
    return printed(call(*name.split(), "--help", COLUMNS=str(columns)))


def command(name: str) -> Any:
    return COMMANDS[name] if name else PROGRAM


def joined(text: str) -> str:
    """In one line, without the backslashes at which examples go on."""
    return " ".join(text.replace("\\\n", " ").split())


def examples(name: str) -> list[str]:
    paragraphs = map(joined, re.split(r"\n\s*\n", command(name).help))
    return [text.partition("Example: ")[2] for text in paragraphs if "Example:" in text]


@every_command
def test_help_fits_and_says_all_that_is_written(name: str) -> None:
    """Words that were broken, or brackets that were taken for markup, would be missing."""
    text = help_of(name)
    assert fits(text)
    said = joined(text)
    for paragraph in re.split(r"\n\s*\n", command(name).help):
        assert joined(paragraph) in said
    for param in command(name).params:
        assert joined(param.help or "") in said
        shown = param.opts if param.param_type_name == "option" else [helping.name_of(param)]
        assert all(word in said.split() for word in shown)


@every_command
def test_help_has_no_types_no_markup_and_no_places_in_papers(name: str) -> None:
    text = help_of(name)
    assert re.findall(r"<\w+>", text) == []
    assert re.findall(r"\[/?(?:bold|dim|red|yellow|cyan|green|blue|italic)?\]", text) == []
    assert PRIVATE.findall(text) == []


@every_command
def test_help_has_an_example_that_the_command_takes(name: str) -> None:
    assert examples(name)
    for example in examples(name):
        program, *words = shlex.split(example)
        assert program == "tonari"
        with PROGRAM.make_context("tonari", words) as outer:
            found, chosen, rest = PROGRAM.resolve_command(
                outer, [*outer._protected_args, *outer.args]
            )
            assert found == (name or "plan")
            chosen.make_context(found, rest, parent=outer)  # raises where a word is not taken


def test_an_example_that_goes_on_can_be_pasted() -> None:
    text = help_of("bench halo")
    (start,) = (k for k, line in enumerate(text.splitlines()) if "--stencil 125" in line)
    lines = text.splitlines()[start : start + 2]
    assert lines[0].endswith(" \\") and lines[1].startswith("      ")
    words = shlex.split("\n".join(lines).partition("Example:")[2])
    assert words[:3] == ["tonari", "bench", "halo"] and words[-2] == "--plot"


def test_brackets_and_defaults_stand_as_they_are() -> None:
    assert "octant:d[:r]" in help_of("plan") and "octant:d[:r]" in help_of("bench")
    text = joined(help_of("bench"))
    assert "Processes; default: 2, or as many as hosts. [1 to 65536]" in text
    assert "Timed rounds. [default: 200; at least 1]" in text
    assert "Messages of a rank at a time; 0: no limit. [default: 0; at least 0]" in joined(
        help_of("plan")
    )
    assert "it is made if it does not exist. [required]" in joined(help_of("partition"))
    assert joined(help_of("partition")).startswith("Usage: tonari partition [OPTIONS] FILE ")
    assert joined(help_of("settings")).startswith("Usage: tonari settings [OPTIONS] [NAME] ")


def test_wide_terminals_have_longer_lines_up_to_a_limit() -> None:
    longest = [max(map(len, help_of("bench", n).splitlines())) for n in (60, 80, 200)]
    assert longest[0] < longest[1] < longest[2] <= helping.WIDEST


def test_the_program_lists_its_commands() -> None:
    said = joined(help_of(""))
    for name, one in COMMANDS.items():
        assert f"{name} {joined(re.split(chr(10) * 2, one.help)[0])}" in said
