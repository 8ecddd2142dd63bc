// SPDX-License-Identifier: BSD-3-Clause
// Calls of vectors.
#pragma once

#include <tonari/vector.h>

#include <memory>
#include <numeric>
#include <vector>

#include "engine/collective_call.hpp"

namespace tonari::test {

// Everybody owns ten values and needs all values of the others.
struct VectorData {
  std::vector<std::int64_t> needs;
  std::vector<double> owned = std::vector<double>(10, 1.5), ghosts;
  VectorData() {
    for (int i = 0; i < 10 * world_size(); ++i)
      if (i / 10 != world_rank()) needs.push_back(i);
    ghosts.resize(needs.size());
  }
  int create(MPI_Info info, tonari_vector* vector) const {
    return tonari_vector_create(MPI_COMM_WORLD, 10 * world_rank(), 10,
                                static_cast<std::int64_t>(needs.size()), needs.data(), info,
                                vector);
  }
};

struct MakeVector : Call {
  const Info info;
  const VectorData data;
  tonari_vector vector = TONARI_VECTOR_NULL;
  explicit MakeVector(const char* route) : info{{"tonari_route", route}} {}
  int make() override { return data.create(info, &vector); }
  void drop() override { EXPECT_OK(tonari_vector_free(&vector)); }
};

struct VectorInit : Requesting {
  const bool reverse;
  const Info info;
  VectorData data;
  tonari_vector vector = TONARI_VECTOR_NULL;
  VectorInit(bool backwards, const char* tune) : reverse(backwards), info{{"tonari_tune", tune}} {}
  void set_up() override { EXPECT_OK(data.create(MPI_INFO_NULL, &vector)); }
  int make() override {
    tonari_vector_values values{};
    values.type = MPI_DOUBLE;
    return reverse ? tonari_vector_reverse_init(vector, &values, MPI_SUM, data.ghosts.data(),
                                                data.owned.data(), info, &request)
                   : tonari_vector_forward_init(vector, &values, data.owned.data(),
                                                data.ghosts.data(), info, &request);
  }
  void tear_down() override { EXPECT_OK(tonari_vector_free(&vector)); }
};

struct VectorOnce : VectorInit {
  VectorOnce() : VectorInit(false, "auto") {}
  int make() override {
    return tonari_vector_forward(vector, nullptr, data.owned.data(), data.ghosts.data());
  }
  void use() override {}
  void drop() override {}
};

// Values of a kind that is new to a vector whose ranks are connected.
struct VectorOnceMore : VectorOnce {
  void set_up() override {
    VectorOnce::set_up();
    EXPECT_OK(VectorOnce::make());
  }
  int make() override {
    tonari_vector_values values{};
    values.type = MPI_FLOAT, values.components = 2;
    return tonari_vector_forward(vector, &values, data.owned.data(), data.ghosts.data());
  }
};

// The same, of numbers with gaps or of neighbor lists.
struct MakeVectorOfLists : MakeVector {
  const bool ids;
  std::vector<std::int64_t> own_ids, ids_needed = data.needs;
  std::vector<int> ranks, tens, all, places;
  explicit MakeVectorOfLists(bool of_ids) : MakeVector("direct"), ids(of_ids) {
    for (int i = 0; i < 10; ++i) own_ids.push_back(1000 - 7 * (10 * world_rank() + i));
    for (std::int64_t& id : ids_needed) id = 1000 - 7 * id;
    for (int r = 0; r < world_size(); ++r) {
      if (r == world_rank()) continue;
      ranks.push_back(r), tens.push_back(10);
      for (int i = 0; i < 10; ++i) all.push_back(i);
    }
    for (std::size_t k = 0; k < ids_needed.size(); ++k) places.push_back(static_cast<int>(k));
  }
  int make() override {
    if (ids)
      return tonari_vector_create_from_ids(MPI_COMM_WORLD, 10, own_ids.data(), nullptr,
                                           static_cast<std::int64_t>(ids_needed.size()),
                                           ids_needed.data(), places.data(), info, &vector);
    const int lists = static_cast<int>(ranks.size());
    return tonari_vector_create_from_neighbors(MPI_COMM_WORLD, 10, lists, ranks.data(), tens.data(),
                                               all.data(), lists, ranks.data(), tens.data(),
                                               places.data(), info, &vector);
  }
};

struct VectorFieldsInit : VectorInit {
  std::vector<float> more = std::vector<float>(10, 2.5f),
                     more_ghosts = std::vector<float>(data.ghosts.size());
  VectorFieldsInit() : VectorInit(true, "off") {}
  int make() override {
    tonari_vector_field fields[2] = {};
    fields[0].owned = data.owned.data(), fields[0].ghosts = data.ghosts.data();
    fields[1].values.type = MPI_FLOAT, fields[1].owned = more.data(),
    fields[1].ghosts = more_ghosts.data();
    return tonari_vector_reverse_fields_init(vector, 2, fields, MPI_SUM, info, &request);
  }
};

}  // namespace tonari::test
