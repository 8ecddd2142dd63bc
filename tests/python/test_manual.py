# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: each says what --help says, and formats without a warning."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
from command_line import PATIENCE
from tonari import help as helping
from tonari import manual
from tonari.cli import COMMANDS as MODULES
from tonari.cli import app
from tonari.core import core

PROGRAM: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = {"": PROGRAM, **PROGRAM.commands}
every_command = pytest.mark.parametrize("name", COMMANDS, ids=lambda name: name or "tonari")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("manual")
    manual.write(place)
    return place


def words(text: str) -> str:
    """In one line, with hyphens and quotes as they are typed."""
    text = re.sub(r"\x1b\[[\d;]*m|.\x08", "", text)
    return " ".join(text.replace("\u2010", "-").replace("\u2212", "-").split())


def formatted(page: Path) -> str:
    """What man shows on a wide terminal, so that it breaks no line."""
    if not shutil.which("man"):
        pytest.skip("there is no man")
    wide = {"MANWIDTH": "4000", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}
    command = ["man", "--warnings=w", "-P", "cat", "-l", str(page)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | wide, timeout=PATIENCE
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return words(done.stdout)


def test_there_is_a_page_for_each_command(folder: Path) -> None:
    names = {"tonari.1"} | {f"tonari-{module.replace('_', '-')}.1" for module in MODULES}
    assert {path.name for path in folder.iterdir()} == names


@every_command
def test_a_page_says_what_the_help_says(name: str, folder: Path) -> None:
    text = formatted(folder / f"{manual.page_name(name)}.1")
    command = COMMANDS[name]
    for paragraph in helping.paragraphs(command):
        said = words(paragraph).removeprefix("Example: ")
        assert said in text
    for param in command.params:
        assert words(helping.meaning(param)) in text
        if not helping.is_argument(param):
            assert words(helping.spelled(param)) in text
    headings = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"]
    places = [text.index(f" {heading} ") for heading in headings]
    assert places == sorted(places)


def test_the_page_of_the_program_lists_commands_and_variables(folder: Path) -> None:
    text = formatted(folder / "tonari.1")
    for name, command in PROGRAM.commands.items():
        assert f"{name} {helping.first_line(command)}" in text
        assert f"{manual.page_name(name)}(1)" in text
    variables = [row.variable for row in core().settings() if row.variable]
    assert variables and all(f" {variable} " in text for variable in variables)


@every_command
def test_mandoc_finds_no_error(name: str, folder: Path) -> None:
    if not shutil.which("mandoc"):
        pytest.skip("there is no mandoc")
    page = folder / f"{manual.page_name(name)}.1"
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", str(page)], capture_output=True, text=True
    )
    # the pages of one version are the same, whenever they are made: they have no date
    complaints = [line for line in done.stdout.splitlines() if "missing date" not in line]
    assert not complaints


def test_words_stay_what_they_are() -> None:
    assert manual.plain(".TH") == "\\&.TH"
    assert manual.plain("'a' --b `c` ^d ~e \\f") == (
        "\\(aqa\\(aq \\-\\-b \\(gac\\(ga \\(had \\(tie \\ef"
    )
