#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fused GoogleTest out of the source package of pycares: include/gtest, include/gtest,
# lib/libgtest.a and lib/libgtest_main.a below PREFIX, where CMake's FindGTest looks.
#   build_googletest.sh ARCHIVE COMPILER PREFIX
set -euo pipefail

archive=$1 compiler=$2 prefix=$3
archiver="ar"
[[ $compiler != *zig-c++ ]] || archiver=${compiler%c++}ar
mkdir -p "$prefix/include" "$prefix/lib"
cd "$prefix/include"
tar -xzf "$archive" --strip-components=5 pycares-4.4.0/deps/c-ares/test/gmock-1.11.0
cat >gtest_main.cc <<'END'
#include <gtest/gtest.h>
int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
END
for unit in gtest_main gmock-gtest-all; do
    "$compiler" -std=c++17 -O1 -g -fPIC -I. -c "$unit.cc" -o "$unit.o"
done
"$archiver" rcs ../lib/libgtest_main.a gtest_main.o
# last: its presence says that all of it is there
"$archiver" rcs ../lib/libgtest.a gmock-gtest-all.o
