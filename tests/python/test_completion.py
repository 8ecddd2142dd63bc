# SPDX-License-Identifier: BSD-3-Clause
"""Completion: what the program offers, and what a shell makes of the installed script."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

import pytest
from command_line import PATIENCE, PLAIN
from tonari import completion
from tonari.benchmark.presets import PRESETS
from tonari.cli import main

SOURCE = Path(__file__).resolve().parents[2]
BENCH_S = ["spmv", "sparse", "star:2:1", "star:3:1", "shells:2:1,3", "scale-free:2"]
FIRST = ["plan", "simulate", "predict", "layout", "share", "partition", "bench", "calibrate"]
FIRST += ["run", "advise", "conformance", "reproduce", "settings"]


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts as they lie below share, and the program on a path of its own."""
    folder = tmp_path_factory.mktemp("share")
    completion.write(folder)
    program = folder / "bin/tonari"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tonari "$@"\n')
    program.chmod(0o755)
    return folder


def in_shell(share: Path, *command: str) -> list[str]:
    path = {"PATH": f"{share / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | PLAIN | path, timeout=PATIENCE
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.splitlines()


def offered(share: Path, *typed: str) -> list[str]:
    """By bash, where the last word is being typed."""
    script = """
        source "$1/bash-completion/completions/tonari"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        $(complete -p tonari | sed 's/.* -F \\([^ ]*\\) .*/\\1/') tonari
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    found = in_shell(share, "bash", "--norc", "-c", script, "bash", str(share), *typed)
    return [word for word in found if word]


def offered_here(*typed: str) -> list[str]:
    """By the program in this process, as bash asks it: starting it takes a second each time."""
    asked = {completion.VARIABLE: "complete_bash", "COMP_WORDS": " ".join(typed)}
    asked["COMP_CWORD"] = str(len(typed) - 1)
    with mock.patch.dict(os.environ, asked), redirect_stdout(io.StringIO()) as said:
        with pytest.raises(SystemExit) as end:
            main([])
    assert not end.value.code
    return said.getvalue().split()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["tonari", ""], FIRST),
        (["tonari", "p"], ["plan", "predict", "partition"]),
        (["tonari", "bench", "s"], BENCH_S),
        (["tonari", "plan", "i"], ["inplace"]),
        (["tonari", "simulate", "h"], ["halo"]),
        (["tonari", "bench", "halo", "--st"], ["--stencil"]),
        (["tonari", "bench", "halo", "--stencil", ""], ["7", "125", "none"]),
        (["tonari", "bench", "moore:3:1", "--mpi", "o"], ["openmpi"]),
        (["tonari", "bench", "--preset", ""], [*PRESETS]),
        (["tonari", "plan", "moore:3:1", "--op", "a"], ["alltoall", "allgather"]),
        (["tonari", "plan", "--pr"], ["--prove"]),
        (["tonari", "nonsense", ""], FIRST),  # as if it were not there, and no complaint
        (["tonari", "plan", "--machine", ""], []),  # bash then offers files
        (["tonari", "plan", "--machine", "inf"], ["infiniband-hdr", "infiniband-ndr"]),
        (["tonari", "predict", "--machine", "s"], ["slingshot-11"]),
    ],
    ids=lambda value: " ".join(value) if value and value[0] == "tonari" else "",
)  # fmt: skip
def test_it_offers(typed: list[str], expected: list[str]) -> None:
    assert offered_here(*typed) == expected


@pytest.mark.parametrize(
    "typed",
    [["tonari", ""], ["tonari", "bench", "halo", "--stencil", ""], ["tonari", "nonsense", ""]],
)
def test_bash_offers_the_same(share: Path, typed: list[str]) -> None:
    assert offered(share, *typed) == offered_here(*typed) != []


def test_bash_falls_back_to_files(share: Path) -> None:
    script = 'source "$1/bash-completion/completions/tonari" && complete -p tonari'
    (line,) = in_shell(share, "bash", "--norc", "-c", script, "bash", str(share))
    assert line.startswith("complete -o default -F ")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_ask_the_same_program(share: Path, shell: str) -> None:
    """As their scripts do; each word comes with what it is for."""
    asked = {"_TYPER_COMPLETE_ARGS": "tonari set", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    words = [f"{name}={value}" for name, value in asked.items()]
    ask = ["env", *words, f"{completion.VARIABLE}=complete_{shell}", "tonari"]
    text = "\n".join(in_shell(share, *ask))
    assert "settings" in text and "Info keys and environment variables" in text
    assert f"{completion.VARIABLE}=complete_{shell}" in completion.script(shell)


def test_zsh_loads_the_script_as_a_function(share: Path) -> None:
    if not shutil.which("zsh"):
        pytest.skip("there is no zsh")
    script = 'fpath=("$1/zsh/site-functions" $fpath); autoload -Uz compinit; compinit -u -D; '
    script += "print -r -- $_comps[tonari]"
    assert in_shell(share, "zsh", "-f", "-c", script, "zsh", str(share)) == ["_tonari"]


def test_fish_offers_commands(share: Path) -> None:
    if not shutil.which("fish"):
        pytest.skip("there is no fish")
    script = f'source "{share}/{completion.FILES["fish"]}"; complete -C "tonari p"'
    found = in_shell(share, "fish", "--no-config", "-c", script)
    assert [line.split("\t")[0] for line in found] == ["partition", "plan"]


def test_without_a_shell_that_asks_nothing_is_offered(share: Path) -> None:
    assert in_shell(share, "tonari", "--version")[0].startswith("tonari ")
