# SPDX-License-Identifier: BSD-3-Clause
"""tools/build.py, which every target of the Makefile builds with: one line of progress, and what
compilers say as it is."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PATIENCE

SOURCE = Path(__file__).resolve().parents[2]
SCRIPT = SOURCE / "tools/build.py"
STEPS = 25
PROJECT = f"""\
cmake_minimum_required(VERSION 3.24)
project(steps NONE)
foreach(k RANGE 1 {STEPS})
  add_custom_command(OUTPUT out${{k}} COMMAND ${{CMAKE_COMMAND}} -E touch out${{k}} VERBATIM)
  list(APPEND outs out${{k}})
endforeach()
add_custom_target(all_of_them DEPENDS ${{outs}})
add_custom_target(noisy COMMAND ${{CMAKE_COMMAND}} -E echo "x.cpp:1: warning: [1] looks odd")
add_custom_target(broken COMMAND ${{CMAKE_COMMAND}} -E cat no-such-file)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("steps")
    (folder / "CMakeLists.txt").write_text(PROJECT)
    configure = ["cmake", "-G", "Ninja", "-S", str(folder), "-B", str(folder / "build")]
    subprocess.run(configure, check=True, capture_output=True, timeout=PATIENCE)
    return folder / "build"


def build(tree: Path, *targets: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(tree), *targets]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def clean(tree: Path) -> None:
    for path in tree.glob("out*"):
        path.unlink()


def test_a_log_gets_a_line_for_each_tenth_of_the_steps(tree: Path) -> None:
    clean(tree)
    done = build(tree, "all_of_them")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    shown = [re.match(rf"  building: (\d+) % \((\d+) of {STEPS} steps\), \d+ s", x) for x in lines]
    assert all(shown), done.stdout
    assert [int(m[1]) // 10 for m in shown if m] == list(range(1, 11))
    assert [int(m[2]) for m in shown if m] == [-(-STEPS * k // 10) for k in range(1, 11)]
    assert [line for line in lines if "left" in line] == lines[:-1]


def test_what_is_built_needs_no_line(tree: Path) -> None:
    build(tree, "all_of_them")
    again = build(tree, "all_of_them")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_what_compilers_say_is_printed(tree: Path) -> None:
    assert "x.cpp:1: warning: [1] looks odd" in build(tree, "noisy").stdout.splitlines()


def test_a_failure_has_its_reason_and_its_status(tree: Path) -> None:
    done = build(tree, "broken")
    assert done.returncode != 0
    assert "FAILED: " in done.stdout and "no-such-file" in done.stdout


def test_a_terminal_has_one_line_that_is_rewritten(tree: Path) -> None:
    clean(tree)
    ours, theirs = pty.openpty()
    command = [sys.executable, str(SCRIPT), str(tree), "all_of_them"]
    with subprocess.Popen(command, stdout=theirs) as process:
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 4096):
                text += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert b"\n" not in text
    assert len(re.findall(rb"\r\x1b\[K  building: \d+ %", text)) == STEPS
    assert text.endswith(b"\r\x1b[K")


def test_called_without_a_build_tree_it_says_how() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True)
    assert done.returncode != 0 and done.stderr.startswith("usage: ")


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        (["demo"], "tonari_demo"),
        (["test"], "tonari_tests"),
        (["bench"], "whole_tonari_bench"),
        (["bench", "BENCH=halo --size 32"], "whole_tonari_bench_halo"),
    ],
    ids=" ".join,
)
def test_make_builds_only_what_it_needs(arguments: list[str], target: str) -> None:
    command = ["make", "-n", "-C", str(SOURCE), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    (line,) = (line for line in done.stdout.splitlines() if "tools/build.py" in line)
    assert line.split()[3:] == [target]
