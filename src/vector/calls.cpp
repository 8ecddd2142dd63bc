// The vector family as C functions.
#include "api/handles.hpp"
#include "api/request.hpp"
#include "tonari/vector.h"
#include "vector/request.hpp"

using namespace tonari;

struct tonari_vector_s {
  std::unique_ptr<SharedVector> vector;
};

namespace {

SharedVector& vector_of(tonari_vector vector) {
  require(vector, "vector");
  return *vector->vector;
}

int init(tonari_vector vector, const VectorCall& call, MPI_Info info, tonari_request* request) {
  return init_request(request, [&](Output output) {
    return prepare_vector(vector_of(vector), call, info, output);
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
    require_comm(comm, "comm");
    std::unique_ptr<tonari_vector_s> handle;
    const std::optional<Error> wrong =
        error_of([&] { handle = std::make_unique<tonari_vector_s>(); });
    handle->vector =
        make_vector(comm, {first, owned}, needed, indices, info, {vector, "vector"}, wrong);
    *vector = handle.release();
  });
}

extern "C" int tonari_vector_free(tonari_vector* vector) {
  return free_handle(vector, "vector",
                     [](tonari_vector_s& freed) -> Context& { return freed.vector->context(); });
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
    run_vector(vector_of(vector), {Direction::forward, values, MPI_OP_NULL, owned, ghosts});
  });
}

extern "C" int tonari_vector_reverse(tonari_vector vector, const tonari_vector_values* values,
                                     MPI_Op op, const void* ghosts, void* owned) {
  return guarded(
      [&] { run_vector(vector_of(vector), {Direction::reverse, values, op, owned, ghosts}); });
}

extern "C" int tonari_vector_get_facts(tonari_vector vector, tonari_vector_facts* facts) {
  return guarded([&] {
    const SharedVector& v = vector_of(vector);
    require(facts, "facts");
    *facts = facts_of(v);
  });
}
