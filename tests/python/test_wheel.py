# SPDX-License-Identifier: BSD-3-Clause
"""What `pip install tonari` installs: the sdist, the wheel made of it, and programs in C and C++
that use the library in it under each MPI that has the standard ABI."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import abi
import pytest
from test_package import (
    C_PROGRAM,
    CACHE,
    CXX_PROGRAM,
    LAUNCHER,
    SOURCE,
    configure,
    project,
    run,
    succeeded,
)

pytestmark = [pytest.mark.more, abi.needed]

# Nothing comes from the network: what building needs is in the environment that runs the tests.
QUICKLY = [
    *("-C", "cmake.build-type=Debug", "-C", "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0"),
    *("-C", "cmake.define.CMAKE_UNITY_BUILD=ON"),
]


def building() -> dict[str, str]:
    """The compiler of the build, and mpicxx_abi on PATH."""
    tools = [
        abi.folder(),
        *(Path(CACHE[f"CMAKE_{name}"]).parent for name in ("COMMAND", "MAKE_PROGRAM")),
    ]
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    compilers = {"CXX": CACHE["CMAKE_CXX_COMPILER"], "CC": CACHE["CMAKE_C_COMPILER"]}
    cmake = {"CMAKE_CXX_COMPILER_LAUNCHER": LAUNCHER, "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
    return compilers | cmake | {"PATH": path}


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    make = f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})"
    succeeded([sys.executable, "-c", make], SOURCE)
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="session")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation"]
    succeeded([*pip, *QUICKLY, "-w", folder, sdist], **building())
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an environment with the wheel; what it depends on is borrowed from that of the tests."""
    folder = tmp_path_factory.mktemp("environment")
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
    programs = {name for name in names if re.fullmatch(r"tonari/lib/tonari/abi/tonari_\w+", name)}
    kinds = ["", "_halo", "_halo_device", "_inplace", "_sparse", "_spmv"]
    assert programs == {f"tonari/lib/tonari/abi/tonari_bench{kind}" for kind in kinds}
    libraries = [name for name in names if ".so" in name and not name.startswith("_tonari_core")]
    assert len(libraries) == 1
    assert re.fullmatch(r"tonari/lib/tonari/abi/libtonari_abi\.so\.\d+\.\d+", libraries[0])
    assert not [name for name in names if "pkgconfig" in name or "python/tonari" in name]
    for name in names:
        if name.endswith(".cmake"):
            text = zipfile.ZipFile(wheel).read(name).decode()
            assert str(abi.folder().parent) not in text and "/tmp" not in text, name


def test_the_library_needs_the_abi_and_no_mpi(places: dict[str, Path]) -> None:
    dynamic = succeeded(["readelf", "-d", places["library"]])
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
    assert "libmpi_abi.so.1" in needed
    assert not [name for name in needed if re.match(r"lib(p?mpi(ch)?\.|pmpi_abi|open-)", name)]
    assert re.findall(r"\(SONAME\).*\[(.+)\]", dynamic) == [places["library"].name]
    assert re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.+)\]", dynamic) == ["$ORIGIN" + "/.." * 6]


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
