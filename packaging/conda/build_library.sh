#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The library for the MPI whose mpicxx is on PATH, into PREFIX. From the root of the sources.
set -euo pipefail

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
read -ra arguments <<<"${CMAKE_ARGS:-}" # of conda's compilers
cmake -G Ninja -S . -B "$build" "${arguments[@]}" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_UNITY_BUILD=ON \
    -DTONARI_TESTS=OFF -DTONARI_EXAMPLES=OFF -DTONARI_BENCHMARKS=OFF -DTONARI_PYTHON=OFF
cmake --build "$build" -j "${CPU_COUNT:-1}"
cmake --install "$build"
