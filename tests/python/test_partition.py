# SPDX-License-Identifier: BSD-3-Clause
"""tonari partition: the files against products and a search by hand, other values, parts from a
partitioner, a file or blocks, and what is wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from command_line import call, printed, refused
from tonari.graph_files import Matrix
from tonari.partitioned import (
    NAMES,
    equal_blocks,
    laplacian,
    owners_of,
    permuted,
    read,
    read_for_products,
    write,
)

from tonari import Error

HEADER = "%%MatrixMarket matrix coordinate {} {}\n"
ONE_ENTRY, NO_COMPLEX = "real general\n2 2 1\n1 1 1", "complex matrices are not taken here"


def market(path: Path, size, entries, field="real", symmetry="general") -> str:
    lines = "".join(
        " ".join(map(str, (row + 1, column + 1, *value))) + "\n" for row, column, *value in entries
    )
    text = (HEADER.format(field, symmetry) + f"{size} {size} {len(entries)}\n" + lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)


def random_entries(size: int, seed: int, lower: bool = False) -> list[tuple[int, int, float]]:
    random = np.random.default_rng(seed)
    places = {(int(a), int(b)) for a, b in random.integers(0, size, (4 * size, 2))}
    return [
        (a, b, float(random.integers(-9, 10))) for a, b in sorted(places) if not lower or a >= b
    ]


def dense(size: int, entries, mirror: float = 0) -> np.ndarray:
    a = np.zeros((size, size))
    for row, column, value in entries:
        a[row, column] += value
        if mirror and row != column:
            a[column, row] += mirror * value
    return a


def product(made, x: np.ndarray) -> np.ndarray:
    """A x from the files, row by row."""
    rows = zip(made.row_begin, made.row_begin[1:])
    return np.array([made.values[a:b] @ x[made.columns[a:b]] for a, b in rows])


def run(arguments: str) -> str:
    return printed(call(f"partition {arguments}"))


@pytest.mark.parametrize(
    ("name", "symmetry", "mirror"),
    [("a.mtx", "general", 0), ("a.mtx.gz", "symmetric", 1), ("a.mtx", "skew-symmetric", -1)],
)
def test_products_of_the_files_are_those_of_the_matrix(name, symmetry, mirror, tmp_path) -> None:
    size, parts = 60, 7
    entries = random_entries(size, 5, lower=symmetry != "general")
    entries = [e for e in entries if symmetry != "skew-symmetric" or e[0] != e[1]]
    random = np.random.default_rng(2)
    owners = random.integers(0, parts - 1, size)
    owners[owners == 3] = 6  # a part without rows
    (tmp_path / "owners").write_text("".join(f"{part}\n" for part in owners))
    path = market(tmp_path / name, size, entries, symmetry=symmetry)
    run(f"{path} --parts {parts} --partition {tmp_path}/owners --output {tmp_path}/out")
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {f"{name}.npy" for name in NAMES}
    made = read(tmp_path / "out")
    assert (made.parts, made.size) == (parts, size)
    assert sorted(made.permutation) == list(range(size))
    assert np.array_equal(owners[made.permutation], made.owners())
    for begin, end in zip(made.row_begin, made.row_begin[1:]):
        assert (np.diff(made.columns[begin:end]) > 0).all()
    x = random.standard_normal(size)
    expected = (dense(size, entries, mirror) @ x)[made.permutation]
    assert np.allclose(product(made, x[made.permutation]), expected)


def test_duplicates_add_up_with_their_signs_and_what_is_zero_is_left_out(tmp_path) -> None:
    entries = [(0, 0, -2), (1, 2, 5), (1, 2, -7), (2, 1, 4), (2, 1, -4), (2, 2, 0)]
    path = market(tmp_path / "a.mtx", 3, entries, field="integer")
    run(f"{path} --parts 3 --blocks --output {tmp_path}/out")
    made = read(tmp_path / "out")
    expected = ([0, 1, 2, 2], [0, 2], [-2, -2])
    assert (made.row_begin.tolist(), made.columns.tolist(), made.values.tolist()) == expected
    expected = [np.int64, np.int64, np.float64, np.int64, np.int64]
    assert [getattr(made, name).dtype for name in NAMES] == expected


def test_patterns_have_ones_and_a_laplacian_is_positive_definite(tmp_path) -> None:
    size = 40
    entries = [(a, b) for a, b, _ in random_entries(size, 8, lower=True)]
    path = market(tmp_path / "a.mtx", size, entries, field="pattern", symmetry="symmetric")
    run(f"{path} --parts 3 --blocks --output {tmp_path}/ones")
    assert set(read(tmp_path / "ones").values) == {1.0}
    run(f"{path} --parts 3 --blocks --laplacian --output {tmp_path}/laplacian")
    made = read(tmp_path / "laplacian")
    a = np.zeros((size, size))
    m = made.matrix()
    a[m.rows, m.columns] = m.values
    assert np.array_equal(a, a.T) and np.allclose(a.sum(axis=1), 1)
    assert np.linalg.eigvalsh(a).min() >= 1 - 1e-12
    with pytest.raises(Error, match=r"--laplacian needs a matrix whose places are symmetric"):
        laplacian(Matrix((2, 2), np.array([0]), np.array([1]), None), "a.mtx")


def test_blocks_are_equal() -> None:
    for size, parts in ((10, 3), (7, 7), (100, 1)):
        owners = equal_blocks(size, parts)
        assert (np.diff(owners) >= 0).all() and len(set(owners)) == parts
        assert np.ptp(np.bincount(owners, minlength=parts)) <= 1


def test_the_partitioner_cuts_fewer_words_than_blocks_of_shuffled_rows(tmp_path) -> None:
    """A ring whose rows are shuffled: two words between any two neighbors in it where it is cut
    well."""
    pytest.importorskip("mtkahypar")
    size, place = 64, np.random.default_rng(4).permutation(64)
    ring = [(int(place[i]), int(place[j]), 1) for i in range(size) for j in (i, (i + 1) % size)]
    path = market(tmp_path / "ring.mtx", size, ring)
    words = []
    for how in ("", "--blocks"):
        (row,) = json.loads(run(f"{path} --parts 4 {how} --output {tmp_path}/out --json"))
        assert (row["parts"], row["rows"]) == (4, size)
        assert 15 <= row["least_rows"] <= row["most_rows"] <= 17
        words.append(row["words"])
    # Every x_j is needed on one other row, and once by another rank.
    assert words[0] == 4 < words[1] / 5


def test_files_appear_complete_or_not_at_all(tmp_path, monkeypatch) -> None:
    matrix = read_for_products(market(tmp_path / "a.mtx", 4, [(0, 1, 1), (3, 2, 1)]))
    made = permuted(matrix, *owners_of(matrix, "a.mtx", 2, blocks=True))
    save = np.save

    def full(path, values):
        if "values" in str(path):
            raise OSError(28, "No space left on device")
        save(path, values)

    monkeypatch.setattr(np, "save", full)
    refusal = r"cannot write the files of the matrix into .*out: no space left on device"
    with pytest.raises(Error, match=refusal):
        write(made, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("complex general\n2 2 1\n1 1 1 0", "--parts 2", f"line 1: {NO_COMPLEX}"),
        ("real general\n2 3 1\n1 1 1", "--parts 2", "is a matrix of 2 x 3; expected a square one"),
        ("real general\n2 2 1\n1 1 nan", "--parts 2", "line 3: an entry must be finite"),
        (ONE_ENTRY, "--parts 3", "has 2 rows, which are too few for 3 parts"),
        (ONE_ENTRY, "", "say how many ranks there are: --parts P"),
        (
            "real general\n2 2 1\n1 2 1",
            "--parts 2 --blocks --laplacian",
            "--laplacian needs a matrix whose places are symmetric",
        ),
        (ONE_ENTRY, "--partition {part} --parts 2", "has 3 part numbers"),
        (ONE_ENTRY, "--partition {part} --blocks", "give one of them"),
    ],
)
def test_mistakes_get_one_sentence(text, options, sentence, tmp_path) -> None:
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate " + text + "\n")
    (tmp_path / "part").write_text("0\n1\n1\n")
    options = options.format(part=tmp_path / "part")
    refused(call(f"partition {path} --output {tmp_path}/out {options}"), sentence)
    assert not (tmp_path / "out").exists()


def test_folders_that_cannot_be(tmp_path) -> None:
    path = market(tmp_path / "a.mtx", 2, [(0, 0, 1)])
    (tmp_path / "file").touch()
    done = call(f"partition {path} --parts 1 --blocks --output {tmp_path}/file")
    refused(done, "cannot write the files of the matrix into")


def test_files_that_do_not_go_together_are_not_read(tmp_path) -> None:
    path = market(tmp_path / "a.mtx", 3, [(0, 1, 1), (2, 2, 1)])
    run(f"{path} --parts 2 --blocks --output {tmp_path}/out")
    wrong = {"ranges": [0, 2, 4], "row_begin": [0, 1, 0, 2], "columns": [1, 3], "values": [1, 2]}
    for name, values in wrong.items():
        path = tmp_path / "out" / f"{name}.npy"
        before = path.read_bytes()
        np.save(path, np.array(values))
        with pytest.raises(Error, match=r"out"):
            read(tmp_path / "out")
        path.write_bytes(before)
    path.write_bytes(b"")
    with pytest.raises(Error, match=r"values.npy cannot be read .*tonari partition"):
        read(tmp_path / "out")
