# SPDX-License-Identifier: BSD-3-Clause
"""What the starts of a request find out outlives a program that frees no request."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_docs import compile_program, launch, mpi

__all__ = ["mpi"]  # a fixture

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <tonari/tonari.h>

/* Every start takes a microsecond: what varies much is not remembered. */
static double begun;
static int looks;
double MPI_Wtime(void) { return begun + (looks++ ? 1e-6 : 0); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  static double out[20000], in[20000];
  tonari_neighborhood near;
  tonari_request ring;
  if (tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to,
                                          MPI_UNWEIGHTED, MPI_INFO_NULL, &near) ||
      tonari_alltoall_init(out, 20000, MPI_DOUBLE, in, 20000, MPI_DOUBLE, near, MPI_INFO_NULL,
                           &ring))
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int k = 0; k < 330; ++k) {
    begun += 1, looks = 0;
    tonari_start(ring);
    tonari_wait(ring);
  }
  if (rank == 0) printf("%s", tonari_request_describe(ring));
  return MPI_Finalize();
}
"""


def test_decisions_are_written_without_a_free(
    mpi: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TONARI_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "unfreed.c"
    source.write_text(PROGRAM, encoding="utf-8")
    program = compile_program(mpi, source)
    said = launch(mpi, 2, program)
    assert "(online)" in said
    assert "tuned online in" in said
    assert "\nremembered: " in launch(mpi, 2, program)
