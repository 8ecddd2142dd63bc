#include "engine/comm_context.hpp"

namespace tonari {

std::shared_ptr<Context> context_of(MPI_Comm comm) {
  const std::shared_ptr<SharedComm> shared = SharedComm::of(comm);
  std::shared_ptr<Context> context = shared->in_place.lock();
  if (!context) shared->in_place = context = std::make_shared<Context>(shared);
  return context;
}

}  // namespace tonari
