# SPDX-License-Identifier: BSD-3-Clause
"""The demo: runs heat3d under the build's MPI, prints what it measured and checked, and draws the
field beside the times of the exchanges.

It runs with 2 to 8 ranks, one for each core if there are as many. Where there are fewer cores it
runs once more with 8 ranks, which share them.

build/venv/bin/python examples/heat3d/demo.py --build build
"""

import argparse
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

import picture
import speedup
from speedup import microseconds

# As root, and with more ranks than cores.
LAUNCH_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
}
TIME_LIMIT = 120  # seconds; the run takes a few
MOST_RANKS = 8
NEXT = (
    "make bench    # other block sizes and patterns beside native MPI; compiles for half a minute"
)


class DemoFailed(Exception):
    pass


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build", type=Path, default=Path("build"), help="the build tree (default: build)"
    )
    parser.add_argument("--mpi", help="openmpi or mpich (default: Open MPI if the build has it)")
    parser.add_argument(
        "--ranks", type=int, help="default: as many as there are cores, 2 to 8, and then 8"
    )
    parser.add_argument("--points", type=int, default=24, help="per rank and dimension")
    parser.add_argument(
        "--steps",
        type=int,
        help="default: 1,000; with more ranks than cores 400, and 40 under MPICH",
    )
    return parser.parse_args()


def choose_mpi(build: Path, wanted: str | None) -> tuple[str, dict]:
    config = build / "tonari-config.json"
    if not config.exists():
        raise DemoFailed(f"there is no {config}; run `make demo`, or `make build` first")
    mpis = json.loads(config.read_text())["mpis"]
    if wanted and wanted not in mpis:
        raise DemoFailed(f"this build has no {wanted}, only {', '.join(mpis) or 'no MPI at all'}")
    if not mpis:
        raise DemoFailed("this build found no MPI; `make demo` installs one")
    name = wanted or ("openmpi" if "openmpi" in mpis else next(iter(mpis)))
    return name, mpis[name]


def cores() -> int:
    return len(os.sched_getaffinity(0))


def default_steps(mpi: str, ranks: int) -> int:
    """MPICH's ranks spin while they wait: with more ranks than cores a step costs whole time
    slices."""
    if ranks <= cores():
        return 1000
    return 40 if mpi == "mpich" else 400


def follow(process: subprocess.Popen, console: Console, ranks: int) -> dict | None:
    """Shows progress until the program ends; returns its report."""
    report = None
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} steps"),
        TimeElapsedColumn(),
        console=console,
    )
    with bar:
        task = bar.add_task(f"heat equation, {ranks} ranks", total=None)
        for line in process.stdout:
            message = json.loads(line)
            if "of" in message:
                bar.update(task, completed=message["step"], total=message["of"])
            else:
                report = message
    return report


def run_heat(
    console: Console, mpi: dict, ranks: int, points: int, steps: int, folder: Path, slices: str
) -> dict:
    """Runs the program once; its report. The slices lie in a file of this name."""
    command = [mpi["mpiexec"], "-n", str(ranks), str(Path(mpi["bin"]) / "heat3d")]
    command += ["--points", str(points), "--steps", str(steps), "--slices", str(folder / slices)]
    errors = folder / "heat3d.stderr"
    yielding = {"OMPI_MCA_mpi_yield_when_idle": str(int(ranks > cores()))}
    environment = LAUNCH_ENVIRONMENT | yielding | dict(os.environ)
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        ) as process,
    ):
        guard = threading.Timer(TIME_LIMIT, process.kill)
        guard.start()
        try:
            report = follow(process, console, ranks)
        finally:
            guard.cancel()
    if report is None:
        said = (
            errors.read_text().strip()
            or f"it ended with status {process.returncode} and said nothing"
        )
        raise DemoFailed(f"{' '.join(command)}\n{said}")
    return report | {"cores": cores()}


def run_all(console: Console, options: argparse.Namespace, folder: Path) -> dict:
    """The run that is drawn; "crowded" is that in which ranks share cores, where there is one."""
    name, mpi = choose_mpi(options.build, options.mpi)

    def run(ranks: int, slices: str) -> dict:
        steps = options.steps or default_steps(name, ranks)
        return run_heat(console, mpi, ranks, options.points, steps, folder, slices)

    ranks = options.ranks or min(max(2, cores()), MOST_RANKS)
    report = run(ranks, "slices.bin")
    crowded = not options.ranks and cores() < MOST_RANKS
    return report | {"crowded": run(MOST_RANKS, "crowded.bin") if crowded else None}


def runs_of(report: dict) -> list[dict]:
    return [report, *filter(None, [report["crowded"]])]


def exchange_row(name: str, quartiles: list[float], error: float, limit: float) -> list:
    q1, median, q3 = quartiles
    verdict = (
        Text("ok", style="green")
        if error <= limit
        else Text(f"FAILED, limit {limit:.0e}", style="bold red")
    )
    return [
        name,
        microseconds(median),
        f"{microseconds(q1)} to {microseconds(q3)}",
        f"{error:.1e}",
        verdict,
    ]


def show(console: Console, report: dict) -> None:
    ranks = report["ranks"]
    points = " x ".join(str(report["points"] * r) for r in ranks)
    table = Table(
        title=f"27-point heat equation, {points} points, {' x '.join(map(str, ranks))} ranks, "
        f"{report['steps']} steps",
        caption=f"native: MPI_Neighbor_alltoallw of {report['mpi']}; "
        "error: against the exact decay of the modes",
    )
    for heading in ("exchange", "median", "quartiles", "error", "check"):
        table.add_column(
            heading, justify="left" if heading in ("exchange", "check") else "right", no_wrap=True
        )
    table.add_row(
        *exchange_row("native", report["native_us"], report["error_native"], report["error_limit"])
    )
    table.add_row(
        *exchange_row("tonari", report["tonari_us"], report["error_tonari"], report["error_limit"])
    )
    console.print(table)
    plan = report["plan"]
    facts = Table.grid(padding=(0, 2))
    facts.add_row(
        "fields", "equal bit by bit" if report["fields_equal"] else Text("DIFFER", style="bold red")
    )
    facts.add_row(
        "plan",
        f"{plan_name(plan)}: {plan['messages']} messages per rank in {plan['rounds']} rounds, "
        f"{plan['bytes']:,} bytes",
    )
    facts.add_row("chosen by", f"{plan['reason']}; init took {plan['init_ms']:.1f} ms")
    console.print(facts)


def show_end(console: Console, report: dict, folder: Path) -> None:
    """What a visitor should remember."""
    console.print()
    speedup.show_first(console, report)
    console.print("Time of an exchange, median of the slowest rank")
    for run in runs_of(report):
        speedup.show(console, run)
    heat = os.path.relpath(folder / "heat")
    for line in (f"picture: {heat}.png   numbers: {heat}.json", f"next: {NEXT}"):
        console.print(line, highlight=False, soft_wrap=True)


def plan_name(plan: dict) -> str:
    variant = f" ({plan['variant']})" if plan["variant"] else ""
    return f"{plan['algorithm']}{variant} over {plan['channel']}"


def main() -> int:
    options = arguments()
    console = Console()
    folder = options.build.resolve() / "demo"
    try:
        choose_mpi(options.build, options.mpi)  # before a folder is made in what is no build tree
        folder.mkdir(parents=True, exist_ok=True)
        report = run_all(console, options, folder)
    except DemoFailed as failure:
        console.print(f"demo: {failure}", style="red", markup=False, highlight=False)
        return 1
    (folder / "heat.json").write_text(json.dumps(report, indent=1) + "\n")
    slices = np.fromfile(folder / "slices.bin").reshape(-1, *report["slice_shape"])
    picture.draw(report, runs_of(report), slices, folder / "heat.png")
    show(console, report)
    show_end(console, report, folder)
    return 0 if all(run["passed"] for run in runs_of(report)) else 1


if __name__ == "__main__":
    sys.exit(main())
