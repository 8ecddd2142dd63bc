# SPDX-License-Identifier: BSD-3-Clause
"""tonari share --front of several files: means over a set of patterns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tonari.benchmark.report import report
from tonari.commands.share_thesis import check_one_file, read_all
from tonari.communication import Communication
from tonari.errors import ARGUMENT, Error
from tonari.front_means import json_row, means
from tonari.sharing_front import Comparison
from tonari.views.front_means import show


def share_front(
    paths: list[str],
    read: Callable[[str], Communication],
    compare: Callable[[Communication, str], list[Comparison]],
    *,
    given: dict[str, Any],
    json: bool,
    file: Path | None,
) -> None:
    """Plans the front of each file, and prints. read, compare: the command's own; given: options
    that need one file."""
    check_one_file(given, paths)
    patterns = read_all(paths, read)
    fronts = []
    for path, pattern in zip(paths, patterns, strict=True):
        of = f"pattern {len(fronts) + 1} of {len(paths)}, {pattern.ranks:,} ranks"
        fronts.append(compare(pattern, of))
        if not fronts[-1]:
            raise Error(f"{path} has no other scheme than direct and balanced", ARGUMENT)
    found = means(fronts)
    report(
        [json_row(one, len(paths)) for one in found],
        json=json,
        file=file,
        plot=None,
        draw=lambda *_: None,
        show=lambda _: show(found, len(paths)),
    )
