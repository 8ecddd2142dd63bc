# SPDX-License-Identifier: BSD-3-Clause
"""tonari calibrate: measures what messages cost here, once for all jobs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tonari import output
from tonari.benchmark.launch import find_mpi
from tonari.benchmark.summary import write_text
from tonari.calibration import COUNTS, PROGRAM, Job, Machine, text_of
from tonari.calibration import calibrate as measure
from tonari.commands.options import Hosts, Json, Mpi
from tonari.core import core

LAUNCHER = (
    "The command that starts the ranks, without a program: 'srun -N 2 -n 4' within an allocation."
)
WORDS = {
    "L": "latency between nodes, or between the ranks that there are",
    "o": "work of a processor per message, at each end",
    "g": "least time between two messages of a rank",
    "G": "per byte of a long message",
    "eager": "bytes up to which a message does not wait for its receiver",
    "rendezvous": "what longer messages take besides",
    "copy_block": "start of a copy",
    "copy_byte": "per byte of a copy",
    "typed_block": "per piece of a message with a datatype",
    "shared_latency": "L of a message through shared memory",
    "shared_overhead": "o of a message through shared memory",
    "node_latency": "L on a node",
    "node_overhead": "o on a node",
    "node_gap": "g on a node",
    "node_byte": "G on a node",
    "node_eager": "eager on a node",
    "node_rendezvous": "rendezvous on a node",
    "core_switch": "what each turn takes where ranks share a core",
    "cores": "that all ranks share",
}


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(calibrate)


def calibrate(
    file: Annotated[
        Path, typer.Option("--output", metavar="FILE", help="The machine file to write.")
    ] = Path("machine.txt"),
    ranks: Annotated[
        int | None,
        typer.Option(min=2, max=65536, metavar="N", help="Processes; default: 2, or one per host."),
    ] = None,
    hosts: Hosts = 0,
    launcher: Annotated[str, typer.Option(metavar="COMMAND", help=LAUNCHER)] = "",
    mpi: Mpi = "",
    repeat: Annotated[
        int, typer.Option(min=1, max=100, metavar="N", help="The median of so many runs counts.")
    ] = 3,
    json: Json = False,
) -> None:
    """Measures what messages cost, and writes it to a machine file for programs and simulations.

    Programs read it where TONARI_MACHINE names it, `tonari plan` and `tonari simulate` with
    --machine. On a cluster, use two nodes and at least two ranks on each.

    Example:  tonari calibrate --output here.txt

    Example:  tonari calibrate --launcher 'srun -N 2 -n 4' --output cluster.txt
    """
    if launcher and (ranks or hosts):
        raise typer.BadParameter("--launcher starts the ranks: leave out --ranks and --hosts")
    chosen = find_mpi(mpi or ("openmpi" if hosts else ""), PROGRAM)
    job = Job(ranks or hosts or 2, hosts, launcher)
    with Console(stderr=True).status("measuring") as status:
        machine, trouble = measure(chosen, job, repeat, not launcher and not hosts, status.update)
    where = f"started by {launcher}" if launcher else f"{job.ranks} ranks"
    head = f"tonari calibrate: {chosen.name}, {where}, of {repeat} runs"
    write_text(text_of(machine, head, trouble), file)
    core().read_machine_file(str(file))  # it is one
    print(f"written: {file}", file=sys.stderr)
    if trouble:
        print(trouble, file=sys.stderr)
    if json:
        output.print_json([{name: value for name, value in machine.items()}])
    else:
        _show(machine)


def _value(name: str, value: float) -> str:
    if name in COUNTS:
        return f"{value:.0f}"
    return output.size(int(value)) if name.endswith("eager") else f"{value:.3g} s"


def _show(machine: Machine) -> None:
    table = output.table("parameter", "value", "what it is")
    for name, meaning in WORDS.items():
        if name in machine:
            table.add_row(name, _value(name, machine[name]), meaning)
    output.console().print(table)
