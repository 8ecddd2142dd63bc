// The vector family as C functions.
#include "api/guard.hpp"
#include "api/handles.hpp"
#include "api/request.hpp"
#include "tonari/vector.h"
#include "vector/request.hpp"

using namespace tonari;

struct tonari_vector_s {
  std::unique_ptr<SharedVector> vector;
};

namespace {

SharedVector& require(tonari_vector vector) {
  if (!vector) fail(Errc::argument, "the vector is null");
  return *vector->vector;
}

int init(tonari_vector vector, const VectorCall& call, MPI_Info info, tonari_request* request) {
  return guarded([&] {
    *request = request_of(prepare_vector(require(vector), call, info, request != nullptr));
  });
}

tonari_vector_facts facts_of(const SharedVector& vector) {
  const VectorPattern& pattern = vector.pattern();
  tonari_vector_facts facts{};
  facts.ghosts = pattern.ghosts;
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
  return guarded([&] {
    if (comm == MPI_COMM_NULL) fail(Errc::argument, "the communicator is MPI_COMM_NULL");
    std::unique_ptr<tonari_vector_s> handle;
    const std::optional<Error> wrong = caught([&] {
      handle = std::make_unique<tonari_vector_s>();
      if (!vector) fail(Errc::argument, "the place for the new vector is null");
    });
    handle->vector = make_vector(comm, {first, owned}, needed, indices, info, wrong);
    *vector = handle.release();
  });
}

extern "C" int tonari_vector_free(tonari_vector* vector) {
  return guarded([&] {
    if (!vector) fail(Errc::argument, "the address of the vector is null");
    const std::shared_ptr<SharedComm> shared =
        *vector && mpi_usable() ? (*vector)->vector->context().share() : nullptr;
    delete *vector;
    *vector = TONARI_VECTOR_NULL;
    if (shared) shared->trim_windows();
  });
}

extern "C" int tonari_vector_forward_init(tonari_vector vector, const tonari_vector_values* values,
                                          const void* owned, void* ghosts, MPI_Info info,
                                          tonari_request* request) {
  return init(vector, {Direction::forward, values, MPI_OP_NULL, owned, ghosts}, info, request);
}

extern "C" int tonari_vector_reverse_init(tonari_vector vector, const tonari_vector_values* values,
                                          MPI_Op op, const void* ghosts, void* owned, MPI_Info info,
                                          tonari_request* request) {
  return init(vector, {Direction::reverse, values, op, owned, ghosts}, info, request);
}

extern "C" int tonari_vector_forward(tonari_vector vector, const tonari_vector_values* values,
                                     const void* owned, void* ghosts) {
  return guarded([&] {
    run_vector(require(vector), {Direction::forward, values, MPI_OP_NULL, owned, ghosts});
  });
}

extern "C" int tonari_vector_reverse(tonari_vector vector, const tonari_vector_values* values,
                                     MPI_Op op, const void* ghosts, void* owned) {
  return guarded(
      [&] { run_vector(require(vector), {Direction::reverse, values, op, owned, ghosts}); });
}

extern "C" int tonari_vector_get_facts(tonari_vector vector, tonari_vector_facts* facts) {
  return guarded([&] {
    const SharedVector& v = require(vector);
    if (!facts) fail(Errc::argument, "the place for the facts is null");
    *facts = facts_of(v);
  });
}
