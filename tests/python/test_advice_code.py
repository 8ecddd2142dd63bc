# SPDX-License-Identifier: BSD-3-Clause
"""The code that `tonari advise` prints compiles as it stands, and exchanges what was observed."""

from __future__ import annotations

import copy
import os
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import built
import pytest
from advised import MPIS, each_mpi, needs_build, records
from tonari.advice.exchanges import read
from tonari.advice.rows import rows as rows_of
from tonari.benchmark.launch import ANY_RANKS

PROGRAM = """
#include <stdio.h>
#include <string.h>
#include <tonari/tonari.h>
static char sendbuf[1 << 20], recvbuf[1 << 20];
int main(void) {
  int me, from = 0, to = 0;
  static int sources_seen[64], destinations_seen[64];
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(comm, &me);
  memset(sendbuf, me + 1, sizeof(sendbuf));
#define START
%s
  tonari_neighborhood_degrees(near, &from, &to);
  tonari_neighborhood_ranks(near, destinations_seen, sources_seen);
  for (int k = 0; k < to; ++k) printf("%%d to %%d\\n", me, destinations_seen[k]);
  for (int k = 0; k < from; ++k) {
    const long place = %s, bytes = %s;
    const char* said = "right";
    for (long e = place; e < place + bytes; ++e)
      if (recvbuf[e] != sources_seen[k] + 1) said = "wrong";
    printf("%%d from %%d: %%ld bytes, %%s\\n", me, sources_seen[k], bytes, said);
  }
  tonari_request_free(&halo);
  tonari_neighborhood_free(&near);
  MPI_Finalize();
  return 0;
}
"""


def run_code(row: dict[str, Any], mpi: str, ranks: int, folder: Path) -> list[str]:
    """Compiles the lines of a row as they are, runs them, and returns what each rank says."""
    fixed = "recvdispls" not in row["code"]
    bytes_ = str(row["most_bytes"])
    placed = (f"k * {bytes_}L", bytes_) if fixed else ("recvdispls[k]", "recvcounts[k]")
    source = folder / "code.c"
    source.write_text(PROGRAM % (row["code"], *placed))
    how = MPIS[mpi]
    library = Path(how["bin"]).parent / "lib"
    headers = Path(__file__).resolve().parents[2] / "include"
    link = [f"-I{headers}", f"-L{library}", "-ltonari", f"-Wl,-rpath,{library}"]
    flags = ["-std=c99", "-Wall", "-Werror=implicit", "-o", folder / "code"]
    command = [built.c_compiler(how), *flags, source, *link]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, row["code"] + done.stderr
    launch = [how["mpiexec"], "-n", str(ranks), str(folder / "code")]
    environment = os.environ | ANY_RANKS
    done = subprocess.run(launch, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "wrong" not in done.stdout
    return sorted(done.stdout.splitlines())


@needs_build
@each_mpi
@pytest.mark.parametrize(
    ("messages", "function", "ranks", "said"),
    [
        ([[0, 1, 1, 8], [0, 1, 1, 8], [0, 0, 1, 8], [0, 0, 1, 8]], "create_cart", 2, 8 * [8]),
        (
            [[0, 1, 1, 8], [0, 1, 1, 24], [0, 0, 1, 64], [0, 0, 1, 64]],
            "create_adjacent",
            2,
            4 * [0],
        ),
        ([[0, 1, 1, 8], [0, 1, 1, 24], [0, 0, -1, 64], [0, 0, -1, 64]], "create_from", 2, 4 * [0]),
    ],
)
def test_code_runs(
    messages: Any, function: str, ranks: int, said: list[int], mpi: str, tmp_path: Path
) -> None:
    told = records(10.0, messages=messages)
    back = [[place, out, 0 if peer == 1 else peer, size] for place, out, peer, size in messages]
    told[3]["patterns"][0]["messages"] = back
    [row] = rows_of(read(told))
    assert f"tonari_neighborhood_{function}" in row["code"]
    lines = run_code(row, mpi, 2, tmp_path)
    sizes = sorted(size for _, out, _, size in messages if out)
    expected = [f"{a} from {1 - a}: {size} bytes, right" for a in (0, 1) for size in sizes]
    assert sorted(line for line in lines if "from" in line) == sorted(expected)
    assert [line for line in lines if " to " in line] == 2 * ["0 to 1"] + 2 * ["1 to 0"]


@needs_build
@each_mpi
def test_code_of_a_grid_runs(mpi: str, tmp_path: Path) -> None:
    """Moore neighbors on a periodic 3x3 grid of ranks, with the rank that each offset leads to."""

    def near(rank: int) -> list[int]:
        steps = [step for step in product((-1, 0, 1), repeat=2) if any(step)]
        return [(rank // 3 + a) % 3 * 3 + (rank % 3 + b) % 3 for a, b in steps]

    first, loop = records(10.0)[:2]
    told = []
    for rank in range(9):
        copied = copy.deepcopy(loop)
        sent = [[0, 1, peer, 40] for peer in near(rank)]
        copied["patterns"][0]["messages"] = sent + [[0, 0, peer, 40] for peer in near(rank)]
        told += [first | {"rank": rank, "ranks": 9}, copied]
    [row] = rows_of(read(told))
    assert "/* from rank 4 to rank 0 */" in row["code"]
    lines = run_code(row, mpi, 9, tmp_path)
    expected = [f"{rank} from {peer}: 40 bytes, right" for rank in range(9) for peer in near(rank)]
    assert sorted(line for line in lines if "from" in line) == sorted(expected)


@needs_build
def test_code_without_tables(tmp_path: Path) -> None:
    """What hundreds of messages would fill is the program's own."""
    graph = [[0, 1, 1, 8 + k] for k in range(200)] + [[0, 0, 1, 64] for _ in range(200)]
    told = records(10.0, messages=graph)
    told[3]["patterns"][0]["messages"] = [[place, out, 0, size] for place, out, _, size in graph]
    [row] = rows_of(read(told))
    assert "the program's own numbers and lists of ranks replace these" in row["code"]
    assert len(row["code"].splitlines()) < 60
