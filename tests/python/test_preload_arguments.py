# SPDX-License-Identifier: BSD-3-Clause
"""libtonari_preload and arguments at the edge of the standard: with the library in front of the MPI
each rank gets the same as without it, data or error class, and no rank waits in vain."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from built import OnDemand, more
from command_line import PATIENCE
from test_preload import LIBRARY, MPIS, compiled, path_of
from tonari import preload
from tonari.benchmark.launch import ANY_RANKS

pytestmark = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")
# What MPIs take although a rank's arguments are odd, all of them or some.
LEGAL = {"plain", "no-buffer", "no-bytes", "backwards", "bottom", "some-empty"}
# tonari needs no type where there is no element, and no committed one.
TOLERATED = {"null-type-empty", "uncommitted"}
# The class of what the MPI itself does not survive, or takes by mistake.
BY_RULE = {
    "null-list": "ARG",
    "mark": "ARG",
    "null-buffer": "BUFFER",
    "longer": "TRUNCATE",
    "negative": "COUNT",
}
Trial = list[str]  # number, form, way, twist, side, odd rank, what each rank gets


def expected(native: Trial, rank: int, odd: bool) -> set[str]:
    twist, got = native[3], native[6 + rank]
    if got == "unknown":
        got = BY_RULE.get(twist, got)  # the others are legal
    if twist in LEGAL:
        return {got}
    if twist == "longer":  # found at both ends; the blocks of others are right
        return {"right", "TRUNCATE"}
    if not odd:  # hears of it, or has nothing to do with it
        return {"right", "OTHER", got}
    return {got, "right"} if twist in TOLERATED else {got}


def differences(native: list[Trial], ours: list[Trial]) -> list[str]:
    assert [trial[:5] for trial in native] == [trial[:5] for trial in ours]
    wrong = []
    for alone, trial in zip(native, ours, strict=True):
        for rank, got in enumerate(trial[6:]):
            odd = trial[5] in ("-1", str(rank))
            if got not in expected(alone, rank, odd) | {"unknown"}:
                wrong.append(f"{' '.join(trial)}; without tonari {' '.join(alone[5:])}")
                break
    return wrong


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("arguments")
    return OnDemand(lambda mpi: compiled(mpi, folder / mpi, "arguments.c"))


def trials(launch: list[str], **variables: str) -> list[Trial]:
    done = subprocess.run(
        launch,
        capture_output=True,
        check=False,
        text=True,
        timeout=PATIENCE,
        env=os.environ | ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | variables,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    return [line.split() for line in done.stdout.splitlines()]


# Each has 200 trials. By hand: more seeds, after changes of how arguments are read.
SEEDS = {1: 2, 2: 5, 3: 6, 5: 3}
QUICK = {("openmpi", 3, 1), ("mpich", 2, 1)}


@pytest.mark.parametrize(
    ("mpi", "ranks", "seed"),
    [
        case if case in QUICK else more(*case)
        for mpi in MPIS
        for ranks, seeds in SEEDS.items()
        for case in ((mpi, ranks, seed) for seed in range(1, seeds + 1))
    ],
)
def test_ranks_get_what_they_get_without_it(
    programs: dict[str, Path], tmp_path: Path, mpi: str, ranks: int, seed: int
) -> None:
    launch = [MPIS[mpi]["mpiexec"], "-n", str(ranks), str(programs[mpi]), str(seed), "200"]
    # Intel MPI ends the job at an error, whatever error handler the communicator has.
    alone, together = ("legal", "legal") if mpi == "abi-intel" else ("alone", "together")
    native = trials([*launch, together], **path_of(mpi))
    assert len(native) == 200
    library = (Path(MPIS[mpi]["bin"]) / LIBRARY).resolve()
    variables = {"LD_PRELOAD": preload.before(library), "TONARI_RUN_REPORT": str(tmp_path)}
    for way, how in (("tonari", alone), ("auto", together)):
        ours = preload.with_variables(
            [*launch, how], preload.kind_of(launch), variables | {"TONARI_PRELOAD": way}
        )
        assert not differences(native, trials(ours, **path_of(mpi)))
    assert any(row["through_tonari"] for row in preload.rows(preload.read_records(tmp_path)))
