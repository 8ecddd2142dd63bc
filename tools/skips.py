#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lists what tests skipped, and why: a test that never runs proves nothing.

tools/skips.py RESULTS...            the skips in folders of JUnit or GoogleTest XML files
tools/skips.py --whole RESULTS...    and fails for each test that every run skipped, unless it
                                     lacks something of this machine (tools/lacking.txt)
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as xml
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

LACKING = Path(__file__).parent / "lacking.txt"


@dataclass
class Runs:
    """What became of one test in all jobs that have it."""

    ran: int = 0
    reasons: list[str] = field(default_factory=list)


def reason_of(skipped: xml.Element) -> str:
    """GoogleTest puts file and line before the reason and traces behind it, pytest the file with
    the reason behind."""
    message = skipped.get("message") or skipped.text or ""
    message = re.sub(r"^\S+:\d+\s*", "", message).partition("Google Test trace:")[0]
    return " ".join(message.split()) or "no reason is given"


def read(folders: Iterable[Path]) -> dict[str, Runs]:
    tests: dict[str, Runs] = defaultdict(Runs)
    for file in sorted(path for folder in folders for path in folder.rglob("*.xml")):
        for case in xml.parse(file).getroot().iter("testcase"):
            if case.get("status") == "notrun":
                continue
            runs = tests[f"{case.get('classname')}.{case.get('name')}"]
            skipped = case.find("skipped")
            if skipped is None:
                runs.ran += 1
            else:
                runs.reasons.append(reason_of(skipped))
    return dict(tests)


def table(tests: dict[str, Runs]) -> Iterator[str]:
    """One line per reason, that of most skips first."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for name, runs in tests.items():
        for reason in runs.reasons:
            by_reason[reason].append(name)
    for reason, names in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])):
        others = len(set(names)) - 1
        more = f" and {others} more" if others else ""
        yield f"{len(names):5} x {reason}: {names[0]}{more}"


def lacking() -> re.Pattern[str]:
    lines = LACKING.read_text(encoding="utf-8").splitlines()
    return re.compile(
        "|".join(f"(?:{line})" for line in lines if line and not line.startswith("#"))
    )


def never_ran(tests: dict[str, Runs]) -> Iterator[str]:
    excused = lacking()
    for name, runs in sorted(tests.items()):
        if not runs.ran and not all(excused.search(reason) for reason in runs.reasons):
            yield f"{name} is skipped wherever it is scheduled: {runs.reasons[0]}"


def main(arguments: list[str]) -> int:
    whole = arguments[:1] == ["--whole"]
    tests = read(Path(folder) for folder in arguments[whole:])
    skips = sum(len(runs.reasons) for runs in tests.values())
    ran = sum(runs.ran for runs in tests.values())
    print(f"Skipped: {skips} of {skips + ran} runs of {len(tests)} tests")
    print("\n".join(table(tests)))
    failed = list(never_ran(tests)) if whole else []
    if not ran:
        failed.append("no test ran")
    print("\n".join(f"error: {line}" for line in failed), end="\n" if failed else "")
    return bool(failed)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[-1].startswith("-"):
        sys.exit("usage: tools/skips.py [--whole] RESULTS...")
    sys.exit(main(sys.argv[1:]))
