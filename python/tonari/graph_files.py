# SPDX-License-Identifier: BSD-3-Clause
"""Edge lists, METIS graphs, Matrix Market files and partitions: numbers out of text, and a sentence
with file and line where that is wrong."""

from __future__ import annotations

import gzip
import io
import re
import warnings
import zlib
from dataclasses import dataclass

import numpy as np

from tonari.errors import FILE, Error

MOST_TEXT = 2**31  # bytes, unpacked: files may come from strangers
MOST_ROWS, MOST_ENTRIES = 10**8, 5 * 10**8
MOST_WORDS = 2**53  # in an entry: beyond, real numbers are not exact


@dataclass(frozen=True)
class Matrix:
    """Entries (row, column, value), from 0, none of them twice."""

    shape: tuple[int, int]
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray | None

    def transposed(self) -> Matrix:
        return Matrix((self.shape[1], self.shape[0]), self.columns, self.rows, self.values)


def unpacked(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            text = (gzip.GzipFile(fileobj=file) if packed else file).read(MOST_TEXT + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = (
            error.strerror.lower()
            if isinstance(error, OSError) and error.strerror
            else "it is no whole gzip file"
        )
        raise Error(f"{path} cannot be read: {reason}", FILE) from None
    if len(text) > MOST_TEXT:
        raise Error(f"{path} holds more than {MOST_TEXT >> 30} GiB of text", FILE)
    return text


def _wrong(path: str, line: int, sentence: str) -> Error:
    return Error(f"{path}, line {line}: {sentence}", FILE)


def _is_number(word: bytes, dtype: type = np.int64) -> bool:
    return (
        re.fullmatch(
            rb"[+-]?\d{1,18}" if dtype is np.int64 else rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?",
            word,
        )
        is not None
    )


# Edge lists ---------------------------------------------------------------------------------------


def edge_list(path: str, text: bytes) -> np.ndarray:
    """Shape (edges, 2 or 3): from, to and weight; # and % begin comments."""
    bare = re.sub(rb"[#%][^\r\n]*", b"", text)
    table = _numbers(
        path,
        bare,
        np.int64,
        (2, 3),
        "an edge is two numbers, from and to, or three with its weight, on all lines alike",
    )
    if (table < 0).any():
        row = int(np.flatnonzero((table < 0).any(axis=1))[0])
        what = "rank" if (table[row, :2] < 0).any() else "weight"
        raise _wrong(path, _line_of(bare, row), f"a {what} must not be negative")
    return table


def _numbers(path: str, bare: bytes, dtype: type, widths: tuple[int, ...], rule: str) -> np.ndarray:
    """A table of numbers, a row per line that is not empty, in one of these numbers of columns."""
    if not bare.strip():
        return np.empty((0, widths[0]), dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a whole number like 1.5 is a warning only
            table = np.loadtxt(io.StringIO(bare.decode()), dtype=dtype, comments=None, ndmin=2)
    except (ValueError, OverflowError, Warning):
        raise _bad_line(path, bare, dtype, widths, rule) from None
    if table.shape[1] not in widths:
        raise _bad_line(path, bare, dtype, widths, rule)
    return table


def _bad_line(path: str, bare: bytes, dtype: type, widths: tuple[int, ...], rule: str) -> Error:
    width = 0
    for number, words in _lines_with_words(bare):
        for word in words:
            if not _is_number(word, dtype):
                return _wrong(
                    path,
                    number,
                    f"'{word.decode(errors='replace')[:40]}' is no "
                    f"{'whole ' if dtype is np.int64 else ''}number",
                )
        width = width or len(words)
        if len(words) not in widths or len(words) != width:
            return _wrong(path, number, f"{rule}, not {len(words)}")
    return Error(f"{path} cannot be read as numbers", FILE)


def _lines_with_words(bare: bytes):
    for number, line in enumerate(bare.splitlines(), 1):
        if words := line.split():
            yield number, words


def _line_of(bare: bytes, row: int) -> int:
    return next(number for k, (number, _) in enumerate(_lines_with_words(bare)) if k == row)


# METIS graphs -------------------------------------------------------------------------------------


def metis(path: str, text: bytes) -> Matrix:
    """METIS's manual, section 4.1.1: a header `vertices edges [fmt [ncon]]`, then a line per
    vertex: [size] [weights] neighbor [weight] ..."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if not line.lstrip().startswith(b"%")
    ]
    vertices, edges, before, weighted = _metis_header(path, lines)
    body = lines[1 : 1 + vertices]
    if len(body) < vertices:
        raise Error(
            f"{path} ends after {len(body):,} of the {vertices:,} vertices that its first "
            "line names",
            FILE,
        )
    for number, line in lines[1 + vertices :]:
        if line.strip():
            raise _wrong(
                path,
                number,
                f"there is more than the {vertices:,} vertices that the first line names",
            )
    rows, columns, values = _metis_entries(path, body, before, weighted)
    _check_metis(path, body, rows, columns, values)
    if len(rows) != 2 * edges:
        raise Error(
            f"{path} names {edges:,} edges in its first line, but lists {len(rows) // 2:,}", FILE
        )
    return Matrix((vertices, vertices), rows, columns, values)


def _metis_header(path: str, lines: list[tuple[int, bytes]]) -> tuple[int, int, int, bool]:
    """Vertices, edges, numbers before a vertex's neighbors, and whether each neighbor is followed
    by a weight."""
    if not lines:
        raise Error(f"{path} is empty", FILE)
    number, words = lines[0][0], lines[0][1].split()
    if not 2 <= len(words) <= 4 or not all(word.isdigit() and len(word) < 18 for word in words):
        raise _wrong(
            path,
            number,
            "a METIS graph begins with the numbers of vertices and edges, then perhaps fmt "
            "and ncon",
        )
    vertices, edges = int(words[0]), int(words[1])
    flags = words[2].decode().zfill(3) if len(words) > 2 else "000"
    if len(flags) != 3 or set(flags) - {"0", "1"}:
        raise _wrong(path, number, f"fmt must be three digits 0 or 1, not {words[2].decode()}")
    _check_size(path, vertices, edges)
    constraints = int(words[3]) if len(words) > 3 else 1
    return vertices, edges, int(flags[0]) + int(flags[1]) * constraints, flags[2] == "1"


def _metis_entries(
    path: str, body: list[tuple[int, bytes]], before: int, weighted: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    counts = np.array([len(line.split()) for _, line in body], np.int64)
    numbers = _whole_numbers(path, body, int(counts.sum()))
    step = 2 if weighted else 1
    short = np.flatnonzero((counts < before) | ((counts - before) % step != 0))
    if len(short):
        what = f"{before} numbers and then " if before else ""
        raise _wrong(
            path,
            body[short[0]][0],
            f"a vertex has {what}{'pairs of a neighbor and a weight' if weighted else 'neighbors'}",
        )
    place = (
        np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts) - before
    )  # in the list of neighbors
    if (numbers[place < 0] < 0).any():
        where = np.flatnonzero((place < 0) & (numbers < 0))[0]
        raise _wrong(
            path,
            body[int(np.searchsorted(np.cumsum(counts), where, side="right"))][0],
            "a vertex weight must not be negative",
        )
    first = (place >= 0) & (place % step == 0)
    rows = np.repeat(np.arange(len(body)), counts)[first]
    values = numbers[(place >= 0) & (place % step == 1)].astype(np.float64) if weighted else None
    return rows, numbers[first] - 1, values


def _whole_numbers(path: str, body: list[tuple[int, bytes]], count: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what cannot be read is found below
        try:
            numbers = (
                np.fromstring(
                    b" ".join(line for _, line in body).decode("latin1"), dtype=np.int64, sep=" "
                )
                if count
                else np.empty(0, np.int64)
            )
        except ValueError:
            numbers = np.empty(0, np.int64)
    if len(numbers) == count:
        return numbers
    for number, line in body:
        for word in line.split():
            if not _is_number(word):
                raise _wrong(
                    path, number, f"'{word.decode(errors='replace')[:40]}' is no whole number"
                )
    raise Error(f"{path} is no METIS graph", FILE)


def _check_metis(
    path: str,
    body: list[tuple[int, bytes]],
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray | None,
) -> None:
    """Neighbors exist, are others, are named once, and name the vertex in return with the same
    weight."""
    size = len(body)

    def at(where: np.ndarray, sentence: str) -> None:
        if len(where):
            k = int(where[0])
            raise _wrong(
                path, body[rows[k]][0], sentence.format(vertex=rows[k] + 1, neighbor=columns[k] + 1)
            )

    at(
        np.flatnonzero((columns < 0) | (columns >= size)),
        "neighbor {neighbor} is none of the vertices 1 to " + str(size),
    )
    at(
        np.flatnonzero(rows == columns),
        "vertex {vertex} is its own neighbor, which METIS graphs do not have",
    )
    if values is not None:
        at(np.flatnonzero(values <= 0), "the weight of the edge to {neighbor} must be positive")
    there, back = rows * size + columns, columns * size + rows
    order, reverse = np.argsort(there, kind="stable"), np.argsort(back, kind="stable")
    at(
        order[1:][there[order][1:] == there[order][:-1]],
        "vertex {vertex} names neighbor {neighbor} twice",
    )
    if not np.array_equal(there[order], back[reverse]):
        at(
            np.flatnonzero(~np.isin(there, back)),
            "vertex {vertex} names neighbor {neighbor}, which does not name it",
        )
    if values is not None:
        at(
            order[values[order] != values[reverse]],
            "the weight of the edge to {neighbor} is not the one that {neighbor} gives",
        )


# Matrices -----------------------------------------------------------------------------------------


_LAYOUTS, _FIELDS = (
    ("coordinate", "array"),
    ("real", "double", "integer", "unsigned-integer", "complex", "pattern"),
)
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def matrix_market(
    path: str, text: bytes, *, real: bool = False, counts: bool = False, signed: bool = False
) -> Matrix:
    """The NIST's exchange format. (scipy's reader crashes on some files that are wrong, and passes
    over surplus words.) include/tonari/matrix/market.hpp reads the same files.

    real: complex matrices are rejected; counts: entries must be whole numbers that are not
    negative; signed: values as they are (of real matrices), not magnitudes.
    """
    layout, field, symmetry = _market_header(path, text)
    if real and field == "complex":
        raise _wrong(
            path, 1, "complex matrices are not taken here; expected real, integer or pattern"
        )
    if symmetry == "hermitian" and field != "complex":
        raise _wrong(path, 1, f"a {field} matrix is no hermitian one; expected is symmetric")
    if layout == "array" and field == "pattern":
        raise _wrong(path, 1, "a pattern has coordinates; expected is coordinate, not array")
    bare = re.sub(rb"%[^\r\n]*", b"", text)
    size, entries, body = _market_size(path, bare, layout)
    body = re.sub(rb"(?<=[\d.])[dD](?=[+-]?\d)", b"e", body)  # as Fortran writes exponents
    numbers = {"pattern": 0, "complex": 2}.get(field, 1) + (2 if layout == "coordinate" else 0)
    table = _numbers(
        path,
        body,
        np.float64,
        (numbers,),
        f"an entry is {numbers} number{'s' if numbers > 1 else ''} here",
    )
    if not np.isfinite(table).all():
        raise _wrong(
            path,
            _line_of(body, int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])),
            "an entry must be finite",
        )
    if symmetry != "general" and size[0] != size[1]:
        raise Error(f"{path} says that a matrix of {size[0]:,} x {size[1]:,} is {symmetry}", FILE)
    if layout == "array":
        entries = {
            "general": size[0] * size[1],
            "skew-symmetric": size[0] * (size[0] - 1) // 2,
        }.get(symmetry, size[0] * (size[0] + 1) // 2)
    if len(table) != entries:
        raise Error(
            f"{path} should have {entries:,} entries by its size, but has {len(table):,}", FILE
        )
    rows, columns = (
        _dense_places(size, symmetry) if layout == "array" else _places(path, body, table, size)
    )
    values = table if layout == "array" else table[:, 2:]
    if counts:
        _check_counts(path, body, values)
    if not values.shape[1]:
        values = np.ones((len(table), 1))
    kept = values[:, 0] if signed else np.sqrt((values**2).sum(axis=1))
    if symmetry != "general":
        off = rows != columns
        rows, columns = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
        kept = np.concatenate(
            [kept, -kept[off] if signed and symmetry == "skew-symmetric" else kept[off]]
        )
    keys, entry = np.unique(rows * size[1] + columns, return_inverse=True)
    total = np.bincount(entry, kept, len(keys))
    keys, total = (
        keys[total != 0],
        total[total != 0],
    )  # a zero says that nothing is sent, and adds nothing to a product
    return Matrix(size, keys // size[1], keys % size[1], total)


def _check_counts(path: str, body: bytes, values: np.ndarray) -> None:
    wrong = ((values < 0) | (values != np.floor(values)) | (values > MOST_WORDS)).any(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise _wrong(
            path,
            _line_of(body, row),
            f"an entry is a number of words, whole and from 0 to 2^53, not {values[row, 0]:.17g}",
        )


def _market_header(path: str, text: bytes) -> tuple[str, str, str]:
    words = text.split(b"\n", 1)[0].decode("latin1").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise _wrong(
            path, 1, "a Matrix Market file begins with: %%MatrixMarket matrix LAYOUT FIELD SYMMETRY"
        )
    for word, known in zip(words[2:], (_LAYOUTS, _FIELDS, _SYMMETRIES), strict=True):
        if word not in known:
            raise _wrong(path, 1, f"'{word[:40]}' should be one of {', '.join(known)}")
    return words[2], words[3], words[4]


def _market_size(path: str, bare: bytes, layout: str) -> tuple[tuple[int, int], int, bytes]:
    """Rows and columns, entries (of a sparse matrix), and the text with the line of sizes left
    empty."""
    number, words = next(_lines_with_words(bare), (1, []))
    expected = 3 if layout == "coordinate" else 2
    if len(words) != expected or not all(re.fullmatch(rb"\+?\d{1,17}", word) for word in words):
        raise _wrong(
            path,
            number,
            f"here should be rows, columns{' and entries' if expected == 3 else ''}: "
            f"{expected} numbers",
        )
    sizes = [int(word) for word in words]
    _check_size(path, max(sizes[:2]), sizes[2] if expected == 3 else sizes[0] * sizes[1])
    lines = bare.split(b"\n", number)
    return (
        (sizes[0], sizes[1]),
        sizes[-1],
        b"\n" * number + (lines[number] if len(lines) > number else b""),
    )


def _places(
    path: str, body: bytes, table: np.ndarray, size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    places = table[:, :2]
    wrong = ((places < 1) | (places > np.array(size)) | (places != np.floor(places))).any(axis=1)
    if wrong.any():
        raise _wrong(
            path,
            _line_of(body, int(np.argmax(wrong))),
            f"there is no such row or column in a matrix of {size[0]:,} x {size[1]:,}",
        )
    return places[:, 0].astype(np.int64) - 1, places[:, 1].astype(np.int64) - 1


def _dense_places(size: tuple[int, int], symmetry: str) -> tuple[np.ndarray, np.ndarray]:
    """Column by column; of symmetric ones from the diagonal down, of skew-symmetric ones from below
    it."""
    if symmetry == "general":
        columns, rows = np.divmod(np.arange(size[0] * size[1]), max(size[0], 1))
        return rows, columns
    columns, rows = np.triu_indices(size[0], 1 if symmetry == "skew-symmetric" else 0)
    return rows, columns


def _check_size(path: str, size: int, edges: int) -> None:
    """Before memory is asked for; rows may be more than ranks."""
    if size > MOST_ROWS or edges > MOST_ENTRIES:
        raise Error(
            f"{path} claims {size:,} rows and {edges:,} entries, which is too much for this "
            "command",
            FILE,
        )


# Partitions ---------------------------------------------------------------------------------------


def partition(path: str, text: bytes, size: int, parts: int | None) -> np.ndarray:
    """A part number, from 0, for each of `size` columns, one per line: what METIS, KaHyPar and
    others write. parts: how many there are; None: as the file says."""
    bare = re.sub(rb"[#%][^\r\n]*", b"", text)
    found = _numbers(path, bare, np.int64, (1,), "a line is one part number")[:, 0]
    if len(found) != size:
        raise Error(
            f"{path} has {len(found):,} part numbers, but the matrix has {size:,} columns; "
            "expected one line for each",
            FILE,
        )
    wrong = (found < 0) | (found >= (parts or MOST_ROWS))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise _wrong(
            path,
            _line_of(bare, row),
            f"part {found[row]} is none of 0 to {(parts or MOST_ROWS) - 1}",
        )
    return found
