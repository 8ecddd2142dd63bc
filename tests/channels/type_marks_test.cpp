// SPDX-License-Identifier: BSD-3-Clause
// What other threads free while a thread marks a type, or reads its mark, in a program with
// sessions alone.
#include "mpi/type_marks.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "faults.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {
namespace {

using test::called, test::faults;

class TypeMarks : public testing::Test {
 protected:
  static MPI_Datatype type_of(int count) {
    MPI_Datatype made;
    MPI_Type_contiguous(count, MPI_INT, &made);
    return made;
  }
  const test::NoFaultsAfterwards no_faults;
  MPI_Datatype other = type_of(3), type = type_of(4);
};

TEST_F(TypeMarks, TheKeyStaysWhileATypeIsMarked) {
  faults().no_world = true;
  (void)named_type(other);
  const long before = called().type_keys_freed;
  faults().before_type_attribute_is_set = [&] { MPI_Type_free(&other); };
  const NamedType marked = named_type(type);
  EXPECT_EQ(called().type_keys_freed, before);
  EXPECT_TRUE(marked.is(type));
  MPI_Type_free(&type);
  EXPECT_EQ(called().type_keys_freed, before + 1) << "with the last mark";
}

TEST_F(TypeMarks, TheKeyStaysWhileAMarkIsRead) {
  faults().no_world = true;
  (void)named_type(other);
  const long before = called().type_keys_freed;
  faults().before_type_attribute_is_read = [&] { MPI_Type_free(&other); };
  (void)named_type(type);
  EXPECT_EQ(called().type_keys_freed, before);
  MPI_Type_free(&type);
  EXPECT_EQ(called().type_keys_freed, before + 1) << "with the last mark";
}

TEST_F(TypeMarks, WithoutAnyCommunicatorThereIsASentence) {
  faults().no_world = true;
  try {
    with_any_comm([](MPI_Comm) { FAIL() << "there is none"; });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("this datatype can only be read once there is a"), 0u)
        << error.what();
  }
  MPI_Type_free(&other), MPI_Type_free(&type);
}

}  // namespace
}  // namespace tonari
