# SPDX-License-Identifier: BSD-3-Clause
"""tools/drawn-share.sh: which share of `make test-all` the name of a commit draws."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
TWO, ONE = "TONARI_MPI:STRING=openmpi;mpich", "TONARI_MPI:STRING=openmpi"


@pytest.fixture
def build(tmp_path: Path) -> Path:
    (tmp_path / "CMakeCache.txt").write_text(f"{TWO}\n")
    return tmp_path


def share(build: Path, asked: str | None, *words: str, commit: str = "") -> str:
    """Of a tree; at a commit of this name, which a git in front of git tells."""
    git = build / "git"
    git.write_text(f"#!/bin/sh\n{f'echo {commit}' if commit else 'exit 128'}\n")
    git.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "SHARE"}
    environment |= {"BUILD": str(build), "PATH": f"{build}:{os.environ['PATH']}"}
    environment |= {} if asked is None else {"SHARE": asked}
    command = [str(SOURCE / "tools/drawn-share.sh"), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return done.stdout.strip() or done.stderr.strip()


def test_each_share_meets_each_draw_of_the_sanitizers(build: Path) -> None:
    """Those take the number's rest by six (tools/run-sanitized.sh)."""
    commits = [f"3f{number:02x}" for number in range(18)]
    numbers = [int(share(build, "turns", "number", commit=commit)) for commit in commits]
    drawn = [share(build, "turns", commit=commit) for commit in commits]
    assert numbers == list(range(18)) and share(build, "turns", "number", commit="3fff") == "255"
    assert drawn == 6 * ["first"] + 6 * ["others"] + 6 * ["packages"]


def test_all_is_one_share_unless_somebody_asks(build: Path) -> None:
    assert share(build, None, commit="3f0") == "all"
    assert share(build, "first") == "first" and share(build, "others") == "others"
    assert share(build, "turns") == "all", "there is no repository"
    assert share(build, "turns", "number") == ""
    (build / "CMakeCache.txt").write_text(f"{ONE}\n")
    assert share(build, "turns", commit="3f0") == share(build, "first") == "all"


def test_a_share_has_a_target(build: Path) -> None:
    assert share(build, "first", "targets") == "tonari_share_of_first"
    assert share(build, "others", "targets") == "tonari_share_of_others"
    assert share(build, "packages", "targets") == "tonari_share_of_packages"
    assert share(build, None, "targets") == "all"


def test_other_words_are_refused(build: Path) -> None:
    said = "SHARE is 'half'; it must be first, others, packages, all or turns."
    assert share(build, "half") == said
