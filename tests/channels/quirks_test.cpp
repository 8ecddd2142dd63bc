// SPDX-License-Identifier: BSD-3-Clause
// Which mistakes an MPI is known for, by what it says of itself.
#include "mpi/quirks.hpp"

#include <gtest/gtest.h>

#include "mpi/library_version.hpp"

namespace tonari {
namespace {

const Quirks of_mpich_4{.neighbors = true, .alltoallw_in_place = true, .bytes_only = true};

TEST(Quirks, MpichFiveHasMendedSome) {
  EXPECT_EQ(quirks_of("MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7"), of_mpich_4);
  EXPECT_EQ(quirks_of("MPICH Version:\t4.3.1\n"), of_mpich_4);
  EXPECT_EQ(quirks_of("MPICH Version:      5.0.2\n"), Quirks{.bytes_only = true});
  EXPECT_EQ(quirks_of("MPICH Version:      10.0\n"), Quirks{.bytes_only = true});
}

TEST(Quirks, RelativesOfMpichCountAsMpichFour) {
  for (const char* version :
       {"Intel(R) MPI Library 2021.19 for Linux* OS\n", "MVAPICH2 Version      :\t2.3.7\n",
        "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\n"})
    EXPECT_EQ(quirks_of(version), of_mpich_4) << version;
}

TEST(Quirks, OpenMpiFiveMadeSome) {
  EXPECT_EQ(quirks_of("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"),
            Quirks{.idup_fails_at_world = true});
  const Quirks five{.graph_keeps_topology = true, .idup_spoils = true};
  EXPECT_EQ(quirks_of("Open MPI v5.0.11, package: Open MPI"), five);
}

TEST(Quirks, UnknownMpisHaveNone) {
  for (const char* version : {"", "Another MPI 5.0", "Open MPI v", "MPICH"})
    EXPECT_FALSE(quirks_of(version).graph_keeps_topology) << version;
  EXPECT_EQ(quirks_of("Another MPI 5.0"), Quirks{});
}

TEST(Quirks, ThisProgramHasThoseOfItsMpi) {
  EXPECT_FALSE(library_version().empty());
  EXPECT_EQ(quirks(), quirks_of(library_version()));
}

}  // namespace
}  // namespace tonari
