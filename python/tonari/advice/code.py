# SPDX-License-Identifier: BSD-3-Clause
"""The lines of C that would make an exchange tonari's."""

from __future__ import annotations

from collections.abc import Sequence

from tonari.advice.exchanges import Exchange
from tonari.advice.stencil import Stencil

MOST_SHOWN = 12  # of a list of ranks


def lines(exchange: Exchange) -> list[str]:
    """Neighborhood and request once, start and wait in the loop."""
    made = _grid(exchange.stencil) if _is_grid(exchange) else _graph(exchange)
    return [
        "/* once, before the loop */",
        "tonari_neighborhood near;",
        *made,
        "tonari_request halo;",
        *_request(exchange),
        f"/* in the loop, instead of what ends at {exchange.site} */",
        "tonari_start(halo);",
        "tonari_wait(halo);",
    ]


def _is_grid(exchange: Exchange) -> bool:
    return exchange.stencil is not None and not exchange.stencil.once


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _grid(stencil: Stencil | None) -> list[str]:
    assert stencil
    count, dimensions = len(stencil.offsets), len(stencil.dims)
    rows = [_numbers(offset) + "," for offset in stencil.offsets]
    per_line = max(1, 60 // max(len(row) + 2 for row in rows))
    listed = [rows[k : k + per_line] for k in range(0, count, per_line)]
    return [
        "MPI_Comm cart;",
        f"int dims[] = {{{_numbers(stencil.dims)}}}, "
        f"periods[] = {{{_numbers([int(closed) for closed in stencil.periodic])}}};",
        f"MPI_Cart_create(comm, {dimensions}, dims, periods, 0, &cart);",
        "/* block i goes to offset i, and comes from the opposite one */",
        "static const int offsets[] = {",
        *("    " + "  ".join(line) for line in listed),
        "};",
        f"tonari_neighborhood_create_cart(cart, {count}, offsets, MPI_INFO_NULL, &near);",
    ]


def _graph(exchange: Exchange) -> list[str]:
    rank = min(exchange.targets, default=0)
    to, sources = exchange.targets.get(rank, []), exchange.sources.get(rank, [])
    if any(source < 0 for source in sources):
        return [
            f"/* on rank {rank}: {_listed('destinations', to)} */",
            "tonari_neighborhood_create_from_destinations(comm, outdegree, destinations,",
            "                                             MPI_INFO_NULL, &near);",
        ]
    return [
        f"/* on rank {rank}: {_listed('sources', sources)} */",
        f"/* on rank {rank}: {_listed('destinations', to)} */",
        "tonari_neighborhood_create_adjacent(comm, indegree, sources, MPI_UNWEIGHTED,",
        "                                    outdegree, destinations, MPI_UNWEIGHTED,",
        "                                    MPI_INFO_NULL, &near);",
    ]


def _listed(name: str, ranks: Sequence[int]) -> str:
    more = ", ..." if len(ranks) > MOST_SHOWN else ""
    return f"{name} = {{{_numbers(ranks[:MOST_SHOWN])}{more}}}"


def _request(exchange: Exchange) -> list[str]:
    least, most = exchange.bytes_range
    if exchange.has_room:
        return [
            "/* counts with room for the largest blocks: each begins with its number of bytes */",
            *_with_counts(),
        ]
    if exchange.same_sizes:
        return [
            "/* again after each change of sizes, which tonari_request_free precedes */",
            *_with_counts(),
        ]
    if least == most:
        return [
            f"tonari_alltoall_init(sendbuf, {most}, MPI_BYTE, recvbuf, {most}, MPI_BYTE,",
            "                     near, MPI_INFO_NULL, &halo);",
        ]
    return _with_counts()


def _with_counts() -> list[str]:
    return [
        "tonari_alltoallv_init(sendbuf, sendcounts, senddispls, MPI_BYTE,",
        "                      recvbuf, recvcounts, recvdispls, MPI_BYTE,",
        "                      near, MPI_INFO_NULL, &halo);",
    ]
