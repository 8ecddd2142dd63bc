# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench spmv: exchanges for sparse matrix-vector products and whole products, and predicted
times on more ranks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from tonari.benchmark import spmv_plot
from tonari.benchmark.launch import find_mpi, launch, process_counts
from tonari.benchmark.plot import check_file
from tonari.benchmark.report import report
from tonari.benchmark.spmv_matrix import Source
from tonari.benchmark.spmv_summary import SIMULATED, add_ratio_spread, complete
from tonari.commands.options import TUNES, Json, Mpi, Output, Repeat
from tonari.commands.share import analyze
from tonari.communication import MOST_RANKS, Communication, row_parallel
from tonari.partitioned import Partitioned, write
from tonari.views import bench_spmv as view
from tonari.views.share import label

PROGRAM = "tonari_bench_spmv"
Row = dict[str, Any]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("bench spmv")(bench_spmv)


def bench_spmv(
    path: Annotated[
        str,
        typer.Argument(
            metavar="[MATRIX|DIR]",
            help="Square matrix as for `tonari partition`, or a folder that it wrote; default: "
            "a generated one.",
        ),
    ] = "",
    ranks: Annotated[
        str,
        typer.Option(
            metavar="N,N,...",
            help="Processes; one run for each number. Default: 2, or none with --simulate.",
        ),
    ] = "",
    mpi: Mpi = "",
    kinds: Annotated[
        str,
        typer.Option(
            metavar="K,K,...",
            help="forward, fields, reverse: exchanges; rows, columns: products; default: all.",
        ),
    ] = "",
    candidates: Annotated[
        str,
        typer.Option(
            metavar="A,A,...",
            help="irecv, irecv-persistent, native, native-nonblocking, native-persistent; "
            "tonari's auto and its algorithms for graphs; one-shot; start-with, "
            "two-requests; vector/direct, vector/store-and-forward/2, vector/node, vector/auto; "
            "of fields requests, group; "
            "default: all that apply.",
        ),
    ] = "",
    blocks: Annotated[
        bool,
        typer.Option(
            "--blocks",
            help="Equal blocks of rows as they stand in the file, without a partitioner.",
        ),
    ] = False,
    simulate: Annotated[
        str,
        typer.Option(
            metavar="P,P,...",
            help="Also predict the forward exchange on these numbers of ranks, by every planner of "
            "`tonari share`.",
        ),
    ] = "",
    schemes: Annotated[
        str,
        typer.Option(
            metavar="S,S,...", help="For --simulate: schemes of `tonari share`; default: all."
        ),
    ] = "",
    machine: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="For --simulate: LogGP parameters; default: a generic machine."
        ),
    ] = "",
    tune: Annotated[
        str,
        typer.Option(
            metavar="MODE",
            help="tonari_tune of all tonari requests: auto, online, off, model or measure.",
            autocompletion=TUNES,
        ),
    ] = "auto",
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Timed rounds.")] = 200,
    max_time: Annotated[
        float,
        typer.Option(
            min=0.0, metavar="S", help="Time limit in seconds, for each number of ranks and kind."
        ),
    ] = 20.0,
    repeat: Repeat = 1,
    json: Json = False,
    file: Output = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png", help="Draw time over ranks, and predicted times (.png, .svg, .pdf)."
        ),
    ] = None,
) -> None:
    """Times sparse matrix-vector products and their exchanges, by tonari and by MPI.

    Beside each other stand tonari's vectors and alltoallv, MPI's own collectives and plain
    messages.

    Example:  tonari bench spmv matrix.mtx.gz --ranks 2,4,8,16 --mpi openmpi --plot spmv.svg

    Example:  tonari bench spmv --simulate 512,4096
    """
    counts = process_counts(ranks or "2") if ranks or not simulate else []
    more = process_counts(simulate, "--simulate", MOST_RANKS) if simulate else []
    if plot:
        check_file(plot)
    chosen = find_mpi(mpi, PROGRAM) if counts else None
    arguments = ["--rounds", str(rounds), "--max-time", str(max_time), "--tuning", tune]
    arguments += ["--kinds", kinds] if kinds else []
    arguments += ["--candidates", candidates] if candidates else []

    rows: list[Row] = []
    with Console(stderr=True).status("reading the matrix") as status:
        source = Source(path, blocks)
        for count in counts:
            rows += _measure(chosen, source, count, arguments, repeat, status.update)
        add_ratio_spread(rows)
        for count in more:
            status.update(f"predicting {count:,} ranks")
            rows += _simulate(source, count, schemes, machine)
    about = {"matrix": source.name, "dealt_out": source.dealt_out}
    rows = complete([about | row for row in rows])
    report(rows, json=json, file=file, plot=plot, draw=spmv_plot.draw, show=view.show)


def _measure(
    mpi: Any,
    source: Source,
    ranks: int,
    arguments: list[str],
    repeat: int,
    progress: Callable[[str], None],
) -> list[Row]:
    progress(f"partitioning rows over {ranks} ranks")
    with tempfile.TemporaryDirectory(prefix="tonari-bench-") as place:
        folder = Path(place)
        write(source.partitioned(ranks), folder)
        return [
            row | {"repeat": number}
            for number in range(repeat)
            for row in launch(mpi, ranks, ["--matrix", str(folder), *arguments], progress=progress)
        ]


def forward_exchange(source: Source, ranks: int) -> tuple[Partitioned, Communication]:
    """What goes between so many ranks before a product by rows."""
    made = source.partitioned(ranks)
    senders, receivers, words = row_parallel(made.matrix(), made.owners())
    pattern = Communication(
        ranks, senders.astype("int32"), receivers.astype("int32"), words.astype("uint64"), ""
    )
    return made, pattern


def _simulate(source: Source, ranks: int, schemes: str, machine: str) -> list[Row]:
    """By `tonari share`, whose times are those of its machine."""
    made, pattern = forward_exchange(source, ranks)
    answers = analyze(pattern, schemes, machine)
    common = {
        "kind": SIMULATED,
        "ranks": ranks,
        "rows": made.size,
        "nonzeros": len(made.columns),
        "words": int(pattern.words.sum()),
        "avg_targets": len(pattern.senders) / ranks,
        "most_targets": int(np.bincount(pattern.senders, minlength=1).max()),
        "machine": machine or "a generic machine",
    }
    return [common | _prediction(answer) for answer in answers]


def _prediction(answer: Any) -> Row:
    return {
        "candidate": label(answer),
        "predicted_us": answer.predicted_us,
        "messages": answer.max_messages,
        "avg_messages": answer.avg_messages,
        "words_of_direct": answer.words,
        "stages": answer.stages,
        "verified": answer.delivered == 1,
    }
