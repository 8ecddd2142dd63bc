# SPDX-License-Identifier: BSD-3-Clause
"""TONARI_REPORT: the report of an example's job, as JSON and as text, and what its page says of
it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/read-describe.md"
BUILT, needs_build, each_mpi = built.marks("jacobi2d")
RANKS = 4
NUMBER = re.compile(r"[\d.]+(e-?\d+)?")


def run(mpi: str, report: str) -> subprocess.CompletedProcess[str]:
    program = Path(BUILT[mpi]["bin"]) / "jacobi2d"
    settings = {"TONARI_REPORT": report, "OMPI_MCA_mpi_yield_when_idle": "1"}
    done = subprocess.run(
        [BUILT[mpi]["mpiexec"], "-n", str(RANKS), str(program)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | ANY_RANKS | settings,
    )
    assert done.returncode == 0, done.stderr
    return done


def section() -> str:
    _, heading, rest = PAGE.read_text(encoding="utf-8").partition("\n## The report of a job\n")
    assert heading
    return rest.partition("\n## ")[0]


def rows(mpi: str, file: Path) -> list[dict[str, Any]]:
    run(mpi, str(file))
    return json.loads(file.read_text(encoding="utf-8"))


@each_mpi
def test_json(mpi: str, tmp_path: Path) -> None:
    found = rows(mpi, tmp_path / "report.json")
    # one for each of the two fields; the starts of each may choose something else
    assert sum(row["requests"] for row in found) == 2
    assert len(found) <= 2
    for row in found:
        assert row["kind"] == "requests"
        assert row["operation"] == "alltoallw"
        assert row["ranks"] == row["processes"] == RANKS
        assert row["starts"] > 100
        assert 32 < row["timed_starts"] < row["starts"]
        # a mesh of 2 x 2 ranks: each has two neighbors, and sends them a side each
        assert row["bytes"] == 2 * 8 * 8
        assert row["all_bytes"] == RANKS * row["starts"] * row["bytes"]
        assert row["all_messages"] >= RANKS * row["starts"]
        assert row["seconds"] > 0
        assert row["seconds_per_start"] == pytest.approx(row["seconds"] / row["starts"])
        assert row["native_source"] in ("modeled", "measured", "remembered")


@each_mpi
def test_its_page_names_all_fields(mpi: str, tmp_path: Path) -> None:
    row = rows(mpi, tmp_path / "report.json")[0]
    named = set(re.findall(r"`(\w+)`", section().partition("| field")[2]))
    assert set(row) <= named, sorted(set(row) - named)


def without_numbers(line: str) -> str:
    line = re.sub(r"(?<=\d)(B|[kKM]|[KM]iB)\b", "", line)
    return " ".join(NUMBER.sub("N", word) for word in line.split())


def of_some_choice(line: str) -> str:
    """What a run chooses, and what it knows of native, differs."""
    line = re.sub(r"^ +\S[^()]* \(.*?\)", "chosen", line)
    line = re.sub(r"modeled|measured|remembered", "known", line)
    return re.sub(r"paid after .* starts: (yes|not yet)|init never pays", "paid", line)


def shape(text: str) -> list[str]:
    """Titles and words as they are; of numbers, that they are some. The two requests may share a
    row or not."""
    head, titles, *rest = text.splitlines()
    end = next(k for k, line in enumerate(rest) if line.startswith("seconds in start"))
    what, chosen, numbers = (set(map(of, rest[k:end:3])) for k, of in enumerate(ROW))
    return [head, titles, *what, *chosen, *numbers, *rest[end:]]


ROW = (str, lambda line: without_numbers(of_some_choice(line)), without_numbers)


@each_mpi
def test_its_page_shows_such_a_report(mpi: str) -> None:
    [example] = re.findall(r"```text\n(tonari: report of .*?)```", section(), re.DOTALL)
    assert shape(run(mpi, "1").stderr) == shape(example)
