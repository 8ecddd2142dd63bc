// SPDX-License-Identifier: BSD-3-Clause
// Which MPI a program runs with, by what MPIs say of themselves. Programs that run with the wrong
// one are in tests/python/test_wrong_mpi.py.
#include "mpi/same_mpi.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>

namespace tonari {
namespace {

using enum MpiFamily;

// What MPI_Get_library_version returns, as far as it matters.
const std::string open_mpi_4 =
    "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022";
const std::string mpich_4 =
    "MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7 12:34:45 CDT 2022\n"
    "MPICH configure:    --with-libfabric --prefix=/usr\n";
const std::string intel = "Intel(R) MPI Library 2021.10 for Linux* OS\n";
const std::string mvapich = "MVAPICH2 Version      :\t2.3.7\n";
const std::string cray = "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\n";
const std::string spectrum = "IBM Spectrum MPI v10.4.0.3, package: IBM Spectrum MPI";

TEST(SameMpi, FamiliesAreToldByTheirNames) {
  for (const std::string& version : {open_mpi_4, spectrum}) EXPECT_EQ(family_of(version), open_mpi);
  for (const std::string& version : {mpich_4, intel, mvapich, cray})
    EXPECT_EQ(family_of(version), mpich);
  EXPECT_EQ(family_of("Another MPI 1.0"), unknown);
  EXPECT_EQ(family_of(""), unknown);
}

TEST(SameMpi, OneFamilyAndUnknownOnesAreTaken) {
  for (const MpiFamily any : {open_mpi, mpich, standard_abi, unknown}) {
    EXPECT_EQ(wrong_mpi(any, any, mpich_4), "");
    EXPECT_EQ(wrong_mpi(any, unknown, "Another MPI 1.0"), "");
    EXPECT_EQ(wrong_mpi(unknown, any, open_mpi_4), "");
  }
}

TEST(SameMpi, TheSentenceNamesBoth) {
  EXPECT_EQ(wrong_mpi(open_mpi, mpich, mpich_4),
            "this libtonari was built for Open MPI, but the program runs with MPICH Version: "
            "4.0.2; link it with a libtonari that was built for that MPI");
  EXPECT_EQ(wrong_mpi(mpich, open_mpi, open_mpi_4),
            "this libtonari was built for MPICH or a relative of it, but the program runs with "
            "Open MPI v4.1.4; link it with a libtonari that was built for that MPI");
  EXPECT_EQ(wrong_mpi(standard_abi, open_mpi, open_mpi_4),
            "this libtonari was built for the standard ABI of MPI 5, but the program runs with "
            "Open MPI v4.1.4; link it with a libtonari that was built for that MPI");
  EXPECT_EQ(wrong_mpi(mpich, standard_abi, intel),
            "this libtonari was built for MPICH or a relative of it, but the program runs with "
            "Intel(R) MPI Library 2021.10 for Linux* OS, by the standard ABI of MPI 5; link it "
            "with a libtonari that was built for that MPI");
}

TEST(SameMpi, ThisProgramRunsWithItsOwn) {
  EXPECT_TRUE(is_same_mpi());
  EXPECT_NO_THROW(require_same_mpi(MPI_COMM_NULL));
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  EXPECT_NE(family_of(version.data()), unknown) << version.data();
}

}  // namespace
}  // namespace tonari
