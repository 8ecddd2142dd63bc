# SPDX-License-Identifier: BSD-3-Clause
"""A program that runs with another MPI than the one its libtonari was built for: each call returns
an error with one clear sentence, before it looks at any handle of the other MPI."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import built
import pytest
from built import more
from command_line import PATIENCE
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
MPIS: dict[str, dict[str, Any]] = built.with_program("tonari_peers")
# Libraries for the standard ABI are those of `make test-all`.
PAIRS = [
    more(one, other) if "abi" in (one, other) else (one, other)
    for one in MPIS
    for other in MPIS
    if one != other
]
NAMES = {
    "openmpi": "Open MPI",
    "mpich": "MPICH or a relative of it",
    "abi": "the standard ABI of MPI 5",
}
RUNNING = {
    "openmpi": r"Open MPI v\d\S*",
    "mpich": r"MPICH Version: \d\S*",
    "abi": r"MPICH Version: \d\S*, by the standard ABI of MPI 5",
}
pytestmark = pytest.mark.skipif(len(MPIS) < 2, reason="needs a build for two MPIs (TONARI_BUILD)")

# Each call that begins without a handle of tonari, and then the call that a program would make next
# whatever the first one returned. Handles of the other MPI are pointers where these are integers.
PROGRAM = """\
#include <stdio.h>
#include <tonari/blocks.h>
#include <tonari/grid.h>
#include <tonari/group.h>
#include <tonari/iso.h>
#include <tonari/sparse.h>
#include <tonari/vector.h>
#define TELL(call) printf(#call " %d: %s\\n", call, tonari_last_error())
int main(int argc, char** argv) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Info info = MPI_INFO_NULL;
  int offset[] = {1}, ranks[] = {0}, value = 0;
  MPI_Comm isocomm = world;
  tonari_neighborhood near;
  tonari_request request;
  tonari_grid grid;
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  tonari_blocks blocks;
  tonari_blocks_shape boxes = TONARI_BLOCKS_SHAPE_INIT;
  tonari_vector vector;
  tonari_messages messages;
  int64_t number;
  MPI_Init(&argc, &argv);
  int rank; /* a file for each: what two ranks write to one pipe mixes beyond 4 KiB */
  char file[4096];
  MPI_Comm_rank(world, &rank);
  snprintf(file, sizeof file, "%s.%d", argv[1], rank);
  if (!freopen(file, "w", stdout)) return 1;
  TELL(tonari_neighborhood_create_cart(world, 1, offset, info, &near));
  TELL(tonari_neighborhood_create_adjacent(world, 1, ranks, 0, 1, ranks, 0, info, &near));
  TELL(tonari_neighborhood_create_from_destinations(world, 1, ranks, info, &near));
  TELL(tonari_neighborhood_create_from_comm(world, info, &near));
  TELL(Iso_neighborhood_create(world, 1, offset, &isocomm));
  TELL(Iso_neighborhood_create_with_info(world, 1, offset, info, &isocomm));
  TELL(Iso_neighbor_alltoall_init(&value, 1, MPI_INT, &value, 1, MPI_INT, isocomm, &request));
  TELL(Iso_neighbor_alltoall_direct_init(&value, 1, MPI_INT, &value, 1, MPI_INT, isocomm,
                                         &request));
  TELL(tonari_alltoall_inplace(&value, 1, MPI_INT, world, info));
  TELL(tonari_alltoall_inplace_init(&value, 1, MPI_INT, world, info, &request));
  TELL(tonari_ialltoall_inplace(&value, 1, MPI_INT, world, info, &request));
  TELL(tonari_sparse_alltoallv(0, 0, 0, 0, MPI_INT, 0, world, info, &messages));
  TELL(tonari_sparse_ialltoallv(0, 0, 0, 0, MPI_INT, 0, world, info, &messages, &request));
  TELL(tonari_group_start(world));
  TELL(tonari_grid_create(world, &shape, 0, info, &grid));
  TELL(tonari_grid_shape_cells(world, &shape, 0, &number, &number, &number));
  TELL(tonari_blocks_create(world, &boxes, info, &blocks));
  TELL(tonari_vector_create(world, 0, 0, 0, 0, info, &vector));
  TELL(tonari_vector_create_from_neighbors(world, 0, 0, 0, 0, 0, 0, 0, 0, 0, info, &vector));
  TELL(tonari_vector_create_from_ids(world, 0, 0, 0, 0, 0, 0, info, &vector));
  TELL(tonari_vector_create_shared(world, 0, 0, 0, info, &vector));
  TELL(tonari_vector_create_box_nodes(world, 0, info, &vector));
  TELL(tonari_vector_create_box_cells(world, 0, 1, 0, info, &vector));
  TELL(tonari_vector_renumber(world, 0, 0, 0, 0, &number, 0));
  TELL(tonari_alltoall_inplace_c(&value, 1, MPI_INT, world, info));
  TELL(tonari_vector_create_box_nodes_c(world, 0, info, &vector));
  printf("the program goes on\\n");
  return MPI_Finalize();
}
"""


def library(mpi: str) -> Path:
    name = "libtonari_abi.so" if mpi == "abi" else "libtonari.so"
    return Path(MPIS[mpi]["bin"]).parent / "lib" / name


def tools(running: str, compiled: str) -> tuple[str, str]:
    """mpicc and mpiexec. The MPICH that has the standard ABI is taken without it, too: libraries
    of two versions of MPICH need two versions of UCX, and such a program does not start."""
    mpicc, mpiexec = built.c_compiler(MPIS[running]), MPIS[running]["mpiexec"]
    beside = Path(built.c_compiler(MPIS[compiled])).with_name("mpicc")
    if (running, compiled) == ("mpich", "abi") and beside.is_file():
        return str(beside), MPIS[compiled]["mpiexec"]
    return mpicc, mpiexec


def run(command: list[Any]) -> subprocess.CompletedProcess[str]:
    env = ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | os.environ
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, env=env
    )


def called() -> list[str]:
    return re.findall(r"^  TELL\((\w+)", PROGRAM, re.M)


def calls_with_a_communicator() -> set[str]:
    """Functions of the C headers that need no handle of tonari."""
    headers = "".join(path.read_text() for path in (SOURCE / "include/tonari").glob("*.h"))
    declared = re.findall(r"^TONARI_API int (\w+)\(([^;]*)\);", headers, re.M | re.S)
    return {name for name, parameters in declared if "MPI_Comm " in parameters}


@pytest.mark.parametrize(("running", "compiled"), PAIRS)
def test_every_call_says_so(running: str, compiled: str, tmp_path: Path) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    mpicc, mpiexec = tools(running, compiled)
    other = library(compiled)
    built_by = run(
        [
            mpicc,
            f"-I{SOURCE / 'include'}",
            source,
            other,
            f"-Wl,-rpath,{other.parent}",
            "-o",
            program,
        ]
    )
    assert built_by.returncode == 0, built_by.stderr
    done = run([mpiexec, "-n", "2", program, tmp_path / "said"])
    assert done.returncode == 0, done.stderr
    said = "".join((tmp_path / f"said.{rank}").read_text() for rank in range(2))
    sentence = (
        f"this libtonari was built for {NAMES[compiled]}, but the program runs with "
        f"{RUNNING[running]}; link it with a libtonari that was built for that MPI"
    )
    told = re.findall(rf"(\w+)\([^\n]*?\) 9: {sentence}\n", said)
    assert sorted(told) == sorted(called() * 2), said
    assert said.count("the program goes on") == 2
    # Once per process, for programs that look at no codes.
    assert len(re.findall(rf"tonari: error: {sentence}\n", done.stderr)) == 2


def test_the_program_makes_every_such_call() -> None:
    """Calls of one kind, and both widths of one, begin with the same function: a few stand for
    them."""
    missing = calls_with_a_communicator() - set(called())
    assert not [name for name in missing if not re.search("_inplace|^Iso_neighbor_|_c$", name)]


# A program's MPI that was loaded for itself alone (RTLD_LOCAL, as Python loads extensions), and a
# libtonari that brings its own along.
BESIDE = """\
import ctypes, sys
program, tonari = map(ctypes.CDLL, sys.argv[1:])
program.MPI_Init(None, None)
near = ctypes.c_void_p()
words = [ctypes.c_void_p(), ctypes.c_void_p(), ctypes.byref(near)]
print(tonari.tonari_neighborhood_create_from_comm(*words))
tonari.tonari_last_error.restype = ctypes.c_char_p
print(tonari.tonari_last_error().decode())
program.MPI_Finalize()
"""


@pytest.mark.parametrize(("running", "compiled"), PAIRS)
def test_an_mpi_that_nobody_initialized(running: str, compiled: str) -> None:
    libraries = [library(running), library(compiled)]
    done = run([MPIS[running]["mpiexec"], "-n", "1", sys.executable, "-c", BESIDE, *libraries])
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == [
        "9",
        "MPI is not initialized; call MPI_Init first (this libtonari was built for "
        f"{NAMES[compiled]})",
    ]
