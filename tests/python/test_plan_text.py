# SPDX-License-Identifier: BSD-3-Clause
"""tonari plan for people: the golden form at 80 columns, proofs, help, errors."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from command_line import fits, printed, refused

GOLDEN = Path(__file__).parent / "golden"


def without_predictions(text: str) -> str:
    """Times and the block sizes derived from them change with the model of the machine: only their
    place is compared."""
    prediction = r"( +)([\d.]+ µs)( +(?:never|always|[\d,.]+ (?:B|KiB)))?"
    return re.sub(prediction, lambda m: m[1] + "#" * (len(m[0]) - len(m[1])), text)


def test_the_readable_form(tonari):
    text = printed(tonari("plan", "moore:2:1", "--algorithm", "torus"))
    file = GOLDEN / "plan-moore-2-1.txt"
    if os.environ.get("TONARI_UPDATE_GOLDENS"):
        file.write_text(without_predictions(text), encoding="utf-8")
    assert without_predictions(text) == file.read_text(encoding="utf-8"), (
        f"{file.name} in {GOLDEN} differs; TONARI_UPDATE_GOLDENS=1 writes it anew"
    )


@pytest.mark.parametrize(
    "pattern", ["moore:2:1", "moore:3:1", "moore:5:3", "shells:3:3,7", "moore:8:1"]
)
def test_nothing_is_wider_than_80_columns(tonari, pattern):
    assert fits(printed(tonari("plan", pattern, "--algorithm", "torus")))


def test_long_drawings_are_cut_and_full_ones_are_not(tonari):
    cut = tonari("plan", "moore:3:1", "--algorithm", "linear").stdout
    assert "more lines (--full)" in cut
    full = tonari("plan", "moore:3:1", "--algorithm", "linear", "--full").stdout
    assert full.count("send to") == 26
    assert full.count("recv from") == 26


def test_proofs_are_shown(tonari):
    text = printed(tonari("plan", "moore:2:1", "--prove", "--mesh"))
    assert "ran all ranks of a mesh 3x3" in text
    for word in ("well-formed", "no deadlock", "no races", "clean memory", "delivery"):
        assert word in text


@pytest.mark.parametrize("command", [[], ["plan"]])
def test_help_has_an_example(tonari, command):
    text = printed(tonari(*command, "--help"))
    assert "Example:  tonari plan moore:3:1" in text and fits(text)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("moore:9:1", "must be an integer from 1 to 8"),
        ("no-such-file", "neither moore:d:r"),
        ("moore:2:1 --algorithm fast", "there is no algorithm 'fast'; choose one of linear, torus"),
        ("moore:4:1 --algorithm joint-basis", "cannot be used here"),
        ("moore:2:1 --dims 4x4x4", "the offsets have 2 coordinates, the grid has 3 dimensions"),
        ("moore:2:1 --dims 4x", "--dims must read like 4x4x4"),
        ("moore:2:1 --dims 99999x99999", "does not fit"),
        ("moore:2:1 --dims 99999999999x1", "--dims must read like"),
        ("moore:2:1 --periodic yes,no", "--periodic must read like 1,0,1"),
        ("moore:2:1 --mesh --periodic 1,1", "either --mesh or --periodic"),
        ("moore:2:1 --rank 25", "the grid has ranks 0 to 24"),
        ("moore:2:1 --rank 99999999999", "rank must be from 0 to"),
        ("moore:2:1 --bytes -1", "--bytes"),
        ("moore:2:1 --bytes 99999999999999999999", "bytes must be from 0 to"),
        (f"moore:5:3 --bytes {2**50}", "does not fit"),
        ("moore:2:1 --op reduce", "--op"),
        ("moore:2:1 --machine no-such-file", "no-such-file"),
        ("moore:2:1 --dims 2000x2000 --prove", "smaller grid"),
        ("star:8:9", "--dims"),
        ("moore:2:1 --fast", "--fast"),
        ("", "pattern"),
    ],
)
def test_mistakes_get_one_sentence_and_a_status(tonari, arguments, words):
    refused(tonari(f"plan {arguments}"), words)


@pytest.mark.parametrize("text", ["1 0\n1 0 0\n", "1 x\n", "# nothing\n", "1 2 3 4 5 6 7 8 9\n"])
def test_files_that_make_no_sense(tonari, tmp_path, text):
    path = tmp_path / "offsets.txt"
    path.write_text(text)
    done = tonari("plan", str(path))
    assert done.returncode == 1
    assert "offsets.txt" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_algorithm_that_is_named_is_planned_where_it_saves_nothing(tonari):
    assert "not here: additive-basis" in printed(tonari("plan moore:2:1"))
    forced = printed(tonari("plan moore:2:1 --algorithm additive-basis"))
    assert "not expected to pay: additive-basis: no dimension has more than two" in forced
    assert "▸ additive-basis" in forced
