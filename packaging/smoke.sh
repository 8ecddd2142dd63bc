#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Whether an installation serves a program: compiles one with its pkg-config file and the mpicxx on
# PATH, and runs it on two ranks.
#   smoke.sh PREFIX openmpi|mpich|abi PROGRAM.cpp
set -euo pipefail

prefix=$1 mpi=$2 source=$3
wrapper=mpicxx
[ "$mpi" != abi ] || wrapper=mpicxx_abi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig:$prefix/lib64/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs "tonari-$mpi")"
"$wrapper" -std=c++20 "$source" "${flags[@]}" -o "$folder/program"

# root, and machines with one core
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
mpiexec -n 2 "$folder/program"
