// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/library_version.hpp"

#include <mpi.h>

#include <array>

namespace tonari {
namespace {

// More than any MPI writes. It is not MPI_MAX_LIBRARY_VERSION_STRING of the mpi.h that this was
// compiled with, which is 256 for Open MPI, and 8,192 for MPICH.
constexpr std::size_t longest_version = 16384;

std::string ask_version() {
  std::array<char, longest_version> version{};
  int length = 0;
  if (MPI_Get_library_version(version.data(), &length) != MPI_SUCCESS) return "";
  return version.data();
}

}  // namespace

const std::string& library_version() {
  static const std::string version = ask_version();
  return version;
}

}  // namespace tonari
