// SPDX-License-Identifier: BSD-3-Clause
// Calls for messages to ranks that do not expect them.
#pragma once

#include <tonari/sparse.h>

#include <vector>

#include "engine/collective_call.hpp"

namespace tonari::test {

// Everybody sends to everybody, itself included: short messages, or also one to the next rank that
// is too long to be kept ready.
struct SparseCall : Call {
  const Info info;
  const bool is_long;
  std::vector<int> destinations;
  std::vector<MPI_Count> counts;
  std::vector<double> values;
  tonari_messages messages = TONARI_MESSAGES_NULL;
  SparseCall(const char* algorithm, bool with_a_long_one)
      : info{{"tonari_algorithm", algorithm}}, is_long(with_a_long_one) {
    for (int r = world_size() - 1; r >= 0; --r) {
      destinations.push_back(r);
      counts.push_back(is_long && r == (world_rank() + 1) % world_size() ? 20000 : 3);
    }
    MPI_Count all = 0;
    for (const MPI_Count count : counts) all += count;
    values.assign(static_cast<std::size_t>(all), world_rank());
  }
  int make() override {
    return tonari_sparse_alltoallv(world_size(), destinations.data(), counts.data(), nullptr,
                                   MPI_DOUBLE, values.data(), MPI_COMM_WORLD, info, &messages);
  }
  void use() override {
    ASSERT_EQ(messages->count, world_size());
    for (int k = 0; k < world_size(); ++k) {
      EXPECT_EQ(messages->sources[k], k);
      EXPECT_EQ(static_cast<const double*>(messages->data)[messages->displs[k]], k);
    }
  }
  void drop() override { EXPECT_OK(tonari_messages_free(&messages)); }
};

// Errors come at completion.
struct SparseInFlightCall : SparseCall {
  using SparseCall::SparseCall;
  int make() override {
    tonari_request request = TONARI_REQUEST_NULL;
    int code = tonari_sparse_ialltoallv(world_size(), destinations.data(), counts.data(), nullptr,
                                        MPI_DOUBLE, values.data(), MPI_COMM_WORLD, info, &messages,
                                        &request);
    if (code == TONARI_SUCCESS) code = tonari_wait(request);
    EXPECT_OK(tonari_request_free(&request));
    return code;
  }
};

struct NearFromDestinations : Call {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  int make() override {
    const int to[] = {(world_rank() + 1) % world_size(), 0};
    return tonari_neighborhood_create_from_destinations(MPI_COMM_WORLD, 2, to, MPI_INFO_NULL,
                                                        &near);
  }
  void drop() override { EXPECT_OK(tonari_neighborhood_free(&near)); }
};

}  // namespace tonari::test
