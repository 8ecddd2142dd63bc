# SPDX-License-Identifier: BSD-3-Clause
"""The tests of topologies, neighborhood collectives and all-to-alls of MPICH's suite, compiled for
any MPI."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import jobs
import suites
from jobs import Done, Run

WANTED = re.compile(r"(p_)?neighb_|ring_neighbor|(nb|ic|nbic|p_)?alltoall|nonblocking")
# What configure would find out, on any Linux.
CONFIG = "".join(
    f"#define {name} 1\n"
    for name in (
        "HAVE_STDARG_H", "HAVE_STDINT_H", "HAVE_STDLIB_H", "HAVE_STRING_H", "HAVE_UNISTD_H",
        "HAVE_INTTYPES_H", "HAVE_SYS_TIME_H", "HAVE_SYS_RESOURCE_H", "HAVE_LONG_LONG",
        "HAVE_LONG_DOUBLE", "HAVE_PTHREAD_H", "TEST_NEIGHB_COLL",
    )
) + "#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX\n"  # fmt: skip
FORMS = ("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv")
# Open MPI 4 has persistent collectives by names of its own.
MPIX = "#include <mpi.h>\n#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5\n#include <mpi-ext.h>\n"
MPIX += "".join(
    f"#define MPI_{name}_init MPIX_{name}_init\n"
    for form in FORMS
    for name in (form.capitalize(), f"Neighbor_{form}")
)
MPIX += "#endif\n"
UTILITIES = ("mtest.c", "mtest_common.c", "mtest_thread.c")


class Unfit(Exception):
    """An MPI lacks what a test needs; a sentence."""


# With what each must be seen to call.
INPLACE = {"alltoall1": "MPI_Alltoall", "alltoallv": "MPI_Alltoallv", "alltoallw2": "MPI_Alltoallw"}


@dataclass(frozen=True)
class Program:
    """One test, and on how many ranks the suite runs it."""

    folder: str
    name: str
    ranks: int

    @property
    def id(self) -> str:
        return f"{self.folder}/{self.name}-{self.ranks}"


def tests() -> list[Program]:
    """Those of interest, as the suite lists them."""
    return [
        Program(folder, words[0], int(words[1]))
        for folder in ("topo", "coll")
        for line in _list(folder).read_text().splitlines()
        if (words := line.split()) and not line.startswith("#")
        if folder == "topo" or WANTED.match(words[0])
    ]


def _list(folder: str) -> Path:
    """As it is in the package: that of coll is still to be configured."""
    return next((suites.mpich() / folder).glob("testlist*"))


def program(run: Run, test: Program) -> Path:
    """Compiled, in the build tree."""
    folder = suites.FOLDER / "mpich-programs" / run.mpi
    made = folder / test.name
    if not made.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mpitestconf.h").write_text(CONFIG)
        (folder / "mpix.h").write_text(MPIX)
        _compile(run, _source(test, folder), [*_utilities(run, folder)], made)
    return made


def _source(test: Program, folder: Path) -> Path:
    """Some are made of others' sources; and two have arrays of handles as arrays of int."""
    name = test.name.removeprefix("nb") if test.name.startswith(("nba", "nbi")) else test.name
    text = (suites.mpich() / test.folder / f"{name}.c").read_text()
    text = re.sub(r"int \*(sendtypes|recvtypes)\b", r"MPI_Datatype *\1", text)
    if name != test.name:
        text = "#define USE_MTEST_NBC\n" + text
    copy = folder / f"{test.name}.c"
    copy.write_text(text)
    return copy


def _utilities(run: Run, folder: Path) -> list[Path]:
    objects = [folder / Path(name).with_suffix(".o") for name in UTILITIES]
    for name, made in zip(UTILITIES, objects, strict=True):
        if not made.is_file():
            _compile(run, suites.mpich() / "util" / name, ["-c"], made)
    return objects


def _compile(run: Run, source: Path, more: list[str | Path], made: Path) -> None:
    folder = made.parent
    folders = [folder, suites.mpich() / "include", suites.mpich() / "topo"]
    include = [*(f"-I{place}" for place in folders), "-include", folder / "mpix.h"]
    words = [run.mpicc, "-w", "-O1", *include, source, *more, "-o", made, "-lm", "-pthread"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        wrong = (line for line in done.stderr.splitlines() if re.search("error|undefined", line))
        raise Unfit(f"{run.name} cannot compile {source.name}: {next(wrong, done.stderr)}")


def expected_calls(run: Run, test: Program) -> list[str]:
    """Functions whose calls go through tonari in this test."""
    if test.name.startswith("neighb_"):
        return ["MPI_Neighbor_" + test.name.removeprefix("neighb_")]
    if test.name.startswith("p_neighb_") and run.mpi == "openmpi":
        return [f"MPIX?_Neighbor_{test.name.removeprefix('p_neighb_')}_init"]
    return [INPLACE[test.name]] if test.name in INPLACE else []


def verdict(done: Done) -> str:
    """How the suite's own runner takes it: right is what says so."""
    if done.status is None:
        return jobs.ENDED
    if done.status == 0 and re.search(r"^\s*No Errors\s*$", done.said, re.MULTILINE):
        return "right"
    return "wrong"


def prove(run: Run, test: Program, folder: Path) -> str:
    """Fails if the test fails with the library before the MPI, but not without it, or if its calls
    have not gone through tonari. Returns a sentence if it proves nothing, as it fails in both."""
    made = str(program(run, test))
    ours = _job(run, test, made, folder / "preloaded")
    if verdict(ours) != "right":  # otherwise nothing is to be known of the MPI alone
        alone = _job(run, test, made, folder / "alone")
        assert verdict(alone) != "right", jobs.as_text(ours)
        return f"{verdict(alone)} without the library, too"
    for call in expected_calls(run, test):
        assert any(
            re.fullmatch(call, name) and jobs.went_through(ours, name) for name in ours.calls
        ), jobs.as_text(ours)
    return ""


def _job(run: Run, test: Program, made: str, folder: Path) -> Done:
    folder.mkdir()
    return jobs.job(run, test.ranks, [made], folder, preloaded=folder.name == "preloaded")
