# SPDX-License-Identifier: BSD-3-Clause
"""The kernels for CUDA are compiled by nvcc, here and by the build: nothing here runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import built
import pytest

SOURCE = Path(__file__).resolve().parents[2]
FILES = [SOURCE / "src/device/cuda_kernels.cu", SOURCE / "bench/halo_device/stencils.cu"]
each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
NEWEST_BEFORE = 13


def candidates() -> list[Path]:
    """Of the machine, then of PyPI's packages (tools/requirements-cuda.txt)."""
    found = [Path(name) for name in [shutil.which("nvcc")] if name]
    found += [Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin/nvcc")]
    found += Path(sys.prefix, "lib").glob("python*/site-packages/nvidia/cu*/bin/nvcc")
    return [path for path in found if path.is_file()]


def version(nvcc: Path) -> int:
    done = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False)
    release = re.search(r"release (\d+)\.", done.stdout)
    return int(release[1]) if release else 0


def find_nvcc() -> Path | None:
    return next((nvcc for nvcc in candidates() if version(nvcc) >= NEWEST_BEFORE), None)


@each_file
@pytest.mark.parametrize("capability", [75, *map(built.more, (80, 86, 89, 90, 100, 120))])
def test_kernels_compile_and_keep_to_registers(capability: int, file: Path, tmp_path: Path) -> None:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip(f"needs nvcc {NEWEST_BEFORE} or newer (tools/requirements-cuda.txt)")
    image = tmp_path / "kernels.cubin"
    flags = ["-std=c++17", "-Werror=all-warnings", "-Xptxas=-v", f"-arch=sm_{capability}"]
    done = subprocess.run(
        [nvcc, "-cubin", *flags, "-o", image, file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    content = image.read_bytes()
    assert {f".text.{name}".encode() in content for name in kernels(file)} == {True}
    used = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", done.stderr)
    assert used == [("0", "0")] * len(kernels(file)), done.stderr


def kernels(file: Path) -> list[str]:
    names = re.findall(r"__global__ void (\w+)\(", file.read_text())
    assert len(names) >= 3
    return names


PROJECT = f"""
cmake_minimum_required(VERSION 3.24)
project(kernels LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
include({SOURCE}/cmake/TonariCudaKernels.cmake)
tonari_cuda_kernels(sources {SOURCE}/src/device/cuda_kernels.cu)
add_library(kernels STATIC ${{sources}})
target_include_directories(kernels PRIVATE {SOURCE}/src)
"""


def configured(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "CMakeLists.txt").write_text(PROJECT)
    command = ["cmake", "-S", str(folder), "-B", str(folder / "build"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def bytes_in(folder: Path) -> int:
    command = ["cmake", "--build", str(folder / "build")]
    subprocess.run(command, capture_output=True, check=True)
    return (folder / "build/cuda_built_kernels.cpp").read_text().count("0x")


@pytest.mark.parametrize("option", ["-DTONARI_CUDA_ARCHITECTURES=", "-DTONARI_NVCC=/bin/false"])
def test_a_build_without_nvcc_lacks_nothing(option: str, tmp_path: Path) -> None:
    done = configured(tmp_path, option)
    assert done.returncode == 0, done.stderr
    assert "Kernels for devices of CUDA: by NVRTC, at run time" in done.stdout
    assert bytes_in(tmp_path) == 0


def test_a_build_with_nvcc_holds_kernels(tmp_path: Path) -> None:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip(f"needs nvcc {NEWEST_BEFORE} or newer (tools/requirements-cuda.txt)")
    which = f"-DTONARI_NVCC={nvcc}"
    done = configured(tmp_path, which, "-DTONARI_CUDA_ARCHITECTURES=80;90")
    assert done.returncode == 0, done.stderr
    assert "Kernels for devices of CUDA: 80;90, and NVRTC for others" in done.stdout
    assert bytes_in(tmp_path) == (tmp_path / "build/cuda_kernels.fatbin").stat().st_size > 0
    done = configured(tmp_path, which, "-DTONARI_CUDA_ARCHITECTURES=80;12345")
    assert done.returncode != 0
    assert "TONARI_CUDA_ARCHITECTURES has 12345" in done.stderr


@each_file
def test_kernels_include_nothing(file: Path) -> None:
    """NVRTC gets the text alone."""
    assert "#include" not in file.read_text()
