#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The command line into the environment of PYTHON: without headers and library, which libtonari has.
# From the root of the sources.
set -euo pipefail

CMAKE_BUILD_PARALLEL_LEVEL=${CPU_COUNT:-1} "${PYTHON:-python}" -m pip install . --no-deps \
    --no-build-isolation --no-index -C cmake.define.TONARI_MPI=none \
    -C cmake.define.TONARI_INSTALL=OFF -C cmake.define.CMAKE_UNITY_BUILD=ON \
    -C build.targets=_tonari_core
