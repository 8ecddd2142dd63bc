# SPDX-License-Identifier: BSD-3-Clause
"""What measures programs that are not ours: the exchange that it builds into HPCG is right, by a
matrix with the members that HPCG's has. And how it writes what it found."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import built
import pytest
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools/real_programs"))

import measure
import petsc_rows

LIBRARY = "../lib/libtonari_advise.so"
MPIS = {mpi: how for mpi, how in built.with_program(LIBRARY).items() if mpi != "abi"}
needs_build = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")

HEADER = """
#pragma once
typedef int local_int_t;
struct SparseMatrix {
  local_int_t localNumberOfRows, totalToBeSent;
  int numberOfSendNeighbors;
  local_int_t *elementsToSend, *receiveLength, *sendLength;
  int* neighbors;
  double* sendBuffer;
};
struct Vector {
  double* values;
};
void ExchangeHalo(const SparseMatrix& A, Vector& x);
"""

# Two levels, of which each rank sends to up to three others; two vectors on each of them.
PROGRAM = """
#include <mpi.h>
#include <vector>
#include "ExchangeHalo.hpp"
static int rank, ranks;
static int length(int from, int to, int level) { return 1 + (from + 2 * to + level) % 4; }
static int element(int to, int k) { return (3 * k + to) % 8; }
static double value(int of, int row, int level, int vector, int round) {
  return of * 1e4 + row * 1e3 + level * 100 + vector * 10 + round;
}
struct Level {
  std::vector<int> near, out, in, elements;
  std::vector<double> buffer;
  SparseMatrix A;
  explicit Level(int level) {
    for (int step = -2; step <= 1; ++step) {
      const int to = (rank + step + ranks) % ranks;
      bool known = to == rank || step + ranks < 0;
      for (int one : near) known |= one == to;
      // Both ways, or HPCG's matrix would not be symmetric.
      if (!known && (step * step == 1 || ranks < 5)) near.push_back(to);
    }
    for (int to : near) {
      out.push_back(length(rank, to, level)), in.push_back(length(to, rank, level));
      for (int k = 0; k < out.back(); ++k) elements.push_back(element(to, k));
    }
    buffer.resize(elements.size());
    A = {8, (int)elements.size(), (int)near.size(), elements.data(), in.data(), out.data(),
         near.data(), buffer.data()};
  }
};
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Level levels[] = {Level(0), Level(1)};
  std::vector<double> memory[2][2];
  int wrong = 0;
  for (int round = 0; round < 20; ++round)
    for (int level = 0; level < 2; ++level)
      for (int vector = 0; vector < 2; ++vector) {
        std::vector<double>& x = memory[level][vector];
        x.resize(8 + 4 * 8);
        for (int row = 0; row < 8; ++row) x[row] = value(rank, row, level, vector, round);
        for (size_t ghost = 8; ghost < x.size(); ++ghost) x[ghost] = -1;
        Vector as_hpcg_has_it{x.data()};
        ExchangeHalo(levels[level].A, as_hpcg_has_it);
        size_t ghost = 8;
        for (int from : levels[level].near)
          for (int k = 0; k < length(from, rank, level); ++k)
            wrong += x[ghost++] != value(from, element(rank, k), level, vector, round);
        for (; ghost < x.size(); ++ghost) wrong += x[ghost] != -1;
      }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong != 0;
}
"""


@needs_build
@pytest.mark.parametrize(
    "mpi", [built.more(mpi) if number else mpi for number, mpi in enumerate(MPIS)] or ["none"]
)
def test_the_exchange_of_hpcg_fills_ghosts(mpi: str, tmp_path: Path) -> None:
    (tmp_path / "ExchangeHalo.hpp").write_text(HEADER)
    (tmp_path / "main.cpp").write_text(PROGRAM)
    how = MPIS[mpi]
    library = Path(how["bin"]).parent / "lib"
    ours = SOURCE / "tools/real_programs/hpcg_exchange.cpp"
    link = [f"-L{library}", "-ltonari", f"-Wl,-rpath,{library}"]
    flags = ["-std=c++17", "-O1", f"-I{tmp_path}", f"-I{SOURCE / 'include'}"]
    words = [f"mpicxx.{mpi}", *flags, tmp_path / "main.cpp", ours, "-o", tmp_path / "p", *link]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for ranks in (1, 2, 3, 5):
        launch = [how["mpiexec"], "-n", str(ranks), str(tmp_path / "p")]
        environment = os.environ | ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"}
        done = subprocess.run(launch, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, (ranks, done.stderr)


def test_rows_have_the_median_and_the_range() -> None:
    options = argparse.Namespace(mpi="mpich", ranks=4, runs=3)
    found = measure.row(options, "HPCG", "GFLOP/s", measure.numbers([3, 1, 2], 2), "-")
    assert list(found) == list(measure.COLUMNS)
    assert found["by the MPI"] == "2.00 (1.00 to 3.00)" and found["ranks"] == "4"


def test_a_run_without_valid_results_is_an_error(tmp_path: Path, monkeypatch: Any) -> None:
    def report(words: Any, folder: Path, **_: str) -> str:
        verdict = "VALID" if "good" in words else "INVALID"
        (folder / "HPCG-Benchmark.txt").write_text(
            f"Final Summary::HPCG result is {verdict} with a GFLOP/s rating of=0.25\n"
        )
        return ""

    monkeypatch.setattr(measure, "said", report)
    assert measure.run_hpcg("good", "mpich", 4, 16, 1) == 0.25
    with pytest.raises(SystemExit, match="did not solve"):
        measure.run_hpcg("bad", "mpich", 4, 16, 1)


def test_rows_of_petsc_have_the_range_of_all_runs(tmp_path: Path, monkeypatch: Any) -> None:
    """Types in turn, every second time in reverse; later runs know what the first one found."""
    asked: list[tuple[str, Path]] = []

    def scatters(words: Any, folder: Path, **variables: str) -> str:
        assert variables["TONARI_CACHE_DIR"] == str(folder)
        asked.append((words[-1], folder))
        lines = ["Setting up 3 grids"]
        for k, kind in enumerate(words[-1].split(",")):
            lines += [f"product {kind} {10 * len(asked) + k}.04", f"multigrid {kind} 7.00"]
        return "\n".join(lines)

    monkeypatch.setattr(petsc_rows, "said", scatters)
    monkeypatch.setattr(petsc_rows, "compiled", lambda *_: tmp_path / "petsc_scatters")
    rows = petsc_rows.measured(petsc_rows.parsed([]), 2, tmp_path)
    forward, backward = (",".join(petsc_rows.TYPES[::step]) for step in (1, -1))
    assert [kinds for kinds, _ in asked] == [forward, backward, forward]
    caches = [folder for _, folder in asked]
    assert caches[0] == caches[2] != caches[1]
    assert [row["exchange"] for row in rows] == ["product", "multigrid"]
    assert list(rows[0]) == list(petsc_rows.COLUMNS) and rows[0]["ranks"] == "2"
    assert rows[0]["basic, us"] == "10.0 to 30.0" and rows[0]["tonari, us"] == "12.0 to 32.0"
    assert rows[1]["neighbor, us"] == "7.0 to 7.0"


def test_of_dolfinx_the_solve_is_a_row(tmp_path: Path, monkeypatch: Any) -> None:
    def poisson(words: Any, folder: Path, **variables: str) -> str:
        assert "-dll_prepend" in variables["PETSC_OPTIONS"]
        return "".join(f"solve {kind} {k}.5\n" for k, kind in enumerate(words[-1].split(",")))

    monkeypatch.setattr(petsc_rows, "said", poisson)
    job = petsc_rows.Job("DOLFINx", ["python3", "poisson.py"])
    found = petsc_rows.run(petsc_rows.parsed([]), 2, job, petsc_rows.TYPES, tmp_path)
    assert found == {"DOLFINx/solve": {"basic": 0.5, "neighbor": 1.5, "tonari": 2.5}}
