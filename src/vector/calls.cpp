// SPDX-License-Identifier: BSD-3-Clause
// The vector family as C functions.
#include <algorithm>

#include "neighborhood/request.hpp"
#include "request/free_handle.hpp"
#include "tonari/vector.h"
#include "vector/box_lists.hpp"
#include "vector/find_needs.hpp"
#include "vector/id_lists.hpp"
#include "vector/make_vector.hpp"
#include "vector/neighbor_lists.hpp"
#include "vector/one_shots.hpp"
#include "vector/range_lists.hpp"
#include "vector/request.hpp"

using namespace tonari;

struct tonari_vector_s {
  std::unique_ptr<SharedVector> vector;
  VectorOneShots one_shots;
};

namespace {

SharedVector& vector_of(tonari_vector vector) {
  require(vector, "vector");
  return *vector->vector;
}

int create(MPI_Comm comm, const VectorLists& lists, MPI_Info info, tonari_vector* vector,
           const char* comm_name = "comm") {
  return guarded([&] {
    require_comm(comm, comm_name);
    std::unique_ptr<tonari_vector_s> handle;
    const std::optional<Error> wrong =
        error_of([&] { handle = std::make_unique<tonari_vector_s>(); });
    handle->vector = make_vector(comm, lists, info, {vector, "vector"}, wrong);
    *vector = handle.release();
  });
}

int init(tonari_vector vector, const VectorCall& call, MPI_Info info, tonari_request* request) {
  return init_or_collect(
      request, [&](Output output) { return prepare_vector(vector_of(vector), call, info, output); },
      [&] {
        require_no_keys(info);
        return group_vector(vector_of(vector), call);
      });
}

int run(tonari_vector vector, const VectorCall& call) {
  return guarded([&] {
    SharedVector& shared = vector_of(vector);
    vector->one_shots.run(shared, call);
  });
}

// What one of the calls with a single field means; which of the buffers is written follows from the
// direction.
tonari_vector_field field_of(const tonari_vector_values* values, const void* owned,
                             const void* ghosts) {
  return {values ? *values : tonari_vector_values{},
          const_cast<void*>(owned),
          const_cast<void*>(ghosts),
          {}};
}

tonari_vector_facts facts_of(const SharedVector& vector) {
  const VectorPattern& pattern = vector.pattern();
  tonari_vector_facts facts{};
  facts.ghosts = pattern.ghosts;
  facts.owned_length = pattern.owned, facts.ghost_length = pattern.ghost_count;
  facts.stages = static_cast<int>(pattern.stages.size());
  for (const VectorStage& stage : pattern.stages) {
    facts.sources += static_cast<int>(stage.gets.size());
    facts.targets += static_cast<int>(stage.gives.size());
    for (const VectorMessage& m : stage.gets)
      facts.values_received += static_cast<std::int64_t>(m.values.size());
    for (const VectorMessage& m : stage.gives)
      facts.values_sent += static_cast<std::int64_t>(m.values.size());
  }
  vector.route().copy(facts.route, sizeof facts.route - 1);
  return facts;
}

}  // namespace

extern "C" int tonari_vector_create(MPI_Comm comm, int64_t first, int64_t owned, int64_t needed,
                                    const int64_t indices[], MPI_Info info, tonari_vector* vector) {
  return create(comm, RangeLists({first, owned}, needed, indices), info, vector);
}

extern "C" int tonari_vector_create_from_neighbors(MPI_Comm comm, int64_t owned, int sends,
                                                   const int destinations[], const int sendcounts[],
                                                   const int send_indices[], int receives,
                                                   const int sources[], const int recvcounts[],
                                                   const int recv_places[], MPI_Info info,
                                                   tonari_vector* vector) {
  return create(comm,
                NeighborLists(owned, {sends, destinations, sendcounts, send_indices},
                              {receives, sources, recvcounts, recv_places}),
                info, vector);
}

extern "C" int tonari_vector_create_from_ids(MPI_Comm comm, int64_t owned,
                                             const int64_t owned_ids[], const int owned_places[],
                                             int64_t needed, const int64_t needed_ids[],
                                             const int ghost_places[], MPI_Info info,
                                             tonari_vector* vector) {
  return create(comm, IdLists({owned, owned_ids, owned_places}, {needed, needed_ids, ghost_places}),
                info, vector);
}

extern "C" int tonari_vector_create_shared(MPI_Comm comm, int64_t count, const int64_t ids[],
                                           const int places[], MPI_Info info,
                                           tonari_vector* vector) {
  return create(comm, SharedIdLists({count, ids, places}), info, vector);
}

extern "C" int tonari_vector_create_box_nodes(MPI_Comm cart, const int cells[], MPI_Info info,
                                              tonari_vector* vector) {
  return create(cart, BoxNodes(cart, cells), info, vector, "cart");
}

extern "C" int tonari_vector_create_box_cells(MPI_Comm cart, const int cells[], int width,
                                              int along, MPI_Info info, tonari_vector* vector) {
  return create(cart, BoxCells(cart, cells, width, along), info, vector, "cart");
}

// ---- with counts of type MPI_Count, and places of type MPI_Aint

extern "C" int tonari_vector_create_from_neighbors_c(
    MPI_Comm comm, int64_t owned, int sends, const int destinations[], const MPI_Count sendcounts[],
    const MPI_Aint send_indices[], int receives, const int sources[], const MPI_Count recvcounts[],
    const MPI_Aint recv_places[], MPI_Info info, tonari_vector* vector) {
  return create(comm,
                NeighborLists(owned, {sends, destinations, sendcounts, send_indices},
                              {receives, sources, recvcounts, recv_places}),
                info, vector);
}

extern "C" int tonari_vector_create_from_ids_c(MPI_Comm comm, int64_t owned,
                                               const int64_t owned_ids[],
                                               const MPI_Aint owned_places[], int64_t needed,
                                               const int64_t needed_ids[],
                                               const MPI_Aint ghost_places[], MPI_Info info,
                                               tonari_vector* vector) {
  return create(comm, IdLists({owned, owned_ids, owned_places}, {needed, needed_ids, ghost_places}),
                info, vector);
}

extern "C" int tonari_vector_create_shared_c(MPI_Comm comm, int64_t count, const int64_t ids[],
                                             const MPI_Aint places[], MPI_Info info,
                                             tonari_vector* vector) {
  return create(comm, SharedIdLists({count, ids, places}), info, vector);
}

extern "C" int tonari_vector_create_box_nodes_c(MPI_Comm cart, const MPI_Count cells[],
                                                MPI_Info info, tonari_vector* vector) {
  return create(cart, BoxNodes(cart, cells), info, vector, "cart");
}

extern "C" int tonari_vector_create_box_cells_c(MPI_Comm cart, const MPI_Count cells[], int width,
                                                int along, MPI_Info info, tonari_vector* vector) {
  return create(cart, BoxCells(cart, cells, width, along), info, vector, "cart");
}

extern "C" int tonari_vector_renumber(MPI_Comm comm, int64_t owned, const int64_t owned_ids[],
                                      int64_t needed, const int64_t needed_ids[], int64_t* first,
                                      int64_t indices[]) {
  return guarded([&] {
    require_comm(comm, "comm");
    const bool lost = needed > 0 && !indices;
    const Renumbering found =
        renumber(comm, IdLists({owned, owned_ids, nullptr}, {needed, needed_ids, nullptr}),
                 lost ? Output{indices, "indices"} : Output{first, "first"});
    *first = found.own.first;
    std::ranges::copy(found.needed, indices);
  });
}

extern "C" int tonari_vector_free(tonari_vector* vector) {
  return free_handle(vector, "vector",
                     [](tonari_vector_s& freed) -> Context& { return freed.vector->context(); });
}

extern "C" int tonari_vector_forward_init(tonari_vector vector, const tonari_vector_values* values,
                                          const void* owned, void* ghosts, MPI_Info info,
                                          tonari_request* request) {
  const tonari_vector_field field = field_of(values, owned, ghosts);
  return tonari_vector_forward_fields_init(vector, 1, &field, info, request);
}

extern "C" int tonari_vector_reverse_init(tonari_vector vector, const tonari_vector_values* values,
                                          MPI_Op op, const void* ghosts, void* owned, MPI_Info info,
                                          tonari_request* request) {
  const tonari_vector_field field = field_of(values, owned, ghosts);
  return tonari_vector_reverse_fields_init(vector, 1, &field, op, info, request);
}

extern "C" int tonari_vector_forward(tonari_vector vector, const tonari_vector_values* values,
                                     const void* owned, void* ghosts) {
  const tonari_vector_field field = field_of(values, owned, ghosts);
  return tonari_vector_forward_fields(vector, 1, &field);
}

extern "C" int tonari_vector_reverse(tonari_vector vector, const tonari_vector_values* values,
                                     MPI_Op op, const void* ghosts, void* owned) {
  const tonari_vector_field field = field_of(values, owned, ghosts);
  return tonari_vector_reverse_fields(vector, 1, &field, op);
}

extern "C" int tonari_vector_forward_fields_init(tonari_vector vector, int fields,
                                                 const tonari_vector_field field[], MPI_Info info,
                                                 tonari_request* request) {
  return init(vector, {Direction::forward, MPI_OP_NULL, fields, field}, info, request);
}

extern "C" int tonari_vector_reverse_fields_init(tonari_vector vector, int fields,
                                                 const tonari_vector_field field[], MPI_Op op,
                                                 MPI_Info info, tonari_request* request) {
  return init(vector, {Direction::reverse, op, fields, field}, info, request);
}

extern "C" int tonari_vector_forward_fields(tonari_vector vector, int fields,
                                            const tonari_vector_field field[]) {
  return run(vector, {Direction::forward, MPI_OP_NULL, fields, field});
}

extern "C" int tonari_vector_reverse_fields(tonari_vector vector, int fields,
                                            const tonari_vector_field field[], MPI_Op op) {
  return run(vector, {Direction::reverse, op, fields, field});
}

extern "C" int tonari_vector_combine_init(tonari_vector vector, const tonari_vector_values* values,
                                          MPI_Op op, void* owned, void* ghosts, MPI_Info info,
                                          tonari_request* request) {
  const tonari_vector_field field = field_of(values, owned, ghosts);
  return tonari_vector_combine_fields_init(vector, 1, &field, op, info, request);
}

extern "C" int tonari_vector_combine(tonari_vector vector, const tonari_vector_values* values,
                                     MPI_Op op, void* owned, void* ghosts) {
  const tonari_vector_field field = field_of(values, owned, ghosts);
  return tonari_vector_combine_fields(vector, 1, &field, op);
}

extern "C" int tonari_vector_combine_fields_init(tonari_vector vector, int fields,
                                                 const tonari_vector_field field[], MPI_Op op,
                                                 MPI_Info info, tonari_request* request) {
  return init(vector, {Direction::combine, op, fields, field}, info, request);
}

extern "C" int tonari_vector_combine_fields(tonari_vector vector, int fields,
                                            const tonari_vector_field field[], MPI_Op op) {
  return run(vector, {Direction::combine, op, fields, field});
}

extern "C" int tonari_vector_get_facts(tonari_vector vector, tonari_vector_facts* facts) {
  return guarded([&] {
    const SharedVector& v = vector_of(vector);
    require(facts, "facts");
    *facts = facts_of(v);
  });
}
