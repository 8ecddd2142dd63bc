# SPDX-License-Identifier: BSD-3-Clause
"""The example cg: iterations and residuals as those of SciPy (or of the same method written here)
on a matrix made here, and what it says about files that are wrong."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from built import marks
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

MPIS, needed, each_mpi = marks("cg")
pytestmark = needed
ROWS, COLUMNS = 14, 12


def poisson() -> np.ndarray:
    """-div(a grad u) on a grid, a varying by a factor of 100, as a dense matrix: symmetric and
    positive definite."""
    random = np.random.default_rng(4)
    number = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    matrix = np.zeros((number.size, number.size))
    for a, b in ((number[:-1], number[1:]), (number[:, :-1], number[:, 1:])):
        a, b = a.ravel(), b.ravel()
        weight = 10 ** random.uniform(-1, 1, len(a))
        matrix[a, b] -= weight
        matrix[b, a] -= weight
        np.add.at(matrix, (a, a), weight)
        np.add.at(matrix, (b, b), weight)
    return matrix + np.diag(np.where(random.random(number.size) < 0.1, 1.0, 0.0))


def write(folder: Path, matrix: np.ndarray, ranges: list[int], b: np.ndarray | None = None) -> Path:
    folder.mkdir()
    rows, columns = np.nonzero(matrix)
    begin = np.searchsorted(rows, np.arange(len(matrix) + 1))
    files = {"row_begin": begin, "columns": columns, "ranges": np.array(ranges)}
    files = {name: array.astype(np.int64) for name, array in files.items()}
    for name, array in (files | {"values": matrix[rows, columns], "b": b}).items():
        if array is not None:
            np.save(folder / f"{name}.npy", array)
    return folder


def run(mpi: str, ranks: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(MPIS[mpi]["bin"]) / "cg")
    command = [MPIS[mpi]["mpiexec"], "-n", str(ranks), program, *arguments]
    settings = {"OMPI_MCA_mpi_yield_when_idle": "1", "TONARI_TUNE": "off"}
    environment = ANY_RANKS | dict(os.environ) | settings
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )


def residuals_of(text: str) -> np.ndarray:
    found = re.findall(r"^iteration +\d+  residual (\S+)$", text, re.M)
    return np.array([float(value) for value in found])


def reference(matrix: np.ndarray, b: np.ndarray, jacobi: bool) -> np.ndarray:
    """Norms of the residuals before the first and after each iteration: SciPy's if it is there,
    else those of the textbook's method."""
    inverse = 1 / matrix.diagonal() if jacobi else np.ones(len(b))
    try:
        from scipy.sparse.linalg import cg
    except ImportError:
        return textbook(matrix, b, inverse)
    history = [np.linalg.norm(b)]
    keep = lambda x: history.append(np.linalg.norm(b - matrix @ x))  # noqa: E731
    try:
        cg(matrix, b, rtol=1e-8, atol=0, M=np.diag(inverse), callback=keep)
    except TypeError:  # before SciPy 1.12
        cg(matrix, b, tol=1e-8, atol=0, M=np.diag(inverse), callback=keep)
    return np.array(history)


def textbook(matrix: np.ndarray, b: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    r = b.copy()
    p = z = inverse * r
    history = [np.linalg.norm(r)]
    while history[-1] > 1e-8 * np.linalg.norm(b):
        q = matrix @ p
        rho = r @ z
        r = r - rho / (p @ q) * q
        z = inverse * r
        p = z + r @ z / rho * p
        history.append(np.linalg.norm(r))
    return np.array(history)


@each_mpi
def test_iterations_and_residuals(mpi: str, tmp_path: Path) -> None:
    matrix = poisson()
    n = len(matrix)
    b = np.random.default_rng(1).standard_normal(n)
    cases = [
        (1, [0, n], None, ()),
        (3, [0, 50, 51, n], b, ("--jacobi",)),
        (4, [0, 60, 60, 100, n], None, ("--columns", "--route", "store-and-forward/2")),
        (4, [0, 40, 80, 120, n], b, ("--jacobi", "--columns")),
    ]
    for number, (ranks, ranges, given, options) in enumerate(cases):
        folder = write(tmp_path / str(number), matrix, ranges, given)
        done = run(mpi, ranks, str(folder), *options)
        assert done.returncode == 0, done.stdout + done.stderr
        solved = matrix @ (1.0 + np.arange(n) % 10) if given is None else given
        wanted = reference(matrix, solved, "--jacobi" in options)
        got = residuals_of(done.stdout)
        assert abs(len(got) - len(wanted)) <= 1 and len(got) > 21, options
        np.testing.assert_allclose(got[:21], wanted[:21], rtol=1e-6, err_msg=str(options))
        assert "\nconverged after" in done.stdout
        error = re.search(r"largest error (\S+)", done.stdout)
        assert (error is None) == (given is not None)
        if error:
            assert float(error[1]) < 1e-5


def test_a_matrix_market_file_on_any_ranks(tmp_path: Path) -> None:
    mpi = next(iter(MPIS))
    matrix = poisson()
    rows, columns = np.nonzero(np.tril(matrix))
    entries = (
        f"{i + 1} {j + 1} {float(matrix[i, j])!r}\n" for i, j in zip(rows, columns, strict=True)
    )
    file = tmp_path / "poisson.mtx"
    size = f"{len(matrix)} {len(matrix)} {len(rows)}"
    head = f"%%MatrixMarket matrix coordinate real symmetric\n{size}\n"
    file.write_text(head + "".join(entries))
    wanted = reference(matrix, matrix @ (1.0 + np.arange(len(matrix)) % 10), False)
    for ranks in (1, 3):
        done = run(mpi, ranks, str(file))
        assert done.returncode == 0, done.stdout + done.stderr
        np.testing.assert_allclose(residuals_of(done.stdout)[:21], wanted[:21], rtol=1e-6)


def test_files_that_are_wrong(tmp_path: Path) -> None:
    mpi = next(iter(MPIS))
    matrix = poisson()
    n = len(matrix)

    def refused(name: str, ranks: int, spoil, *words: str) -> None:  # noqa: ANN001
        folder = write(tmp_path / name, matrix, [0, 100, n])
        spoil(folder)
        done = run(mpi, ranks, str(folder))
        assert done.returncode != 0
        assert all(word in done.stderr for word in words), done.stderr
        assert done.stderr.count("cg: ") == 1  # said once, though all ranks know

    def cut(folder: Path) -> None:
        file = folder / "columns.npy"
        file.write_bytes(file.read_bytes()[:-12])

    def replace(name: str, at: int, value: float):  # noqa: ANN202
        def spoil(folder: Path) -> None:
            array = np.load(folder / f"{name}.npy")
            array[at] = value
            np.save(folder / f"{name}.npy", array)

        return spoil

    entries = np.count_nonzero(matrix)
    refused("cut", 2, cut, "columns.npy", f"promises {entries} values")
    gone = lambda folder: (folder / "values.npy").unlink()  # noqa: E731
    refused("gone", 2, gone, "values.npy", "cannot be read", "tonari partition")
    last, wrong = entries - 1, (f"entry {entries - 1} is column {n}", f"0 to {n - 1}")
    refused("column", 2, replace("columns", last, n), "columns.npy", *wrong)
    nan = replace("values", entries - 3, np.nan)
    refused("nan", 2, nan, "values.npy", f"entry {entries - 3}", "finite")
    refused("begin", 2, replace("row_begin", n - 1, 0), "row_begin.npy", "rows 100 to", "ascending")
    end = replace("row_begin", n, entries + 1)
    refused("end", 2, end, "columns.npy", f"expected are {entries + 1}")
    single = lambda folder: np.save(folder / "values.npy", np.ones(entries, "f4"))  # noqa: E731
    refused("type", 2, single, "values.npy", "<f8")
    parts = ("ranks (3)", "as many ranks as the matrix has parts")
    refused("parts", 3, lambda folder: None, "ranges.npy", *parts)
    refused("ranges", 2, replace("ranges", 2, n - 1), "ranges.npy", f"0 to {n}")
    longer = lambda folder: np.save(folder / "b.npy", np.ones(n + 1))  # noqa: E731
    refused("b", 2, longer, "b.npy", f"expected are {n}")
    text = lambda folder: (folder / "ranges.npy").write_text("0 100 " * 20)  # noqa: E731
    refused("text", 2, text, "ranges.npy", "no .npy file")
