# SPDX-License-Identifier: BSD-3-Clause
"""Sizes with units, wherever a command takes bytes."""

from __future__ import annotations

import json
from typing import Any

import built
import pytest
import typer
from command_line import call, printed, refused
from tonari.benchmark import launch
from tonari.sizes import parse_size, plain_sizes

EXAMPLE = "it must be a number of bytes, such as 4096, 64K or 1MiB"
# tests/base/setting_test.cpp has the same words for TONARI_INPLACE_MEMORY.
SIZES = {
    "0": 0, "4096": 4096, "4K": 4096, "4k": 4096, "4KiB": 4096, "4kib": 4096, "64M": 64 << 20,
    "3MiB": 3 << 20, "2G": 2 << 30, "007": 7, "10GiB": 10 << 30, "0G": 0,
}  # fmt: skip
NO_SIZES = ["", "K", "-1", "+1", "1.5K", "1e3", "4 K", "4K ", " 4K", "4KB", "4B", "4Ki", "4KiBs"]
NO_SIZES += ["4T", "0x10", "4K4", "٤K"]


@pytest.mark.parametrize("text", SIZES)
def test_units_are_powers_of_1024(text: str) -> None:
    assert parse_size(text, "--bytes") == SIZES[text]


@pytest.mark.parametrize("text", NO_SIZES)
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(typer.BadParameter) as error:
        parse_size(text, "--page")
    assert error.value.message == f"--page is '{text}'; {EXAMPLE}"


def test_lists_become_plain_numbers() -> None:
    assert plain_sizes("8,4KiB,1M", "--bytes") == "8,4096,1048576"
    for wrong in ("8,,16", "8,", "8,4KB"):
        with pytest.raises(typer.BadParameter, match="--bytes is '"):
            plain_sizes(wrong, "--bytes")


def test_plan_takes_units() -> None:
    rows = [json.loads(printed(call(f"plan moore:2:1 --json --bytes {n}"))) for n in ("4K", "4096")]
    assert rows[0] == rows[1] and rows[0][0]["bytes"] == 8 * 4096


BYTES = [
    ("plan moore:2:1", "--bytes"),
    ("bench moore:2:1", "--bytes"),
    ("bench inplace", "--total-bytes"),
    ("bench inplace", "--memory"),
    ("bench halo", "--page"),
    ("bench sparse", "--bytes"),
]


@built.marks("tonari_bench")[1]
@pytest.mark.parametrize(("command", "option"), BYTES)
def test_every_option_of_bytes_names_itself(command: str, option: str) -> None:
    refused(call(f"{command} {option} 4KB"), f"{option} is '4KB'; {EXAMPLE}", 2)


@built.marks("tonari_bench")[1]
@pytest.mark.parametrize(("command", "option"), BYTES[1:])
def test_programs_get_plain_numbers(
    command: str, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def start(full: list[str], *_: Any) -> tuple[int, list[str]]:
        seen.append(full)
        return 1, ["no more is wanted"]

    monkeypatch.setattr(launch, "_run", start)
    refused(call(f"{command} {option} 4KiB"), "no more is wanted", 1)
    assert seen[0][seen[0].index(option) + 1] == "4096"
