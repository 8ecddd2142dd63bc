# SPDX-License-Identifier: BSD-3-Clause
"""What pip installs: the sdist, the wheel made of it, and all that works with it and PyPI's
MPICH and mpi4py without a setting. The wheel is built once for all of these tests."""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import abi
import built
import mpi4py_jobs
import pytest
from test_package import (
    C_PROGRAM,
    CACHE,
    CXX_PROGRAM,
    FAST,
    LAUNCHER,
    MPIS,
    SOURCE,
    configure,
    project,
    run,
    succeeded,
)

pytestmark = [pytest.mark.more, abi.needed]

# Nothing comes from the network: what building needs is in the environment that runs the tests.
QUICKLY = [
    *("-C", "cmake.build-type=Debug", "-C", f"cmake.define.CMAKE_CXX_FLAGS_DEBUG={FAST}"),
    *("-C", "cmake.define.CMAKE_UNITY_BUILD=ON"),
]
# Benchmark programs that are asked for their names alone; `make test-long` compiles them for the
# standard ABI.
HOLLOW = "tonari_bench_(halo|halo_device|inplace|sparse|spmv)_abi"
# Where no compiler is: an environment of Python that was activated, and no more.
PLAIN = {"PYTHONPATH": "", "TONARI_BUILD": "", "LD_LIBRARY_PATH": ""}


def building() -> dict[str, str]:
    """The compiler of the build, and mpicxx_abi on PATH."""
    tools = [
        abi.folder(),
        *(Path(CACHE[f"CMAKE_{name}"]).parent for name in ("COMMAND", "MAKE_PROGRAM")),
    ]
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    compilers = {"CXX": CACHE["CMAKE_CXX_COMPILER"], "CC": CACHE["CMAKE_C_COMPILER"]}
    cmake = {"CMAKE_CXX_COMPILER_LAUNCHER": LAUNCHER, "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
    return compilers | cmake | {"PATH": path, "TONARI_HOLLOW": HOLLOW}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel."""
    folder = tmp_path_factory.mktemp("made")
    make = f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})"
    succeeded([sys.executable, "-c", make], SOURCE)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation"]
    succeeded([*pip, *QUICKLY, "-w", folder, *folder.iterdir()], **building())
    return folder


@pytest.fixture(scope="session")
def sdist(made: Path) -> Path:
    return next(made.glob("*.tar.gz"))


@pytest.fixture(scope="session")
def wheel(made: Path) -> Path:
    return next(made.glob("*.whl"))


def environment(folder: Path, wheel: Path) -> Path:
    """The Python of an environment with the wheel; what that depends on is borrowed from the
    environment of the tests."""
    succeeded([sys.executable, "-m", "venv", "--without-pip", folder])
    python = folder / "bin" / "python"
    install = ["-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel]
    succeeded([sys.executable, *install])
    site = succeeded(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    ).strip()
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("environment"), wheel)


@pytest.fixture(scope="session")
def with_mpich(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has PyPI's MPICH, too."""
    folder = tmp_path_factory.mktemp("with_mpich")
    programs = environment(folder, wheel).parent
    for part in ("bin", "lib"):
        for file in (abi.folder().parent / part).iterdir():
            if not (folder / part / file.name).exists():
                (folder / part / file.name).symlink_to(file)
    return programs


@pytest.fixture(scope="session")
def places(python: Path) -> dict[str, Path]:
    names = ["include", "library", "cmake_dir"]
    ask = "import tonari; " + "; ".join(f"print(tonari.get_{name}())" for name in names)
    printed = succeeded([python, "-c", ask], PYTHONPATH="").split()
    return dict(zip(names, map(Path, printed), strict=True))


@pytest.mark.skipif(not (SOURCE / ".git").exists(), reason="these sources are no repository")
def test_the_sdist_has_the_sources_and_nothing_else(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = {
        line
        for line in succeeded(["git", "ls-files"], SOURCE).splitlines()
        if not line.startswith(".") and (SOURCE / line).is_file()
    }
    missing = tracked - names
    assert not missing, sorted(missing)
    assert not [name for name in names if re.match(r"build|\.git/|\.ci/", name)]


def test_the_wheel_has_what_programs_need(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    headers = {
        f"tonari/{file.relative_to(SOURCE)}"
        for file in (SOURCE / "include/tonari").rglob("*")
        if file.is_file()
    }
    assert len(headers) > 10 and headers <= names
    data = {
        str(file.relative_to(SOURCE / "python"))
        for file in (SOURCE / "python/tonari").rglob("*")
        if file.suffix in (".txt", ".csv")
    }
    assert "tonari/machines/slingshot-11.txt" in data and data <= names
    programs = {name for name in names if re.fullmatch(r"tonari/lib/tonari/abi/tonari_\w+", name)}
    kinds = ["", "_halo", "_halo_device", "_inplace", "_sparse", "_spmv"]
    wanted = ["calibrate", *(f"bench{kind}" for kind in kinds)]
    assert programs == {f"tonari/lib/tonari/abi/tonari_{program}" for program in wanted}
    libraries = {re.sub(r"\.\d+\.\d+$", "", name) for name in names if ".so" in name}
    kinds = {"abi": "tonari_abi", "mpich": "tonari"}
    assert {name for name in libraries if not name.startswith("_tonari_core")} == {
        f"tonari/lib/tonari/{mpi}/lib{name}.so"
        for mpi, own in kinds.items()
        for name in (own, "tonari_preload", "tonari_advise")
    }
    assert not [name for name in names if "pkgconfig" in name or "python/tonari" in name]
    for name in names:
        if name.endswith(".cmake"):
            text = zipfile.ZipFile(wheel).read(name).decode()
            assert str(abi.folder().parent) not in text and "/tmp" not in text, name


def test_what_the_wheel_depends_on(wheel: Path) -> None:
    (file,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/METADATA")]
    metadata = zipfile.ZipFile(wheel).read(file).decode()
    needs = set(re.findall(r"^Requires-Dist: ([\w-]+)", metadata, re.M))
    extras = dict(re.findall(r"^Requires-Dist: ([\w-]+).*; extra == ['\"](\w+)", metadata, re.M))
    partition_and_plots = {"mtkahypar": "partition", "plotly": "reproduce"}
    assert extras == {"mpich": "mpi", "mpi4py": "mpi"} | partition_and_plots
    assert needs - set(extras) == {"typer", "rich", "numpy", "matplotlib"}


def dynamic(file: Path, kind: str) -> list[str]:
    return re.findall(rf"\((?:{kind})\).*\[(.+)\]", succeeded(["readelf", "-d", file]))


def test_the_library_needs_the_abi_and_no_mpi(places: dict[str, Path]) -> None:
    library = places["library"]
    needed = dynamic(library, "NEEDED")
    assert "libmpi_abi.so.1" in needed
    assert not [name for name in needed if re.match(r"lib(p?mpi(ch)?\.|pmpi_abi|open-)", name)]
    assert dynamic(library, "SONAME") == [library.name]


def test_libraries_find_pypis_mpich_and_each_other(places: dict[str, Path]) -> None:
    up = "$ORIGIN" + "/.." * 6
    files = sorted(places["library"].parents[1].glob("*/lib*.so*"))
    assert len(files) == 6
    for file in files:
        paths = [up] if re.search(r"tonari(_abi)?\.so", file.name) else [f"$ORIGIN:{up}"]
        assert dynamic(file, "RUNPATH|RPATH") == paths, file
        mpi = "libmpi_abi.so.1" if file.parent.name == "abi" else "libmpi.so.12"
        assert [name for name in dynamic(file, "NEEDED") if "mpi" in name] == [mpi], file


MATRIX = "%%MatrixMarket matrix coordinate pattern general\n4 4 3\n1 2\n2 3\n4 1\n"


def test_the_command_line_plans_and_draws(python: Path, tmp_path: Path) -> None:
    tonari = python.with_name("tonari")
    assert succeeded([tonari, "--version"], PYTHONPATH="").startswith("tonari ")
    assert "torus" in succeeded([tonari, "plan", "moore:3:1", "--bytes", "64"], PYTHONPATH="")
    matrix, figure = tmp_path / "matrix.mtx", tmp_path / "messages.svg"
    matrix.write_text(MATRIX)
    succeeded([tonari, "share", matrix, "--parts", "2", "--plot", figure], PYTHONPATH="")
    assert "<svg" in figure.read_text()


@pytest.fixture(scope="session", params=["C", "CXX"])
def program(request: Any, places: dict[str, Path], tmp_path_factory: Any) -> Path:
    """Compiled once, by a line as the documentation has it."""
    folder = tmp_path_factory.mktemp("client")
    source = folder / ("app.c" if request.param == "C" else "app.cpp")
    source.write_text(C_PROGRAM if request.param == "C" else CXX_PROGRAM)
    library = places["library"]
    flags = [f"-I{places['include']}", library, f"-Wl,-rpath,{library.parent}"]
    standard = [] if request.param == "C" else ["-std=c++20"]
    succeeded([abi.wrapper(request.param), *standard, source, *flags, "-o", folder / "app"])
    return folder / "app"


@abi.each
def test_a_program_runs_under_each_mpi(program: Path, mpi: abi.Run) -> None:
    printed = succeeded([mpi.mpiexec, "-n", 2, program], **mpi.environment())
    assert sorted(re.findall(r"rank \d got \d", printed)) == ["rank 0 got 1", "rank 1 got 0"]


@abi.each
def test_the_command_line_measures(python: Path, mpi: abi.Run, tmp_path: Path) -> None:
    figure = tmp_path / "bench.svg"
    here = {
        "PYTHONPATH": "",
        "TONARI_BUILD": "",
        "PATH": os.pathsep.join([str(Path(mpi.mpiexec).parent), "/usr/bin"]),
    }
    words = ["bench", "moore:2:1", "--bytes", "8,64", "--rounds", "20", "--plot", figure]
    printed = succeeded([python.with_name("tonari"), *words], tmp_path, **here, **mpi.environment())
    assert "auto" in printed and "<svg" in figure.read_text()
    no_such = run([python.with_name("tonari"), *words, "--mpi", "mpich"], tmp_path, **here)
    assert "was installed by pip" in no_such.stderr and no_such.returncode


def test_without_an_mpi_it_says_so(python: Path, tmp_path: Path) -> None:
    words = [python.with_name("tonari"), "bench", "moore:2:1", "--bytes", "8"]
    done = run(words, tmp_path, PYTHONPATH="", TONARI_BUILD="", PATH=str(tmp_path))
    assert "there is no mpiexec: `pip install 'mpich>=5.0.2'`" in done.stderr


# Blocks around a ring: by a neighborhood collective, and by messages.
RING = """\
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  enum { length = 1000, left = 0, right = 1 };
  int ranks, periodic = 1, sides[2], rank;
  static int send[length], recv[2 * length];
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Comm_rank(ring, &rank);
  MPI_Cart_shift(ring, 0, 1, &sides[left], &sides[right]);
  for (int i = 0; i < length; ++i) send[i] = rank;
  for (int step = 0; step < 100; ++step) {
    MPI_Request requests[4];
    MPI_Neighbor_allgather(send, length, MPI_INT, recv, length, MPI_INT, ring);
    if (recv[0] != sides[left] || recv[length] != sides[right]) MPI_Abort(ring, 3);
    for (int side = left; side <= right; ++side) {
      MPI_Irecv(recv + side * length, length, MPI_INT, sides[side], side, ring, &requests[side]);
      MPI_Isend(send, length, MPI_INT, sides[side], 1 - side, ring, &requests[2 + side]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (recv[0] != sides[left] || recv[length] != sides[right]) MPI_Abort(ring, 4);
  }
  MPI_Comm_free(&ring);
  return MPI_Finalize();
}
"""


def plainly(programs: Path, folder: Path, *words: str | Path) -> str:
    """What a command says in that environment."""
    path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
    return succeeded([programs / words[0], *words[1:]], folder, **PLAIN, PATH=path)


@pytest.mark.parametrize("wrapper", ["mpicc", "mpicc_abi"])
def test_programs_of_pypis_mpich_are_watched_and_sped_up(
    with_mpich: Path, wrapper: str, tmp_path: Path
) -> None:
    (tmp_path / "ring.c").write_text(RING)
    succeeded([abi.folder() / wrapper, "-g", "ring.c", "-o", "ring"], tmp_path)
    launch = ["--", "mpiexec", "-n", "2", "./ring"]
    plainly(with_mpich, tmp_path, "tonari", "run", "--json", "run.json", *launch)
    (row,) = json.loads((tmp_path / "run.json").read_text())
    assert row["call"] == "MPI_Neighbor_allgather" and row["calls"] == 200
    assert row["through_tonari"] > 0
    said = plainly(with_mpich, tmp_path, "tonari", "advise", "--json", "advise.json", *launch)
    assert "ring.c:" in said, said
    assert json.loads((tmp_path / "advise.json").read_text())


SCRIPT = """\
import numpy as np
from mpi4py import MPI
import tonari.mpi
world = MPI.COMM_WORLD
ring = world.Create_cart([world.size], periods=[True])
near = tonari.mpi.Neighborhood(ring, "moore:1:1")
got = np.empty(2, np.int64)
for _ in range(20):
    near.allgather(np.array([world.rank]), got)
    native = np.empty_like(got)
    ring.Neighbor_allgather(np.array([world.rank]), native)
    assert set(got) == set(native) == set(ring.Shift(0, 1)), (got, native)
if world.rank == 0:
    print(tonari.mpi.mpi_kind, tonari.mpi.library_path)
"""


@mpi4py_jobs.needed
@pytest.mark.parametrize("ranks", ["1", "3"])
def test_pypis_mpi4py_works_without_a_setting(with_mpich: Path, ranks: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    launch = ["mpiexec", "-n", ranks, "python", "script.py"]
    kind, library = plainly(with_mpich, tmp_path, *launch).split()
    assert kind == "mpich"
    assert Path(library).is_relative_to(with_mpich.parent)
    plainly(with_mpich, tmp_path, "tonari", "run", "--json", "run.json", "--", *launch)
    rows = json.loads((tmp_path / "run.json").read_text())
    assert [row["call"].removesuffix("_c") for row in rows] == ["MPI_Neighbor_allgather"]
    assert rows[0]["through_tonari"] > 0


@pytest.mark.skipif("mpich" not in MPIS, reason="there is no MPICH of the system")
def test_a_program_of_another_mpich_is_refused_in_a_sentence(
    with_mpich: Path, tmp_path: Path
) -> None:
    """Debian's calls its library otherwise; both in one process would fail in their own way."""
    (tmp_path / "ring.c").write_text(RING)
    succeeded([built.c_compiler(MPIS["mpich"]), "ring.c", "-o", "ring"], tmp_path)
    if "libmpich.so.12" not in dynamic(tmp_path / "ring", "NEEDED"):
        pytest.skip("this MPICH is called as PyPI's is")
    launch = [MPIS["mpich"]["mpiexec"], "-n", "2", "./ring"]
    done = run([with_mpich / "tonari", "run", "--", *launch], tmp_path, **PLAIN)
    assert done.returncode and "./ring needs libmpich.so.12, but" in done.stderr
    assert "set TONARI_BUILD to that build" in " ".join(done.stderr.split())


def test_cmake_finds_it(places: dict[str, Path], tmp_path: Path) -> None:
    folder = project(tmp_path, "CXX", "find_package(tonari REQUIRED)")
    given = [f"-Dtonari_DIR={places['cmake_dir']}", f"-DMPI_CXX_COMPILER={abi.wrapper('CXX')}"]
    succeeded(configure(folder, *given))
    succeeded([CACHE["CMAKE_COMMAND"], "--build", folder / "build"])
    for each in abi.RUNS:
        command = [each.mpiexec, "-n", 2, folder / "build" / "app"]
        assert "rank 1 got 0" in succeeded(command, **each.environment()), each


def test_without_the_library_it_says_so(places: dict[str, Path]) -> None:
    """As in a source tree that PYTHONPATH names."""
    ask = "import tonari; tonari.get_library()"
    done = run([sys.executable, "-c", ask], PYTHONPATH=str(SOURCE / "python"))
    assert "this tonari was not installed with what programs need" in done.stderr
