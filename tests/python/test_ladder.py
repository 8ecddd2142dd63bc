# SPDX-License-Identifier: BSD-3-Clause
"""The ladder of examples: eight steps, each in C++ and in Python, short, listed and run."""

from __future__ import annotations

import re
from pathlib import Path

import mpi4py_jobs as jobs
import pytest

LADDER = jobs.SOURCE / "examples/ladder"
PYTHON = sorted(LADDER.glob("*.py"))
CPP = sorted(LADDER.glob("*.cpp"))


def test_every_step_is_there_in_both_languages_and_short() -> None:
    assert [path.stem[:2] for path in CPP] == [f"{step:02}" for step in range(1, 9)]
    assert [path.stem for path in CPP] == [path.stem for path in PYTHON]
    for path in (*CPP, *PYTHON):
        text = path.read_text(encoding="utf-8")
        assert "One idea: " in text
        assert len(text.splitlines()) <= 60, path.name


def test_cmake_and_the_page_name_every_step() -> None:
    cmake = (LADDER / "CMakeLists.txt").read_text(encoding="utf-8")
    (steps,) = re.findall(r"foreach\(step (.*)\)", cmake)
    assert steps.split() == [path.stem for path in CPP]
    page = (jobs.SOURCE / "docs/examples.md").read_text(encoding="utf-8")
    assert re.findall(r"/ladder/(\w+\.cpp)\)", page) == [path.name for path in CPP]
    assert re.findall(r"/ladder/(\w+\.py)\)", page) == [path.name for path in PYTHON]


@pytest.mark.parametrize("program", PYTHON, ids=lambda path: path.stem)
@jobs.needed
@jobs.on_ranks([3], [], [1, 2, 5])
def test_step_in_python(program: Path, mpi: str, ranks: int, tmp_path: Path) -> None:
    """Each asserts what arrived on every rank."""
    jobs.succeeded(jobs.run(mpi, ranks, tmp_path, program))
