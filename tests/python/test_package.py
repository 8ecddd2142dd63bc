# SPDX-License-Identifier: BSD-3-Clause
"""What `make install` installs, as other projects use it: find_package and FetchContent, an
installation that was staged with DESTDIR and then moved, and the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import built
import pytest
from tonari import completion
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TONARI_BUILD", SOURCE / "build")).resolve()
CACHE = (
    dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M))
    if (BUILD / "CMakeCache.txt").is_file()
    else {}
)
MPIS: dict[str, dict[str, Any]] = (
    json.loads(built.CONFIG.read_text())["mpis"] if built.CONFIG.is_file() else {}
)
pytestmark = pytest.mark.skipif(not MPIS, reason="there is no build (TONARI_BUILD)")

# Every rank sends its number around a ring.
C_PROGRAM = """\
#include <stdio.h>
#include <tonari/tonari.h>
int main(int argc, char** argv) {
  int ranks, rank, periodic = 1, left = -1;
  const int offset = 1;
  MPI_Comm ring;
  tonari_neighborhood near;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Comm_rank(ring, &rank);
  if (tonari_neighborhood_create_cart(ring, 1, &offset, MPI_INFO_NULL, &near)) return 1;
  if (tonari_alltoall(&rank, 1, MPI_INT, &left, 1, MPI_INT, near)) return 1;
  printf("rank %d got %d\\n", rank, left);
  tonari_neighborhood_free(&near);
  MPI_Comm_free(&ring);
  return MPI_Finalize();
}
"""
CXX_PROGRAM = """\
#include <cstdio>
#include <tonari/spmv.hpp>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, rank, periodic = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Comm_rank(ring, &rank);
  int left = -1;
  {
    const int offset[] = {1};
    tonari::Neighborhood near(ring, offset);
    near.alltoall(std::span<const int>(&rank, 1), std::span(&left, 1));
  }
  std::printf("rank %d got %d\\n", rank, left);
  MPI_Comm_free(&ring);
  return MPI_Finalize();
}
"""
FORTRAN_PROGRAM = """\
program app
  use mpi_f08
  use tonari
  implicit none
  integer :: ranks, rank, left
  type(MPI_Comm) :: ring
  type(tonari_neighborhood) :: near
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
  call MPI_Comm_rank(ring, rank)
  call tonari_neighborhood_create_cart(ring, 1, [1], MPI_INFO_NULL, near)
  call tonari_alltoall(rank, 1, MPI_INTEGER, left, 1, MPI_INTEGER, near)
  print '(a,i0,a,i0)', 'rank ', rank, ' got ', left
  call tonari_neighborhood_free(near)
  call MPI_Comm_free(ring)
  call MPI_Finalize()
end program app
"""
PROGRAMS = {
    "C": ("app.c", C_PROGRAM),
    "CXX": ("app.cpp", CXX_PROGRAM),
    "Fortran": ("app.f90", FORTRAN_PROGRAM),
}
# MPIs whose modules the Fortran compiler of the build can read.
FORTRAN = [mpi for mpi in MPIS if CACHE.get(f"TONARI_FORTRAN_WITH_{mpi}") == "1"]
needs_fortran = pytest.mark.skipif(not FORTRAN, reason="there is no Fortran compiler")


def project(folder: Path, language: str, get_tonari: str) -> Path:
    """A tiny project, whose program is linked with tonari::tonari and no more."""
    file, text = PROGRAMS[language]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text)
    (folder / "CMakeLists.txt").write_text(f"""\
cmake_minimum_required(VERSION 3.24)
project(app LANGUAGES {"C Fortran" if language == "Fortran" else language})
{"set(CMAKE_CXX_STANDARD 20)" if language == "CXX" else ""}
{get_tonari}
add_executable(app {file})
target_link_libraries(app PRIVATE tonari::tonari{"_fortran" if language == "Fortran" else ""})
""")
    return folder


def run(
    command: list[Any], folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        timeout=1500,
        cwd=folder,
        env=ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | os.environ | environment,
    )


def succeeded(command: list[Any], folder: Path | None = None, **environment: str) -> str:
    done = run(command, folder, **environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def configure(folder: Path, *arguments: Any, generator: str = "") -> list[Any]:
    """By the generator of the build, unless another one is named."""
    program = f"-DCMAKE_MAKE_PROGRAM={CACHE['CMAKE_MAKE_PROGRAM']}"
    how = ["-G", generator] if generator else ["-G", CACHE["CMAKE_GENERATOR"], program]
    compilers = [
        f"-DCMAKE_{language}_COMPILER={CACHE[f'CMAKE_{language}_COMPILER']}"
        for language in ("C", "CXX", "Fortran")
        if f"CMAKE_{language}_COMPILER" in CACHE
    ]
    quiet = ["--no-warn-unused-cli", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF"]
    return [
        CACHE["CMAKE_COMMAND"],
        "-S",
        folder,
        "-B",
        folder / "build",
        *how,
        *compilers,
        *quiet,
        *arguments,
    ]


def wrappers(mpi: str) -> list[str]:
    """What a user of this MPI says to FindMPI."""
    mpicxx = MPIS[mpi]["mpicxx"]
    mpicc = re.sub(r"mpicxx(?=[^/]*$)", "mpicc", mpicxx)
    names = {"CXX": mpicxx, "C": mpicc, "Fortran": built.fortran_compiler(MPIS[mpi])}
    return [f"-DMPI_{language}_COMPILER={name}" for language, name in names.items()]


def build_and_run(folder: Path, mpi: str, *programs: str) -> None:
    """The program is `app`, unless others are named."""
    succeeded([CACHE["CMAKE_COMMAND"], "--build", folder / "build", "-j2"])
    for program in programs or ["app"]:
        printed = succeeded([MPIS[mpi]["mpiexec"], "-n", 2, folder / "build" / program])
        assert sorted(re.findall(r"rank \d got \d", printed)) == ["rank 0 got 1", "rank 1 got 0"]


def refused(command: list[Any], **environment: str) -> str:
    """What CMake complains of, in one line."""
    done = run(command, **environment)
    assert done.returncode != 0, done.stdout
    return " ".join(done.stderr.split())


def components() -> list[list[str]]:
    """What to say to `cmake --install`, each time that it is called: nothing, if all libraries are
    built, as in `make test-all`."""
    built_ones = [mpi for mpi in MPIS if (BUILD / mpi / "lib/libtonari_preload.so").is_file()]
    if built_ones == list(MPIS):
        return [[]]
    return [["--component", name] for name in ["Unspecified", *built_ones]]


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Installed below a DESTDIR, and moved from there."""
    stage, moved = tmp_path_factory.mktemp("stage"), tmp_path_factory.mktemp("moved") / "here"
    install = [CACHE["CMAKE_COMMAND"], "--install", BUILD, "--prefix", "/opt/nobody/tonari"]
    for component in components():
        succeeded([*install, *component], DESTDIR=str(stage))
    assert [path.name for path in stage.iterdir()] == ["opt"]
    shutil.move(stage / "opt/nobody/tonari", moved)
    return moved


@pytest.fixture(scope="session")
def first() -> str:
    return next(iter(MPIS))


def test_a_moved_installation_is_found(prefix: Path, first: str, tmp_path: Path) -> None:
    folder = project(tmp_path, "C", "find_package(tonari 0.1 REQUIRED)")
    succeeded(configure(folder, f"-DCMAKE_PREFIX_PATH={prefix}", *wrappers(first)))
    build_and_run(folder, first)


def test_nothing_installed_knows_a_place(prefix: Path) -> None:
    """Neither where it was built, nor where it was to be installed."""
    texts = [path for path in prefix.rglob("*") if path.suffix in {".cmake", ".pc", ".h", ".hpp"}]
    assert len(texts) > 20
    for path in texts:
        text = path.read_text()
        places = [str(SOURCE), str(BUILD), "/opt/nobody", CACHE["CMAKE_INSTALL_PREFIX"]]
        assert not [place for place in places if place in text], path


@pytest.mark.more
@pytest.mark.parametrize(
    ("mpi", "way"),
    [
        (mpi, way)
        for mpi in MPIS
        for way in ("wrapper", "component", "suffix", "found before", "pkg-config")
        # Debian's wrappers are called mpicxx.NAME.
        if Path(MPIS[mpi]["mpicxx"]).suffix or way not in ("component", "suffix")
    ],
)
def test_each_mpi_gets_its_library(prefix: Path, mpi: str, way: str, tmp_path: Path) -> None:
    """A prefix with several: the MPI of the project decides."""
    suffix = Path(MPIS[mpi]["mpicxx"]).suffix
    if way == "pkg-config":
        if not shutil.which("pkg-config"):
            pytest.skip("there is no pkg-config")
        (tmp_path / "app.cpp").write_text(CXX_PROGRAM)
        pc = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
        flags = succeeded(["pkg-config", "--cflags", "--libs", f"tonari-{mpi}"], **pc).split()
        program = tmp_path / "build" / "app"
        program.parent.mkdir()
        succeeded([MPIS[mpi]["mpicxx"], "-std=c++20", tmp_path / "app.cpp", *flags, "-o", program])
        printed = succeeded([MPIS[mpi]["mpiexec"], "-n", 2, program])
        assert "rank 1 got 0" in printed
        return
    found_before = "find_package(MPI REQUIRED)\n" if way == "found before" else ""
    component = f" COMPONENTS {mpi}" if way == "component" else ""
    folder = project(tmp_path, "CXX", f"{found_before}find_package(tonari REQUIRED{component})")
    arguments = {"component": [], "suffix": [f"-DMPI_EXECUTABLE_SUFFIX={suffix}"]}
    given = arguments.get(way, wrappers(mpi))
    succeeded(configure(folder, f"-DCMAKE_PREFIX_PATH={prefix}", *given))
    build_and_run(folder, mpi)


@pytest.mark.more
@pytest.mark.parametrize(
    ("wanted", "arguments", "sentence"),
    [
        ("COMPONENTS cray", [], "these MPIs: there is no cray"),
        ("9.0", [], 'compatible with requested version "9.0"'),
        ("", ["-DMPI_CXX_COMPILER=/nowhere/mpicxx"], "no MPI was found: install one"),
    ],
)
def test_find_package_says_what_is_wrong(
    prefix: Path, wanted: str, arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    folder = project(tmp_path, "CXX", f"find_package(tonari {wanted} REQUIRED)")
    said = refused(configure(folder, f"-DCMAKE_PREFIX_PATH={prefix}", *arguments))
    assert sentence in said, said


@pytest.mark.more
@pytest.mark.skipif(len(MPIS) < 2, reason="needs two MPIs")
def test_a_prefix_without_the_projects_mpi(prefix: Path, tmp_path: Path) -> None:
    one, other = list(MPIS)[:2]
    shutil.copytree(prefix, tmp_path / "prefix", symlinks=True)
    for path in (tmp_path / "prefix/lib/cmake/tonari").glob(f"tonari-{one}*"):
        path.unlink()
    folder = project(tmp_path / "app", "CXX", "find_package(tonari REQUIRED)")
    said = refused(configure(folder, f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}", *wrappers(one)))
    assert f"is of the kind {one}, but tonari" in said, said
    assert re.search(rf"is for [a-z, ]*\b{other}\b", said), said


@pytest.mark.more
@pytest.mark.parametrize("by", ["subproject", "alone"])
def test_a_build_without_mpi_says_what_to_do(by: str, tmp_path: Path) -> None:
    folder = project(tmp_path, "CXX", f"add_subdirectory({SOURCE} tonari)")
    command = configure(folder, "-DMPI_CXX_COMPILER=/nowhere/mpicxx")
    if by == "alone":
        command[2] = SOURCE
    said = refused(command)
    assert "tonari: no MPI was found: install one (Debian, Ubuntu: apt-get" in said, said
    assert said.count("CMake Error") == 1


@needs_fortran
def test_the_fortran_module_is_compiled_in_the_project(prefix: Path, tmp_path: Path) -> None:
    """Also where tonari was found before, without it, and in two folders of the project. By make,
    which CMake takes unless it is told otherwise; Ninja does it for tests/fortran."""
    found = "find_package(tonari REQUIRED)\nfind_package(tonari REQUIRED COMPONENTS Fortran)"
    folder = project(tmp_path, "Fortran", f"{found}\n{found}")
    mpi = FORTRAN[0]
    here = [f"-DCMAKE_PREFIX_PATH={prefix}", *wrappers(mpi)]
    succeeded(configure(folder, *here, generator="Unix Makefiles"))
    build_and_run(folder, mpi)


@needs_fortran
@pytest.mark.skipif(not shutil.which("pkg-config"), reason="there is no pkg-config")
@pytest.mark.parametrize("mpi", [built.more(m) if at else m for at, m in enumerate(FORTRAN)])
def test_fortran_in_a_single_command(prefix: Path, mpi: str, tmp_path: Path) -> None:
    (tmp_path / "app.f90").write_text(FORTRAN_PROGRAM)
    pc = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    source = succeeded(["pkg-config", "--variable=fortran", f"tonari-{mpi}"], **pc).strip()
    flags = succeeded(["pkg-config", "--libs", f"tonari-{mpi}"], **pc).split()
    mpif90 = built.fortran_compiler(MPIS[mpi])
    succeeded([mpif90, f"{source}/tonari.F90", "app.f90", *flags, "-o", "app"], folder=tmp_path)
    printed = succeeded([MPIS[mpi]["mpiexec"], "-n", 2, tmp_path / "app"])
    assert sorted(re.findall(r"rank \d got \d", printed)) == ["rank 0 got 1", "rank 1 got 0"]


@needs_fortran
def test_wide_integers_are_refused_when_the_module_is_compiled(tmp_path: Path) -> None:
    mpif90 = built.fortran_compiler(MPIS[FORTRAN[0]])
    source = SOURCE / "include/tonari/fortran/tonari.F90"
    said = refused([mpif90, "-fdefault-integer-8", "-c", source, "-J", tmp_path, "-o", "/dev/null"])
    assert "integers_are_those_of_C" in said, said


def test_the_pages_say_what_a_project_needs() -> None:
    """The projects of these tests are those of the pages, but for the program."""
    page = (SOURCE / "docs/install.md").read_text()
    for block in re.findall(r"^```cmake\n(.*?)^```$", page, re.M | re.S):
        assert block.startswith("cmake_minimum_required(VERSION 3.24)\nproject(app LANGUAGES "), (
            block
        )
        assert "set(CMAKE_CXX_STANDARD 20)" in block and "add_executable(app" in block, block
        assert "target_link_libraries(app PRIVATE tonari::tonari)" in block, block


@pytest.mark.more
def test_the_fortran_component_says_what_it_needs(prefix: Path, first: str, tmp_path: Path) -> None:
    folder = project(tmp_path, "C", "find_package(tonari REQUIRED COMPONENTS Fortran)")
    said = refused(configure(folder, f"-DCMAKE_PREFIX_PATH={prefix}", *wrappers(first)))
    assert "compiles a module: add Fortran to project()" in said, said


FETCH = f"""\
include(FetchContent)
FetchContent_Declare(tonari SOURCE_DIR {SOURCE})
set(before "${{CMAKE_BUILD_TYPE}};${{CMAKE_CXX_FLAGS}};${{CMAKE_CXX_STANDARD}}")
FetchContent_MakeAvailable(tonari)
if(NOT before STREQUAL "${{CMAKE_BUILD_TYPE}};${{CMAKE_CXX_FLAGS}};${{CMAKE_CXX_STANDARD}}")
  message(FATAL_ERROR "the project's settings are others now")
endif()
get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
get_property(tests DIRECTORY PROPERTY TESTS)
if(options OR tests OR TARGET tonari_bench_openmpi OR TARGET ring_openmpi)
  message(FATAL_ERROR "the project has more than a library: ${{options}} ${{tests}}")
endif()
"""


# Three tests build the whole library, in as many ways. What one has compiled, or `make`, the others
# take over if it is the same text: what each proves is which files it has, and how they are built
# and linked.
FAST = "-DNDEBUG"  # the macros of the build tree, and no optimization
LAUNCHER = f"{sys.executable};{Path(__file__).with_name('compile_once.py')}"


@pytest.mark.more
def test_fetch_content(first: str, tmp_path: Path) -> None:
    """The whole library is built: a part of another project, which links its own programs with
    it, in C++ and, where the library has it, in Fortran, and installs them."""
    mpi = FORTRAN[0] if FORTRAN else first
    languages = "enable_language(C)\nenable_language(Fortran)\n" if FORTRAN else ""
    rpath = "set(CMAKE_INSTALL_RPATH $ORIGIN/../lib)\n"
    folder = project(tmp_path, "CXX", f"{rpath}{languages}{FETCH}")
    programs = ["app"]
    with (folder / "CMakeLists.txt").open("a") as file:
        if FORTRAN:
            name, text = PROGRAMS["Fortran"]
            (folder / name).write_text(text)
            file.write(f"add_executable(fortran_app {name})\n")
            file.write("target_link_libraries(fortran_app PRIVATE tonari::tonari_fortran)\n")
            programs.append("fortran_app")
        file.write(f"install(TARGETS {' '.join(programs)})\n")
    fast = ["-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={FAST}", "-DCMAKE_UNITY_BUILD=ON"]
    succeeded(configure(folder, *wrappers(mpi), *fast, f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}"))
    build_and_run(folder, mpi, *programs)
    succeeded([CACHE["CMAKE_COMMAND"], "--install", folder / "build", "--prefix", tmp_path / "to"])
    shutil.rmtree(folder / "build")
    for program in programs:
        printed = succeeded([MPIS[mpi]["mpiexec"], "-n", 2, tmp_path / "to/bin" / program])
        assert "rank 1 got 0" in printed


needs_extension = pytest.mark.skipif(
    not list((BUILD / "python").glob("_tonari_core*.so")), reason="there is no extension"
)


@needs_extension
def test_the_installed_command(prefix: Path, tmp_path: Path) -> None:
    """Also through a link to it, and beside another PYTHONPATH."""
    link = tmp_path / "tonari"
    link.symlink_to(prefix / "bin/tonari")
    printed = succeeded([link, "plan", "star:2:1", "--bytes", "8", "--json"], PYTHONPATH="/nowhere")
    assert {row["algorithm"] for row in json.loads(printed)} >= {"linear", "torus"}
    machine = ["plan", "star:2:1", "--machine", "slingshot-11"]  # of a file that is installed, too
    assert "slingshot-11" in succeeded([link, *machine], PYTHONPATH="/nowhere")


@needs_extension
def test_manual_pages_and_completions_lie_where_they_are_looked_for(prefix: Path) -> None:
    pages = {path.name for path in (prefix / "share/man/man1").iterdir()}
    assert {"tonari.1", "tonari-plan.1", "tonari-bench-halo.1"} <= pages
    for name in completion.FILES.values():
        assert "tonari" in (prefix / "share" / name).read_text()


@needs_extension
@pytest.mark.parametrize(
    "names", [["include", "cmake_dir"], built.more(["include", "cmake_dir", "library"])]
)
def test_the_installed_package_says_where_things_lie(prefix: Path, names: list[str]) -> None:
    if "library" in names and "abi" not in MPIS:
        pytest.skip("there is no library for the standard ABI")
    ask = "import tonari; " + "; ".join(f"print(tonari.get_{name}())" for name in names)
    package = str(prefix / "lib/tonari/python")
    include, cmake_dir, *library = succeeded(
        [sys.executable, "-c", ask], PYTHONPATH=package
    ).split()
    assert include == str(prefix / "include")
    assert cmake_dir == str(prefix / "lib/cmake/tonari")
    assert not library or Path(library[0]).parent == prefix / "lib/tonari/abi"


@needs_extension
def test_the_installed_command_without_its_packages(prefix: Path, tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\nexit 1\n")
    bare.chmod(0o755)
    done = run([prefix / "bin/tonari", "--version"], TONARI_PYTHON=str(bare))
    assert done.returncode == 1
    assert re.fullmatch(r"tonari: no Python 3\.\d+ with typer, .* has them\.\n", done.stderr)
