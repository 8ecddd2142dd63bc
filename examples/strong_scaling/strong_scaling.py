# SPDX-License-Identifier: BSD-3-Clause
"""Strong scaling: one grid on more and more ranks, with every storage. Runs jacobi3d and prints
what a step takes, in computing and in exchanging (compare Figures 11 and 12 of Zhao et al. 2021);
with --plot also draws it.

    build/venv/bin/python examples/strong_scaling/strong_scaling.py --cells 128 --ranks 1,2,4,8

With more ranks than cores, times say little: the ranks take turns.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from tonari.benchmark.launch import Mpi, environment, find_mpi  # noqa: E402
from tonari.errors import Error  # noqa: E402

TIME_LIMIT = 300  # seconds for one number of ranks


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build", type=Path, default=Path("build"), help="the build tree (default: build)"
    )
    parser.add_argument(
        "--mpi", default="", help="openmpi or mpich (default: the first of the build)"
    )
    parser.add_argument("--ranks", type=numbers, default=[1, 2, 4, 8], help="default: 1,2,4,8")
    parser.add_argument(
        "--cells",
        type=int,
        default=128,
        help="of the whole grid, per dimension; a multiple of 8 (default: 128)",
    )
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--storages", default="array,brick,mapped,mapped-shift,zero-byte")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        help="steps from one exchange to the next (ghost cell expansion)",
    )
    parser.add_argument(
        "--overlap", action="store_true", help="compute the interior while the halo travels"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture, such as scaling.png")
    parser.add_argument("--json", action="store_true", help="rows as JSON instead of the table")
    return parser.parse_args()


def measure(mpi: Mpi, ranks: int, options: argparse.Namespace) -> list[dict]:
    """One row per storage."""
    command = [
        mpi.mpiexec,
        "-n",
        str(ranks),
        str(mpi.program),
        "--json",
        "--threads",
        "1",
        "--global",
        str(options.cells),
        "--steps",
        str(options.steps),
    ]
    command += ["--storages", options.storages, "--every", str(options.every)] + [
        "--overlap"
    ] * options.overlap
    done = subprocess.run(
        command, env=environment(ranks), capture_output=True, text=True, timeout=TIME_LIMIT
    )
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.startswith("jacobi3d: ")]
        raise Error(
            said[0]
            if said
            else f"{' '.join(command)} ended with status {done.returncode}\n{done.stderr}",
            1,
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def add_speed_up(rows: list[dict]) -> None:
    """Against the same storage on the fewest ranks. Of a step the slowest rank counts."""
    first = {row["storage"]: row for row in reversed(rows)}
    for row in rows:
        base = first[row["storage"]]
        row["speed_up"] = base["step_us"][2] / row["step_us"][2] * base["ranks"]


def show(console: Console, rows: list[dict], options: argparse.Namespace) -> None:
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"7-point Jacobi on {options.cells}³ cells, microseconds per step",
        caption="step: slowest rank; compute, exchange: mean of the ranks",
    )
    for heading in ("ranks", "storage", "exchange by", "step", "compute", "exchange", "speed-up"):
        table.add_column(
            heading,
            justify="left" if heading in ("storage", "exchange by") else "right",
            no_wrap=True,
        )
    for before, row in zip([None, *rows], rows):
        if before and before["ranks"] != row["ranks"]:
            table.add_section()
        times = (
            f"{value:,.1f}"
            for value in (row["step_us"][2], row["compute_us"][1], row["exchange_us"][1])
        )
        table.add_row(
            str(row["ranks"]), row["storage"], row["exchange"], *times, f"{row['speed_up']:.2f}"
        )
    console.print(table)


def draw(rows: list[dict], options: argparse.Namespace) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (steps, parts) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for storage in dict.fromkeys(row["storage"] for row in rows):
        mine = [row for row in rows if row["storage"] == storage]
        ranks = [row["ranks"] for row in mine]
        (line,) = steps.plot(
            ranks,
            [options.cells**3 / row["step_us"][2] / 1e3 for row in mine],
            marker="o",
            label=storage,
        )
        parts.plot(
            ranks, [row["compute_us"][1] for row in mine], marker="o", color=line.get_color()
        )
        parts.plot(
            ranks,
            [row["exchange_us"][1] for row in mine],
            marker="s",
            linestyle="--",
            color=line.get_color(),
        )
    steps.set(
        title="speed", xlabel="ranks", ylabel="10⁹ cells per second", xscale="log", yscale="log"
    )
    parts.set(
        title="computing (line) and exchanging (dashes)",
        xlabel="ranks",
        ylabel="µs per step",
        xscale="log",
        yscale="log",
    )
    for axis in (steps, parts):
        axis.set_xticks(
            sorted({row["ranks"] for row in rows}),
            labels=map(str, sorted({row["ranks"] for row in rows})),
        )
        axis.minorticks_off()
        axis.grid(color="0.9")
    steps.legend()
    figure.suptitle(f"7-point Jacobi on {options.cells}³ cells")
    figure.savefig(options.plot, dpi=130)
    plt.close(figure)


def main() -> int:
    options = arguments()
    os.environ["TONARI_BUILD"] = str(options.build)
    console = Console()
    try:
        mpi = find_mpi(options.mpi, "jacobi3d")
        rows = [row for ranks in options.ranks for row in measure(mpi, ranks, options)]
    except Error as failure:
        print(f"strong_scaling: {failure}", file=sys.stderr)
        return 1
    add_speed_up(rows)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        show(console, rows, options)
    if options.plot:
        draw(rows, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
