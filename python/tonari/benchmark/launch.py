# SPDX-License-Identifier: BSD-3-Clause
"""Starting the benchmark programs: those of a build tree, or those that pip installed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer

from tonari.core import core
from tonari.errors import ARGUMENT, FILE, INTERNAL, Error
from tonari.installation import programs
from tonari.suggestion import did_you_mean

Rows = list[dict[str, Any]]
PROGRAM = "tonari_bench"


@dataclass(frozen=True)
class Mpi:
    """An MPI, and where things are."""

    name: str
    mpiexec: str
    program: Path
    source: Path


def build_tree() -> Path | None:
    """The folder with tonari-config.json: $TONARI_BUILD, or ./build."""
    folder = Path(os.environ.get("TONARI_BUILD") or "build")
    if (folder / "tonari-config.json").is_file():
        return folder
    if programs() and not os.environ.get("TONARI_BUILD"):
        return None
    raise Error(
        f"there is no build in {folder}: run `make build`, or set TONARI_BUILD to the build folder",
        FILE,
    )


def find_mpi(name: str = "", wanted: str = PROGRAM) -> Mpi:
    """The MPI of this name, or the first one of the build, with the wanted benchmark program.
    Without a build, what pip installed for the standard ABI."""
    folder = build_tree()
    if not folder:
        return _installed_mpi(name, wanted)
    config = json.loads((folder / "tonari-config.json").read_text())
    mpis = config["mpis"]
    if not mpis:
        raise Error("the build found no MPI: install Open MPI or MPICH and build again", FILE)
    name = name or next(iter(mpis))
    if name not in mpis:
        raise Error(
            f"the build has no {name}, only {', '.join(mpis)}: choose one of these, or "
            "install it and build again" + did_you_mean(name, mpis),
            ARGUMENT,
        )
    program = Path(mpis[name]["bin"]) / wanted
    if not program.is_file():
        raise Error(f"{program} does not exist: run `make build`", FILE)
    if mpis[name].get("for_tests") and wanted.startswith(PROGRAM):
        _warn_of_tests(name)
    return Mpi(name, mpis[name]["mpiexec"], program, Path(config["source"]))


@cache
def _warn_of_tests(name: str) -> None:
    """Once: what programs pack and add themselves looks slower than it is."""
    print(
        f"tonari: the benchmarks for {name} were compiled for tests, with little optimization; "
        "`make bench` compiles them as programs are",
        file=sys.stderr,
    )


def _installed_mpi(name: str, wanted: str) -> Mpi:
    """With the mpiexec of this Python's environment, or else of PATH."""
    folder = programs()
    assert folder
    if name not in ("", "abi"):
        raise Error(
            f"this tonari was installed by pip, for MPIs with the standard ABI of MPI 5, and has "
            f"no {name}: leave out --mpi, or run `make build` in its sources",
            ARGUMENT,
        )
    if not (folder / wanted).is_file():
        raise Error(
            f"this tonari was installed by pip, which has no {wanted}: run `make build` in its "
            "sources, and set TONARI_BUILD to the build folder",
            FILE,
        )
    here = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    mpiexec = here or shutil.which("mpiexec")
    if not mpiexec:
        raise Error("there is no mpiexec: `pip install 'mpich>=5.0.2'` brings an MPI along", FILE)
    return Mpi("abi", mpiexec, folder / wanted, folder)


def process_counts(text: str, option: str = "--ranks", most: int = 65536) -> list[int]:
    """Numbers of processes from the command line: 2,4,8."""
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        counts = [0]
    if min(counts) < 1 or max(counts) > most:
        raise typer.BadParameter(
            f"{option} is '{text}'; it must be numbers of processes from 1 to {most}, for "
            "example 2,4,8"
        )
    return counts


# For Open MPI: any number of ranks anywhere, root included.
ANY_RANKS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}


def environment(ranks: int) -> dict[str, str]:
    """Lets any number of ranks run anywhere, root included. Waiting ranks yield only where cores
    are scarce."""
    # What a benchmark can ask for by a key, a variable would override.
    ours = {row.variable for row in core().settings() if row.key}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    scarce = ranks > len(os.sched_getaffinity(0))
    # With component treematch of Open MPI 4.1.4, MPI_Dist_graph_create that is called again and
    # again on a busy machine did not return in every fourth run. Nobody reorders ranks here.
    chosen = {"OMPI_MCA_mpi_yield_when_idle": str(int(scarce)), "OMPI_MCA_topo": "basic"}
    return ANY_RANKS | chosen | kept


def libraries(mpi: Mpi) -> dict[str, str]:
    """LD_LIBRARY_PATH, with the MPI that the launcher belongs to behind what is there: programs for
    the standard ABI do not say where MPI lies."""
    prefix = Path(mpi.mpiexec).resolve().parent.parent
    folders = [prefix / name for name in ("lib", "lib64")]
    found = [str(folder) for folder in folders if any(folder.glob("libmpi_abi.so*"))]
    if mpi.name != "abi" or not found:
        return {}
    before = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": ":".join([before, *found] if before else found)}


def command(mpi: Mpi, ranks: int, hosts: int) -> list[str]:
    """What starts the ranks, up to the program."""
    if not hosts:
        return [mpi.mpiexec, "-n", str(ranks)]
    if mpi.name != "openmpi":
        raise Error("--hosts starts its ranks with Open MPI: use --mpi openmpi", ARGUMENT)
    if os.geteuid() != 0:
        raise Error(
            "--hosts makes network namespaces, which only root can: run it as root, or leave "
            "out --hosts",
            ARGUMENT,
        )
    if ranks % hosts:
        raise Error(
            f"{ranks} ranks cannot be spread evenly over {hosts} hosts: make --ranks a "
            "multiple of --hosts",
            ARGUMENT,
        )
    script = mpi.source / "tools" / "netns_hosts.py"
    return [
        sys.executable,
        str(script),
        str(hosts),
        "--slots",
        str(ranks // hosts),
        "--",
        mpi.mpiexec,
    ]


def launch(
    mpi: Mpi,
    ranks: int,
    arguments: Sequence[str],
    hosts: int = 0,
    progress: Callable[[str], None] = lambda line: None,
    variables: Mapping[str, str] | None = None,
) -> Rows:
    """Runs the program once. progress gets its lines as they come. variables are added to its
    environment. Raises Error with the program's own sentence."""
    with tempfile.TemporaryDirectory(prefix="tonari-bench-") as folder:
        output = Path(folder) / "rows.json"
        full = [*command(mpi, ranks, hosts), str(mpi.program), *arguments, "--output", str(output)]
        env = environment(ranks) | libraries(mpi) | dict(variables or {})
        run_command(full, env, mpi.program.name, output, progress)
        return json.loads(output.read_text())


def run_command(
    full: Sequence[str],
    env: dict[str, str],
    program: str,
    output: Path,
    progress: Callable[[str], None],
) -> None:
    """Runs it until it has written the file. Raises Error with the program's own sentence."""
    try:
        status, lines = _run(full, env, program, progress)
    except OSError as error:
        raise Error(f"{full[0]} cannot be started: {error.strerror}", FILE) from None
    if status != 0 or not output.is_file():
        raise Error(_complaint(lines, status, program), INTERNAL)


def _run(
    full: Sequence[str], env: dict[str, str], program: str, progress: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Exit status and lines of output. Nothing it started outlives this process's end by a signal
    that it can catch."""
    lines: list[str] = []
    with _ending_by_exceptions() as may_raise:
        process = subprocess.Popen(
            full,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        return _finish(process, program, progress, lines, may_raise), lines


@contextmanager
def _ending_by_exceptions() -> Iterator[Callable[[], None]]:
    """SIGTERM and SIGHUP raise SystemExit, as SIGINT raises KeyboardInterrupt; before the yielded
    function was called they wait for that."""
    early: list[int] = []
    ready = False

    def end(number: int, _: object) -> None:
        if ready:
            raise SystemExit(128 + number)
        early.append(number)

    def may_raise() -> None:
        nonlocal ready
        ready = True
        if early:
            raise SystemExit(128 + early[0])

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield may_raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _finish(
    process: subprocess.Popen[str],
    program: str,
    progress: Callable[[str], None],
    lines: list[str],
    may_raise: Callable[[], None],
) -> int:
    try:
        may_raise()
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if line.startswith(program + ": "):
                progress(line.strip().removeprefix(program + ": "))
        return process.wait()
    except BaseException:
        _stop(process)
        raise


def _stop(process: subprocess.Popen[str]) -> None:
    for wanted in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, wanted)
            process.wait(timeout=15)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def _complaint(lines: Sequence[str], status: int, program: str) -> str:
    for marker in (f"{program}: error: ", "netns_hosts: "):
        for line in lines:
            if line.startswith(marker):
                return line.removeprefix(marker)
    if any("libmpi_abi.so" in line and "cannot open" in line for line in lines):
        return (
            "this mpiexec belongs to an MPI without the standard ABI of MPI 5: "
            "`pip install 'mpich>=5.0.2'` brings one along"
        )
    said = [line for line in lines if line.strip("- ")]
    return f"the benchmark ended with status {status}" + (f": {said[-1]}" if said else "")
