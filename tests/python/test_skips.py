# SPDX-License-Identifier: BSD-3-Clause
"""tools/skips.py: what was skipped is listed with its reason, and what never runs fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = Path(__file__).resolve().parents[2] / "tools/skips.py"


def case(name: str, skipped: str = "", status: str = "run") -> str:
    inner = f'<skipped message="{skipped}"/>' if skipped else ""
    return f'<testcase classname="Suite" name="{name}" status="{status}">{inner}</testcase>'


def results(folder: Path, *cases: str) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / f"{len(list(folder.iterdir()))}.xml"
    file.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    return folder


def skips(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SKIPS), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


TWO_RANKS = "a_test.cpp:7&#x0A;needs two ranks"


def test_skips_are_listed_by_reason(tmp_path: Path) -> None:
    results(tmp_path, case("A"), case("B", TWO_RANKS), case("C", TWO_RANKS))
    done = skips(results(tmp_path, case("B"), case("D", status="notrun")))
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "Skipped: 2 of 4 runs of 3 tests",
        "    2 x needs two ranks: Suite.B and 1 more",
    ]


def test_what_is_skipped_everywhere_fails_the_whole(tmp_path: Path) -> None:
    results(tmp_path, case("A"), case("B", TWO_RANKS), case("C", TWO_RANKS))
    folder = results(tmp_path, case("B"), case("C", TWO_RANKS))
    assert skips(folder).returncode == 0
    done = skips("--whole", folder)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == (
        "error: Suite.C is skipped wherever it is scheduled: needs two ranks"
    )


def test_another_folder_may_have_run_it(tmp_path: Path) -> None:
    first = results(tmp_path / "first", case("A"), case("B", TWO_RANKS))
    assert skips("--whole", first).returncode == 1
    assert skips("--whole", first, results(tmp_path / "second", case("B"))).returncode == 0


def test_what_the_machine_lacks_is_no_failure(tmp_path: Path) -> None:
    traced = "&#x0A;Google Test trace:&#x0A;b_test.cpp:3: 2 ranks"
    folder = results(tmp_path, case("A"), case("B", f"b_test.cpp:9&#x0A;no seccomp{traced}"))
    assert skips("--whole", folder).returncode == 0
    results(tmp_path, case("B", TWO_RANKS))
    assert skips("--whole", folder).returncode == 1


@pytest.mark.parametrize("cases", [[], [case("A", TWO_RANKS)]])
def test_a_run_of_nothing_fails(tmp_path: Path, cases: list[str]) -> None:
    done = skips(results(tmp_path, *cases))
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "error: no test ran"
