# SPDX-License-Identifier: BSD-3-Clause
"""The lines of C that would make an exchange tonari's. They compile as they are, between the
program's own declarations of comm, sendbuf and recvbuf, and exchange what was observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from tonari.advice.exchanges import Exchange
from tonari.advice.stencil import Stencil, rank_at

MOST_LISTED = 256  # numbers in a table; the program knows them better
MOST_EXPLAINED = 26  # offsets with the rank that they lead to
WIDTH = 76


def lines(exchange: Exchange) -> list[str]:
    """Neighborhood and request once, start and wait in the loop."""
    grid = _is_grid(exchange)
    return [
        "/* once, before the loop; comm has the ranks of MPI_COMM_WORLD */",
        "tonari_neighborhood near;",
        *(_grid(exchange) if grid else _graph(exchange)),
        "tonari_request halo;",
        *(_blocks(exchange) if grid else _counted(exchange)),
        f"/* in the loop, instead of what ends at {exchange.site} */",
        "tonari_start(halo);",
        "tonari_wait(halo);",
    ]


def _is_grid(exchange: Exchange) -> bool:
    least, most = exchange.bytes_range
    return exchange.stencil is not None and not exchange.stencil.once and least == most


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _table(name: str, values: Sequence[int]) -> list[str]:
    """static const int name[] = {...}; in lines that are not wide."""
    text, line = [f"static const int {name}[] = {{"], "   "
    for word in (f" {value}," for value in values or [0]):
        if len(line) + len(word) > WIDTH:
            text.append(line)
            line = "   "
        line += word
    return [*text, line, "};"]


# ---- a grid


def _grid(exchange: Exchange) -> list[str]:
    stencil = exchange.stencil
    assert stencil
    count, dimensions = len(stencil.offsets), len(stencil.dims)
    periods = _numbers([int(closed) for closed in stencil.periodic])
    create = "tonari_neighborhood_create_cart"
    return [
        "MPI_Comm cart;",
        f"int dims[] = {{{_numbers(stencil.dims)}}}, periods[] = {{{periods}}};",
        f"MPI_Cart_create(comm, {dimensions}, dims, periods, 0, &cart);",
        "/* block i goes to offset i, and comes from the opposite one */",
        "static const int offsets[] = {",
        *_offsets(stencil),
        "};",
        f"{create}(cart, {count}, offsets, MPI_INFO_NULL, &near);",
    ]


def _offsets(stencil: Stencil) -> Iterator[str]:
    """One per line with the rank that it leads to from one in the middle; many on few lines."""
    rows = [_numbers(offset) + "," for offset in stencil.offsets]
    if len(rows) > MOST_EXPLAINED:
        per_line = max(1, 60 // max(len(row) + 2 for row in rows))
        for k in range(0, len(rows), per_line):
            yield "    " + "  ".join(rows[k : k + per_line])
        return
    middle = [size // 2 for size in stencil.dims]
    width = max(map(len, rows))
    start = rank_at(stencil, middle, [0] * len(middle))
    for row, offset in zip(rows, stencil.offsets, strict=True):
        there = rank_at(stencil, middle, offset)
        to = "nobody" if there is None else f"rank {there}"
        yield f"    {row:<{width}} /* from rank {start} to {to} */"


def _blocks(exchange: Exchange) -> list[str]:
    _, most = exchange.bytes_range
    return [
        f"tonari_alltoall_init(sendbuf, {most}, MPI_BYTE, recvbuf, {most}, MPI_BYTE,",
        "                     near, MPI_INFO_NULL, &halo);",
    ]


# ---- a graph


def _graph(exchange: Exchange) -> list[str]:
    ranks = range(1 + max(chain(exchange.targets, exchange.sources), default=0))
    to, sources = exchange.targets, exchange.sources
    known = not any(source < 0 for source in chain.from_iterable(sources.values()))
    listed = sum(map(len, chain(to.values(), sources.values()))) + 2 * len(ranks) <= MOST_LISTED
    name = "adjacent" if known else "from_destinations"
    before = f"tonari_neighborhood_create_{name}(comm,"
    pad = " " * (before.index("(") + 1)
    if not listed:
        return _untabled(exchange, before, pad, known)
    made = _lists("out", "destinations", to, ranks)
    if known:
        made += _lists("in", "sources", sources, ranks)
        arguments = [
            "indegrees[rank], sources + first_in, MPI_UNWEIGHTED,",
            "outdegrees[rank], destinations + first_out, MPI_UNWEIGHTED,",
        ]
    else:
        arguments = ["outdegrees[rank], destinations + first_out,"]
    return [
        f"int rank, indegree, outdegree, first_out = 0{', first_in = 0' * known};",
        "MPI_Comm_rank(comm, &rank);",
        "/* who sends to whom: what was seen, by rank */",
        *made,
        before,
        *(pad + line for line in arguments),
        f"{pad}MPI_INFO_NULL, &near);",
    ]


def _lists(
    side: str, name: str, by_rank: Mapping[int, Sequence[int]], ranks: Sequence[int]
) -> list[str]:
    lists = [by_rank.get(rank, []) for rank in ranks]
    return [
        *_table(f"{side}degrees", [len(one) for one in lists]),
        *_table(name, list(chain.from_iterable(lists))),
        f"for (int r = 0; r < rank; ++r) first_{side} += {side}degrees[r];",
    ]


def _untabled(exchange: Exchange, before: str, pad: str, known: bool) -> list[str]:
    """The program has lists of its own: what they are on one rank."""
    rank = min(exchange.targets, default=0)
    to, sources = exchange.targets.get(rank, []), exchange.sources.get(rank, [])
    receives = [
        f"int indegree = {len(sources)}; /* on rank {rank}, and so are the next ones */",
        *_table("sources", sources),
    ]
    sides = f"{pad}indegree, sources, MPI_UNWEIGHTED,"
    return [
        "/* the program's own numbers and lists of ranks replace these */",
        *(receives if known else ["int indegree;"]),
        f"int outdegree = {len(to)};",
        *_table("destinations", to),
        before,
        *([sides] if known else []),
        f"{pad}outdegree, destinations, " + ("MPI_UNWEIGHTED," if known else ""),
        f"{pad}MPI_INFO_NULL, &near);",
    ]


def _counted(exchange: Exchange) -> list[str]:
    least, most = exchange.bytes_range
    degree = max(1, exchange.messages, *map(len, exchange.sources.values()), 1)
    return [
        "tonari_neighborhood_degrees(near, &indegree, &outdegree);",
        *_why_counts(exchange),
        f"enum {{ MOST = {_most_edges(exchange, degree)} }};",
        "static int sendcounts[MOST], recvcounts[MOST];",
        "static MPI_Aint senddispls[MOST + 1], recvdispls[MOST + 1];",
        *_sizes(exchange, least, most),
        "tonari_alltoall(sendcounts, 1, MPI_INT, recvcounts, 1, MPI_INT, near);",
        "for (int k = 0; k < outdegree; ++k) senddispls[k + 1] = senddispls[k] + sendcounts[k];",
        "for (int k = 0; k < indegree; ++k) recvdispls[k + 1] = recvdispls[k] + recvcounts[k];",
        "tonari_alltoallv_init(sendbuf, sendcounts, senddispls, MPI_BYTE,",
        "                      recvbuf, recvcounts, recvdispls, MPI_BYTE,",
        "                      near, MPI_INFO_NULL, &halo);",
    ]


def _most_edges(exchange: Exchange, degree: int) -> int:
    """Of any rank on either side; whoever receives from any source counts what is sent."""
    received: dict[int, int] = {}
    for to in chain.from_iterable(exchange.targets.values()):
        received[to] = received.get(to, 0) + 1
    return max([degree, *received.values()])


def _why_counts(exchange: Exchange) -> list[str]:
    if exchange.has_room:
        return ["/* with room for the largest blocks: each begins with its number of bytes */"]
    if exchange.same_sizes:
        return ["/* again after each change of sizes, which tonari_request_free precedes */"]
    return []


def _sizes(exchange: Exchange, least: int, most: int) -> list[str]:
    if exchange.has_room:
        most += 8
    ranks = range(1 + max(chain(exchange.targets, exchange.sources), default=0))
    sizes = [exchange.sizes.get(rank, []) for rank in ranks]
    entries = sum(map(len, exchange.targets.values()))
    entries += sum(map(len, exchange.sources.values())) + 2 * len(ranks)
    if least == most or exchange.same_sizes or entries > MOST_LISTED:
        return [f"for (int k = 0; k < outdegree; ++k) sendcounts[k] = {most};"]
    return [
        *_table("bytes", list(chain.from_iterable(sizes))),
        "for (int k = 0; k < outdegree; ++k) sendcounts[k] = bytes[first_out + k];",
    ]
