// SPDX-License-Identifier: BSD-3-Clause
// Nothing: a target that precompiles headers needs a source, see tests/CMakeLists.txt.
