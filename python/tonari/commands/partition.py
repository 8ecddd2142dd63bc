# SPDX-License-Identifier: BSD-3-Clause
"""tonari partition: a matrix partitioned by rows, as files of which every rank reads its part."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from tonari import output
from tonari.communication import row_parallel
from tonari.partitioned import Partitioned, owners_of, permuted, read_for_products, write


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(partition)


def partition(
    path: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Square matrix: Matrix Market file or METIS graph, plain or .gz.",
            show_default=False,
        ),
    ],
    folder: Annotated[
        Path,
        typer.Option(
            "--output",
            metavar="DIR",
            help="Folder for the files; it is made if it does not exist.",
            show_default=False,
        ),
    ],
    parts: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="P",
            help="Number of ranks to distribute the rows over.",
            show_default=False,
        ),
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Owners of the rows, one number per line; default: found by Mt-KaHyPar.",
            show_default=False,
        ),
    ] = None,
    blocks: Annotated[
        bool,
        typer.Option(
            "--blocks",
            help="Equal blocks of rows as they stand in the file, without a partitioner.",
        ),
    ] = False,
    laplacian: Annotated[
        bool,
        typer.Option(
            "--laplacian",
            help="Replace the values: -1 beside the diagonal, and on it one more than there are of "
            "these in the row.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Sizes for programs: a JSON array with one row.")
    ] = False,
) -> None:
    """Partitions the rows of a matrix and writes files of which each rank reads its own part.

    The files are NumPy's. The matrix is permuted so that each rank's rows are consecutive:

    row_begin, columns (ascending in a row) and values are the permuted matrix by
    rows; rank p owns the rows ranges[p] to ranges[p + 1]; row k of it was row
    permutation[k]. Patterns have ones as values; --laplacian gives any matrix with
    symmetric places values with which it is symmetric positive definite.

    Example:  tonari partition matrix.mtx.gz --parts 16 --output matrix16
    """
    if blocks and partition:
        raise typer.BadParameter(
            "--blocks and --partition both say who owns the rows; give one of them"
        )
    with output.status(f"reading {path}") as status:
        matrix = read_for_products(path, with_laplacian=laplacian)
        status.update("partitioning rows")
        owners, count = owners_of(matrix, path, parts, partition_file=partition, blocks=blocks)
        made = permuted(matrix, owners, count)
        write(made, folder)
    row = describe(made)
    if json:
        output.print_json([row])
        return
    print(
        f"{path}: {made.size:,} rows, {len(made.columns):,} nonzeros, {made.parts:,} "
        f"part{'s' if made.parts > 1 else ''}"
    )
    print(
        f"rows of a part: {row['least_rows']:,} to {row['most_rows']:,}; nonzeros: "
        f"{row['least_nonzeros']:,} to {row['most_nonzeros']:,}"
    )
    print(
        f"a product by rows sends {row['words']:,} words in {row['messages']:,} messages, at "
        f"most {row['max_messages']:,} from one rank"
    )
    print(f"written: {folder}", file=sys.stderr)


def describe(made: Partitioned) -> dict[str, int]:
    senders, _, words = row_parallel(made.matrix(), made.owners())
    rows, nonzeros = (
        made.ranges[1:] - made.ranges[:-1],
        made.row_begin[made.ranges[1:]] - made.row_begin[made.ranges[:-1]],
    )
    return {
        "rows": made.size,
        "nonzeros": len(made.columns),
        "parts": made.parts,
        "least_rows": int(rows.min()),
        "most_rows": int(rows.max()),
        "least_nonzeros": int(nonzeros.min()),
        "most_nonzeros": int(nonzeros.max()),
        "words": int(words.sum()),
        "messages": len(senders),
        "max_messages": int(np.bincount(senders, minlength=made.parts).max()),
    }
