"""Directed graphs from files: who sends to whom, of a communication matrix, a mesh, or the rows of a matrix dealt out to ranks."""

from __future__ import annotations

import gzip
import io
import re
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tonari.errors import ARGUMENT, FILE, TOPOLOGY, Error

MOST_RANKS = 1_000_000
MOST_EDGES = 50_000_000
MOST_TEXT = 2**31  # bytes, unpacked: files may come from strangers
WORD = 8  # bytes of an entry of x


@dataclass(frozen=True)
class Graph:
    """Edge e goes from rank senders[e] to rank receivers[e]; repeats and edges from a rank to itself are allowed.

    Of one rank, the edges in their order are its send blocks 0, 1, 2, ...

    senders, receivers  int32 arrays
    weights             float64 array as long, what the file says about the size of each edge; None: nothing
    about               what the file is and how it was read
    """

    ranks: int
    senders: np.ndarray
    receivers: np.ndarray
    weights: np.ndarray | None
    about: str


def read_graph(path: str, ranks: int | None = None) -> Graph:
    """A graph from an edge list, a METIS graph (FILE.graph, FILE.metis) or a Matrix Market file, each plain or gzipped.

    ranks: fewer than the file has rows or vertices: they are dealt out in contiguous blocks, the first ones larger by one where it does not
    come out even. Of a matrix (and a METIS graph, as one) rank a then sends to rank b if a row of b has a nonzero in a column of a: what a
    sparse matrix-vector product by rows sends around. Of an edge list it sends along its edges.
    """
    if ranks is not None and not 1 <= ranks <= MOST_RANKS:
        raise Error(f"--ranks must be from 1 to {MOST_RANKS:,}, not {ranks}", ARGUMENT)
    text = _unpacked(path)
    kind = Path(path.removesuffix(".gz")).suffix.lower()
    if text[:14].lower() == b"%%matrixmarket" or kind in (".mtx", ".mm"):
        found = _from_matrix(_matrix_market(path, text), ranks, path, "Matrix Market")
    elif kind in (".graph", ".metis"):
        found = _from_matrix(_metis(path, text), ranks, path, "METIS graph")
    else:
        found = _from_edges(_edge_list(path, text), ranks, path)
    if len(found.senders) > MOST_EDGES:
        raise Error(f"{path} has {len(found.senders):,} edges; {MOST_EDGES:,} are the most", TOPOLOGY)
    return found


def _unpacked(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            text = (gzip.GzipFile(fileobj=file) if packed else file).read(MOST_TEXT + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else "it is no whole gzip file"
        raise Error(f"{path} cannot be read: {reason}", FILE) from None
    if len(text) > MOST_TEXT:
        raise Error(f"{path} holds more than {MOST_TEXT >> 30} GiB of text", FILE)
    return text


def _wrong(path: str, line: int, sentence: str) -> Error:
    return Error(f"{path}, line {line}: {sentence}", FILE)


def _is_number(word: bytes) -> bool:
    return re.fullmatch(rb"[+-]?\d{1,18}", word) is not None


# Edge lists --------------------------------------------------------------------------------------------------------------------------------


def _edge_list(path: str, text: bytes) -> np.ndarray:
    """Shape (edges, 2 or 3): from, to and weight; # and % begin comments."""
    bare = re.sub(rb"[#%][^\r\n]*", b"", text)
    if not bare.strip():
        return np.empty((0, 2), np.int64)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a number like 1.5 is a warning only
            table = np.loadtxt(io.StringIO(bare.decode()), dtype=np.int64, comments=None, ndmin=2)
    except (ValueError, OverflowError, Warning):
        raise _bad_line(path, bare) from None
    if table.shape[1] not in (2, 3):
        raise _bad_line(path, bare)
    if (table < 0).any():
        row = int(np.flatnonzero((table < 0).any(axis=1))[0])
        what = "rank" if (table[row, :2] < 0).any() else "weight"
        raise _wrong(path, _line_of(bare, row), f"a {what} must not be negative")
    return table


def _bad_line(path: str, bare: bytes) -> Error:
    length = 0
    for number, words in _lines_with_words(bare):
        for word in words:
            if not _is_number(word):
                return _wrong(path, number, f"'{word.decode(errors='replace')[:40]}' is no whole number")
        if len(words) not in (2, 3):
            return _wrong(path, number, f"an edge is two numbers, from and to, or three with its weight, not {len(words)}")
        length = length or len(words)
        if len(words) != length:
            return _wrong(path, number, "either all edges have a weight or none")
    return Error(f"{path} is no edge list", FILE)


def _lines_with_words(bare: bytes):
    for number, line in enumerate(bare.splitlines(), 1):
        if words := line.split():
            yield number, words


def _line_of(bare: bytes, row: int) -> int:
    return next(number for k, (number, _) in enumerate(_lines_with_words(bare)) if k == row)


def _from_edges(table: np.ndarray, ranks: int | None, path: str) -> Graph:
    size = int(table[:, :2].max()) + 1 if len(table) else 0
    if not size and not ranks:
        raise Error(f"{path} has no edges; say with --ranks how many ranks there are", FILE)
    senders, receivers = table[:, 0], table[:, 1]
    weights = table[:, 2].astype(np.float64) if table.shape[1] == 3 else None
    about = "edge list"
    if ranks and ranks < size:
        senders, receivers, weights = _merged(_owners(senders, size, ranks), _owners(receivers, size, ranks), weights)
        about = f"edge list of {size:,} vertices, dealt out in blocks"
    return _graph(ranks or size, senders, receivers, weights, about, path)


def _merged(senders: np.ndarray, receivers: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Edges between different ranks, one per pair, weights added."""
    away = senders != receivers
    size = int(max(senders.max(initial=0), receivers.max(initial=0))) + 1
    keys, pair = np.unique(senders[away].astype(np.int64) * size + receivers[away], return_inverse=True)
    total = None if weights is None else np.bincount(pair, weights[away], len(keys))
    return keys // size, keys % size, total


# METIS graphs ------------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Matrix:
    """Entries (row, column, value); from 0."""

    shape: tuple[int, int]
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray | None


def _metis(path: str, text: bytes) -> _Matrix:
    """METIS's manual, section 4.1.1: a header `vertices edges [fmt [ncon]]`, then a line per vertex: [size] [weights] neighbour [weight] ..."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if not line.lstrip().startswith(b"%")]
    vertices, edges, before, weighted = _metis_header(path, lines)
    body = lines[1 : 1 + vertices]
    if len(body) < vertices:
        raise Error(f"{path} ends after {len(body):,} of the {vertices:,} vertices that its first line names", FILE)
    for number, line in lines[1 + vertices :]:
        if line.strip():
            raise _wrong(path, number, f"there is more than the {vertices:,} vertices that the first line names")
    rows, columns, values = _metis_entries(path, body, before, weighted)
    _check_metis(path, body, rows, columns, values)
    if len(rows) != 2 * edges:
        raise Error(f"{path} names {edges:,} edges in its first line, but lists {len(rows) // 2:,}", FILE)
    return _Matrix((vertices, vertices), rows, columns, values)


def _metis_header(path: str, lines: list[tuple[int, bytes]]) -> tuple[int, int, int, bool]:
    """Vertices, edges, numbers before a vertex's neighbours, and whether each neighbour is followed by a weight."""
    if not lines:
        raise Error(f"{path} is empty", FILE)
    number, words = lines[0][0], lines[0][1].split()
    if not 2 <= len(words) <= 4 or not all(word.isdigit() and len(word) < 18 for word in words):
        raise _wrong(path, number, "a METIS graph begins with the numbers of vertices and edges, then perhaps fmt and ncon")
    vertices, edges = int(words[0]), int(words[1])
    flags = words[2].decode().zfill(3) if len(words) > 2 else "000"
    if len(flags) != 3 or set(flags) - {"0", "1"}:
        raise _wrong(path, number, f"fmt must be three digits 0 or 1, not {words[2].decode()}")
    _check_ranks(path, vertices, edges)
    constraints = int(words[3]) if len(words) > 3 else 1
    return vertices, edges, int(flags[0]) + int(flags[1]) * constraints, flags[2] == "1"


def _metis_entries(path: str, body: list[tuple[int, bytes]], before: int, weighted: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    counts = np.array([len(line.split()) for _, line in body], np.int64)
    numbers = _whole_numbers(path, body, int(counts.sum()))
    step = 2 if weighted else 1
    short = np.flatnonzero((counts < before) | ((counts - before) % step != 0))
    if len(short):
        what = f"{before} numbers and then " if before else ""
        raise _wrong(path, body[short[0]][0], f"a vertex has {what}{'pairs of a neighbour and a weight' if weighted else 'neighbours'}")
    place = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts) - before  # in the list of neighbours
    if (numbers[place < 0] < 0).any():
        where = np.flatnonzero((place < 0) & (numbers < 0))[0]
        raise _wrong(path, body[int(np.searchsorted(np.cumsum(counts), where, side="right"))][0], "a vertex weight must not be negative")
    first = (place >= 0) & (place % step == 0)
    rows = np.repeat(np.arange(len(body)), counts)[first]
    values = numbers[(place >= 0) & (place % step == 1)].astype(np.float64) if weighted else None
    return rows, numbers[first] - 1, values


def _whole_numbers(path: str, body: list[tuple[int, bytes]], count: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what cannot be read is found below
        try:
            numbers = np.fromstring(b" ".join(line for _, line in body).decode("latin1"), dtype=np.int64, sep=" ") if count else np.empty(0, np.int64)
        except ValueError:
            numbers = np.empty(0, np.int64)
    if len(numbers) == count:
        return numbers
    for number, line in body:
        for word in line.split():
            if not _is_number(word):
                raise _wrong(path, number, f"'{word.decode(errors='replace')[:40]}' is no whole number")
    raise Error(f"{path} is no METIS graph", FILE)


def _check_metis(path: str, body: list[tuple[int, bytes]], rows: np.ndarray, columns: np.ndarray, values: np.ndarray | None) -> None:
    """Neighbours exist, are others, are named once, and name the vertex in return with the same weight."""
    size = len(body)

    def at(where: np.ndarray, sentence: str) -> None:
        if len(where):
            k = int(where[0])
            raise _wrong(path, body[rows[k]][0], sentence.format(vertex=rows[k] + 1, neighbour=columns[k] + 1))

    at(np.flatnonzero((columns < 0) | (columns >= size)), "neighbour {neighbour} is none of the vertices 1 to " + str(size))
    at(np.flatnonzero(rows == columns), "vertex {vertex} is its own neighbour, which METIS graphs do not have")
    if values is not None:
        at(np.flatnonzero(values <= 0), "the weight of the edge to {neighbour} must be positive")
    there, back = rows * size + columns, columns * size + rows
    order, reverse = np.argsort(there, kind="stable"), np.argsort(back, kind="stable")
    at(order[1:][there[order][1:] == there[order][:-1]], "vertex {vertex} names neighbour {neighbour} twice")
    if not np.array_equal(there[order], back[reverse]):
        at(np.flatnonzero(~np.isin(there, back)), "vertex {vertex} names neighbour {neighbour}, which does not name it")
    if values is not None:
        at(order[values[order] != values[reverse]], "the weight of the edge to {neighbour} is not the one that {neighbour} gives")


# Matrices ----------------------------------------------------------------------------------------------------------------------------------


def _matrix_market(path: str, text: bytes) -> _Matrix:
    from scipy import sparse
    from scipy.io import mminfo, mmread

    try:
        rows, columns, entries, *_ = mminfo(io.BytesIO(text))
        _check_ranks(path, max(rows, columns), entries)
        matrix = sparse.coo_array(mmread(io.BytesIO(text)))
    except (ValueError, OverflowError, MemoryError) as error:
        reason = str(error).rstrip(".")
        where, _, what = reason.partition(": ")
        raise Error(f"{path}, {where.lower()}: {what[:1].lower() + what[1:]}" if what else f"{path}: {reason}", FILE) from None
    matrix.sum_duplicates()
    matrix.eliminate_zeros()  # a zero says that nothing is sent
    return _Matrix(matrix.shape, matrix.row.astype(np.int64), matrix.col.astype(np.int64), np.abs(matrix.data).astype(np.float64))


def _check_ranks(path: str, size: int, edges: int) -> None:
    """Before memory is asked for; rows may be more than ranks."""
    if size > 100 * MOST_RANKS or edges > 10 * MOST_EDGES:
        raise Error(f"{path} claims {size:,} rows and {edges:,} entries, which is too much for this command", FILE)


def _from_matrix(matrix: _Matrix, ranks: int | None, path: str, about: str) -> Graph:
    """A communication matrix, entry (i, j) for what rank i sends to rank j, if there are as many ranks as rows; else rows dealt out."""
    rows, columns = matrix.shape
    if ranks is not None and ranks > rows:
        raise Error(f"{path} has {rows:,} rows, fewer than the {ranks:,} of --ranks", TOPOLOGY)
    if ranks is None or ranks == rows == columns:
        if rows != columns:
            raise Error(f"{path} is {rows:,} x {columns:,}: to say who sends to whom a matrix must be square; --ranks deals out its rows", TOPOLOGY)
        return _graph(rows, matrix.rows, matrix.columns, matrix.values, about, path)
    owners = _owners(matrix.rows, rows, ranks)
    needed = distinct(owners * np.int64(columns) + matrix.columns)  # (rank, column): each entry of x travels to a rank once
    words = np.full(len(needed), float(WORD))
    edges = _merged(_owners(needed % columns, columns, ranks), needed // columns, words)
    return _graph(ranks, *edges, f"{about}, {rows:,} x {columns:,} by rows, y = A x", path)


def distinct(keys: np.ndarray) -> np.ndarray:
    """Sorted, each once. (np.unique hashes, which takes ten times as long for millions of integers.)"""
    keys = np.sort(keys)
    return keys[np.diff(keys, prepend=keys[:1] - 1) != 0]


def _owners(indices: np.ndarray, size: int, ranks: int) -> np.ndarray:
    """Which rank has each index: contiguous blocks, the first size % ranks of them longer by one."""
    short, longer = divmod(size, ranks)
    border = longer * (short + 1)
    return np.where(indices < border, indices // (short + 1), longer + (indices - border) // max(short, 1))


def _graph(ranks: int, senders: np.ndarray, receivers: np.ndarray, weights: np.ndarray | None, about: str, path: str) -> Graph:
    if ranks < 1:
        raise Error(f"{path} has no ranks", FILE)
    if ranks > MOST_RANKS:
        raise Error(f"{path} has {ranks:,} ranks; {MOST_RANKS:,} are the most: --ranks deals them out", TOPOLOGY)
    return Graph(ranks, senders.astype(np.int32), receivers.astype(np.int32), weights, about)
