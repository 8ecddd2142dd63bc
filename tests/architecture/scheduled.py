# SPDX-License-Identifier: BSD-3-Clause
"""Every test is scheduled, and by one group per rank count: usage: scheduled.py CTEST BUILD
SOURCE_ROOT.

Asks the test programs for their tests and CTest for its table. A test file has one label of its
own, and a part of it runs in `make test`: under every MPI, or under one where it is of a room that
the others share. Programs that `make test` does not build are looked at in `make test-all`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rooms import CORE, OPTIONAL

SHARED_LABELS = {"mpi", "openmpi", "mpich", "abi", "others", "more", "long"}
# Labels of files of which `make test` may leave out all: tests of scale and of the quality of
# plans, all orders of accesses, stencils, whose results examples check, and blocks of gigabytes,
# which take their time.
LATER = {"core", "explorer", "large", "stencil"}
# What calls the second MPI is tested there by random exchanges of all kinds (tests/fuzz) and by the
# tests of the channels.
ONE_MPI = {"api", "blocks", "engine", "grid", "on_device", "on_gpu", "petsc", "vector"}
# Programs for the standard ABI repeat some tests under each MPI that has it.
REPEATED = "abi"
PROGRAM = re.compile(r"_tests(_\w+)?$")


@dataclass(frozen=True)
class Entry:
    """One row of CTest's table that starts a GoogleTest program; ranks are 0 where there is no
    launcher."""

    name: str
    program: str
    ranks: int
    filter: str
    labels: frozenset[str]
    command: tuple[str, ...]
    environment: tuple[str, ...]

    @property
    def launcher(self) -> str:
        """The program that starts the ranks; one that gives them a core may stand before it."""
        placed = any(word.endswith("on_one_core.py") for word in self.command[:2])
        return self.command[3 if placed else 0] if self.command else ""


def is_repeated(groups: Iterable[Entry]) -> bool:
    return any(REPEATED in entry.labels for entry in groups)


def selects(filter: str, tests: Iterable[str]) -> set[str]:
    """Those that a GoogleTest filter takes: patterns between colons, after the first minus those of
    what it does not take."""
    wanted, _, unwanted = filter.partition("-")

    def any_of(patterns: str) -> re.Pattern[str]:
        return re.compile(
            "|".join(
                re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
                for pattern in patterns.split(":")
            )
        )

    taken, not_taken = any_of(wanted or "*"), any_of(unwanted)
    return {test for test in tests if taken.fullmatch(test) and not not_taken.fullmatch(test)}


def property_of(row: dict, name: str) -> list[str]:
    return next((item["value"] for item in row["properties"] if item["name"] == name), [])


def labels_of(row: dict) -> frozenset[str]:
    return frozenset(property_of(row, "LABELS"))


def entries(table: dict, build: Path) -> Iterator[Entry]:
    for row in table["tests"]:
        labels = labels_of(row)
        if "command" not in row:  # so CTest shows a program that is not there
            if labels & (LATER | {"more", "long"}):
                continue
            sys.exit(f"{row['name']}: its program is not built")
        command = tuple(row["command"])
        program = next(
            (
                word
                for word in command
                if PROGRAM.search(Path(word).name) and Path(word).is_relative_to(build)
            ),
            None,
        )
        if program is None or (
            labels & (ONE_MPI | LATER | {REPEATED}) and not Path(program).is_file()
        ):
            continue
        ranks = int(command[command.index("-n") + 1]) if "-n" in command else 0
        filter = next(
            (
                word.removeprefix("--gtest_filter=")
                for word in command
                if word.startswith("--gtest_filter=")
            ),
            "*",
        )
        environment = tuple(property_of(row, "ENVIRONMENT"))
        if any(re.fullmatch("GTEST_SHARD_INDEX=[1-9][0-9]*", word) for word in environment):
            continue  # the first of several processes stands for all
        yield Entry(row["name"], program, ranks, filter, labels, command, environment)


def tests_of(entry: Entry, build: Path) -> dict[str, Path]:
    """The tests of an entry's program, with the files that they are in; on one rank."""
    start = list(entry.command[: entry.command.index(entry.program) + 1])
    if entry.ranks:
        start[start.index("-n") + 1] = "1"
    settings = dict(setting.split("=", 1) for setting in entry.environment)
    environment = os.environ | settings | {"GTEST_TOTAL_SHARDS": "1", "GTEST_SHARD_INDEX": "0"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "tests.json")
        done = subprocess.run(
            [*start, "--gtest_list_tests", f"--gtest_output=json:{file}"],
            capture_output=True,
            text=True,
            env=environment,
        )
        if not file.is_file():
            sys.exit(f"{entry.program} does not list its tests: {done.stdout}{done.stderr}")
        suites = json.loads(file.read_text())["testsuites"]
    return {
        f"{suite['name']}.{test['name']}": Path(build, test["file"]).resolve()
        for suite in suites
        for test in suite["testsuite"]
    }


def problems(
    scheduled: list[Entry], tests: dict[str, dict[str, Path]], files: set[Path]
) -> Iterator[str]:
    """Of a table, the tests of its programs, and the files that there are."""
    labels, quick = defaultdict(set), defaultdict(set)
    for program, found in tests.items():
        groups = [entry for entry in scheduled if entry.program == program]
        by_filter = {entry.filter: selects(entry.filter, found) for entry in groups}
        times = Counter(
            (test, entry.ranks, entry.launcher)
            for entry in groups
            for test in by_filter[entry.filter]
        )
        for entry in groups:
            if not by_filter[entry.filter]:
                yield f"{entry.name} runs no test"
            for test in by_filter[entry.filter]:
                labels[found[test]] |= entry.labels - SHARED_LABELS
                if not entry.labels & {"more", "long"}:
                    quick[found[test]].add(program)
        ran = {test for test, *_ in times}
        if not is_repeated(groups):
            lost = sorted(set(found) - ran)
            yield from (f"{program}: {test} is never scheduled" for test in lost)
        for (test, ranks, launcher), count in sorted(times.items()):
            if count > 1:
                names = [
                    entry.name
                    for entry in groups
                    if (entry.ranks, entry.launcher) == (ranks, launcher)
                    and test in by_filter[entry.filter]
                ]
                yield f"{program}: {test} is scheduled {count} times: {', '.join(names)}"
    for program, found in tests.items():
        if is_repeated(entry for entry in scheduled if entry.program == program):
            continue
        yield from (
            f"{file}: {program} runs it in `make test-all` only"
            for file in sorted(set(found.values()))
            if program not in quick[file]
            and not labels[file] <= LATER
            and not (labels[file] <= ONE_MPI and quick[file])
        )
    for file in sorted(files):
        if len(labels[file]) != 1:
            found = ", ".join(sorted(labels[file])) or "none"
            yield f"{file}: the label of a test file is one, not {found}"


def selftest() -> None:
    some = {"A.b", "A.bc", "B.b", "C/A.c"}
    assert (
        selects("*", some) == some
        and selects("A.*:B.b", some) == {"A.b", "A.bc", "B.b"}
        and selects("A.?", some) == {"A.b"}
    )
    assert selects("-A.*", some) == {"B.b", "C/A.c"} and selects("*A.*-*.b:*.c", some) == {"A.bc"}
    a, b, c = Path("/a_test.cpp"), Path("/b_test.cpp"), Path("/c_test.cpp")

    def entry(name: str, ranks: int, filter: str, *labels: str) -> Entry:
        return Entry(name, "p", ranks, filter, frozenset(labels), (), ())

    tests = {"p": {"A.x": a, "A.y": a, "B.x": b}}
    good = [
        entry("a.2", 2, "A.*", "mpi", "room"),
        entry("b.2", 2, "-A.*", "room"),
        entry("a.3", 3, "A.*", "room", "more"),
    ]
    assert not list(problems(good, tests, {a, b}))
    assert [*problems(good, tests, {a, b, c})] == [
        "/c_test.cpp: the label of a test file is one, not none"
    ]
    assert [*problems([*good, entry("other.2", 2, "*.y", "room")], tests, {a, b})] == [
        "p: A.y is scheduled 2 times: a.2, other.2"
    ]
    assert [*problems([*good, entry("other.5", 5, "C.*", "room")], tests, {a, b})] == [
        "other.5 runs no test"
    ]
    assert [*problems([*good, entry("a.4", 4, "A.*", "core")], tests, {a, b})] == [
        "/a_test.cpp: the label of a test file is one, not core, room"
    ]
    late = [entry("a.2", 2, "A.*", "room"), entry("b.2", 2, "B.*", "room", "more")]
    assert [*problems(late, tests, {a, b})] == ["/b_test.cpp: p runs it in `make test-all` only"]
    tests = {"q": {"A.x": a}, "p": {"A.x": a}}
    for room, said in ("api", False), ("channels", True):
        one_mpi = [
            Entry("a.p", "p", 2, "*", frozenset({room}), (), ()),
            Entry("a.q", "q", 2, "*", frozenset({room, "more"}), (), ()),
        ]
        assert [*problems(one_mpi, tests, {a})] == (
            ["/a_test.cpp: q runs it in `make test-all` only"] if said else []
        )
        assert [*problems(one_mpi[1:], {"q": tests["q"]}, {a})]
    twice = {"p": {"A.x": a}, "s": {"A.x": a, "A.y": a}}
    repeated = [
        Entry("a.p", "p", 2, "*", frozenset({"api"}), (), ()),
        *(
            Entry(f"a.{mpi}", "s", 2, "*.x", frozenset({"api", "abi", "more"}), (mpi,), ())
            for mpi in ("abi", "abi-other")
        ),
    ]
    assert not list(problems(repeated, twice, {a}))
    assert [*problems([*repeated, repeated[1]], twice, {a})] == [
        "s: A.x is scheduled 2 times: a.abi, a.abi"
    ]
    tests = {"p": {"A.x": a, "A.y": a, "B.x": b}}
    later = [entry("stencil", 0, "*", "stencil", "more")]
    assert not list(problems(later, tests, {a, b}))
    assert [*problems(good[:1], tests, {a})][0] == "p: B.x is never scheduled"


def main(ctest: str, build: Path, root: Path) -> int:
    table = json.loads(
        subprocess.run(
            [ctest, "--test-dir", build, "--show-only=json-v1"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    scheduled = list(entries(table, build))
    unbuilt = {label for row in table["tests"] if "command" not in row for label in labels_of(row)}
    unbuilt |= LATER | OPTIONAL
    unbuilt -= {label for entry in scheduled for label in entry.labels}
    rooms = unbuilt | (CORE | {"readers"} if "core" in unbuilt else set())
    tests = {
        program: tests_of(next(entry for entry in scheduled if entry.program == program), build)
        for program in sorted({entry.program for entry in scheduled})
    }
    files = {
        path.resolve()
        for path in (root / "tests").rglob("*_test.cpp")
        if path.parent.relative_to(root / "tests").as_posix() not in rooms
    }
    found = list(problems(scheduled, tests, files))
    print(
        "\n".join(found)
        or f"{sum(map(len, tests.values()))} tests of {len(files)} files in {len(tests)} programs, "
        "all scheduled once per rank count"
    )
    return bool(found) or not files


if __name__ == "__main__":
    selftest()
    sys.exit(main(sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()))
