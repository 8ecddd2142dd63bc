// SPDX-License-Identifier: BSD-3-Clause
// The fixture of tests of wrong calls: a neighborhood, and a check that it still works afterwards.
#pragma once

#include "support/oracle.hpp"
#include "support/same_error.hpp"

namespace tonari::test {

class Errors : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    last = ranks - 1;
    t = torus_of_all(2);
    t.offsets = {0, 1, 0, -1, 1, 0, -1, 0};
    cart = make_cart(t);
    ASSERT_OK(create(4, t.offsets));
  }
  void TearDown() override {
    tonari_neighborhood_free(&near);
    MPI_Comm_free(&cart);
  }

  int create(int s, const std::vector<int>& offsets) {
    return tonari_neighborhood_create_cart(cart, s, offsets.data(), quick, &near);
  }

  // Nothing has happened: an exchange on the same neighborhood works.
  void expect_usable() {
    Random random(3);
    std::vector<int> four(4, 8);
    Buffers b{Operation::alltoall,
              regular_side(random, Style::plain, 4, 8),
              regular_side(random, Style::plain, 4, 8),
              {}};
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(init(b.op, b.out, b.in, near, quick, &request));
    b.prepare(rank, 1);
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    EXPECT_EQ(b.wrong(t, rank, 1), "");
    EXPECT_OK(tonari_request_free(&request));
  }

  int alltoall(const void* out, int n, void* in, int m, MPI_Info info) {
    request = unchanged();
    const int code = tonari_alltoall_init(out, n, MPI_INT, in, m, MPI_INT, near, info, &request);
    EXPECT_EQ(request != unchanged(), code == TONARI_SUCCESS)
        << "output is written on success only";
    return code;
  }
  int alltoall(MPI_Info info) { return alltoall(send, 2, recv, 2, info); }
  static tonari_request unchanged() {
    return reinterpret_cast<tonari_request>(static_cast<std::uintptr_t>(0x40));
  }

  int rank = 0, ranks = 1, last = 0;
  Topology t;
  MPI_Comm cart = MPI_COMM_NULL;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request = TONARI_REQUEST_NULL;
  Info quick{{"tonari_tune", "off"}};
  int send[64] = {}, recv[64] = {};
};

}  // namespace tonari::test
