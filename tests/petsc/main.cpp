// SPDX-License-Identifier: BSD-3-Clause
// main() of the tests of libtonari_petsc: support/mpi_main.cpp with PETSc around the tests. Their
// type of star forest is added by the call.
#include <gtest/gtest.h>
#include <petscsys.h>
#include <tonari/petsc.h>

namespace {

class Petsc : public testing::Environment {
  void SetUp() override {
    ASSERT_EQ(static_cast<int>(PetscInitializeNoArguments()), 0);
    ASSERT_EQ(static_cast<int>(tonari_petsc_register()), 0);
    ASSERT_EQ(static_cast<int>(tonari_petsc_register()), 0) << "it may be called again";
  }
  void TearDown() override { EXPECT_EQ(static_cast<int>(PetscFinalize()), 0); }
};

[[maybe_unused]] const testing::Environment* const petsc =
    testing::AddGlobalTestEnvironment(new Petsc);

}  // namespace
