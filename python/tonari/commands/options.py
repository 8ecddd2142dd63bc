# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tonari import machines
from tonari.completion import values
from tonari.suggestion import did_you_mean

# The values of options that shells offer.
OPERATIONS = values(
    *("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv", "allgatherw")
)
TUNES = values("auto", "online", "off", "model", "measure")
GRIDS = ("moore:2:1", "moore:3:1", "star:2:1", "star:3:1", "octant:3", "shells:2:1,3")
GRAPHS = ("random:0.3", "hotspot", "hotspot-in", "scale-free:2", "clique:4")

Json = Annotated[bool, typer.Option("--json", help="Rows for programs: a JSON array.")]
Output = Annotated[
    Path | None, typer.Option("--output", metavar="FILE.json", help="Write the rows there too.")
]
Mpi = Annotated[
    str,
    typer.Option(
        metavar="MPI",
        help="openmpi or mpich; default: the first one of the build.",
        autocompletion=values("openmpi", "mpich"),
    ),
]
Hosts = Annotated[
    int,
    typer.Option(
        min=0,
        max=1000,
        metavar="N",
        help="Number of hosts: network namespaces with TCP between them. Only for root.",
    ),
]


def _machine_files(incomplete: str) -> list[str]:
    """None before something is typed: shells then offer files."""
    return values(*machines.names())(incomplete) if incomplete else []


Machine = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="LogGP parameters, or a name of `tonari predict`; default: a generic machine.",
        callback=machines.path_of,
        autocompletion=_machine_files,
    ),
]


def pattern_or(*commands: str) -> Any:
    """A pattern; shells also offer the second words of commands that begin alike."""
    return Annotated[
        str,
        typer.Argument(
            help="moore:d:r, star:d:r, octant:d[:r], shells:d:r1,r2 or a file of offsets, "
            "one per line.",
            show_default=False,
            autocompletion=values(*commands, *GRIDS),
        ),
    ]


Pattern = pattern_or()
OF_BLOCKS = ("alltoall", "allgather")
Blocks = Annotated[
    str,
    typer.Option(
        "--op",
        metavar="OP",
        help="alltoall: a block for every neighbor; allgather: one block for all.",
        autocompletion=values(*OF_BLOCKS),
    ),
]
Mesh = Annotated[bool, typer.Option("--mesh", help="No dimension is periodic.")]
Repeat = Annotated[
    int, typer.Option(min=1, max=100, metavar="N", help="Repeat everything N times.")
]


def one_of(option: str, word: str, known: Sequence[str]) -> None:
    """Refuses a word that is none of these."""
    if word not in known:
        raise typer.BadParameter(
            f"{option} is '{word}'; it must be {' or '.join(known)}" + did_you_mean(word, known)
        )


def counts(text: str, option: str = "--ranks") -> list[int]:
    """Several numbers with commas between them, each once."""
    found = []
    for word in text.split(","):
        if not (word.isascii() and word.isdigit() and 0 < len(word) < 20 and int(word) > 0):
            raise typer.BadParameter(
                f"{option} has '{word}'; it must be whole numbers from 1 with commas between them"
            )
        found.append(int(word))
    return list(dict.fromkeys(found))
