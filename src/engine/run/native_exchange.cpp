// SPDX-License-Identifier: BSD-3-Clause
#include "engine/run/native_exchange.hpp"

#include <algorithm>

#include "channels/abandon.hpp"

namespace tonari {
namespace {

// Ascending, each once.
std::vector<std::int32_t> others(const Vertex& vertex) {
  std::vector<std::int32_t> all = vertex.sources;
  all.insert(all.end(), vertex.targets.begin(), vertex.targets.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase_if(all, [&](std::int32_t rank) { return rank < 0 || rank == vertex.rank; });
  return all;
}

}  // namespace

NativeExchange::NativeExchange(Context& context, const Arguments& arguments,
                               std::shared_ptr<const OwnedComm> graph, double timeout)
    : RequestExchange(std::move(graph), context.node(), others(context.vertex()), timeout),
      arguments_(arguments, context.vertex(), context.topology().shape),
      persistent_(has_persistent_neighborhood_collectives()) {
  messages_ = static_cast<int>(arguments_.send_counts.size()) - 1;
  bytes_ = arguments_.bytes();
  stay_together(context.comm());
  if (persistent_) request_ = native_init(arguments_, comm_->get());
}

NativeExchange::~NativeExchange() {
  if (active_) leak(std::move(arguments_), std::move(comm_));
}

void NativeExchange::start() {
  if (persistent_)
    call_mpi("MPI_Start", [&] { return MPI_Start(&request_); });
  else
    request_ = native_start(arguments_, comm_->get());
  active_ = true;
}

// MPI's persistent collective keeps its buffers, so it is given up. Also where nothing has moved:
// other ranks' buffers may have, and all must call the same collective.
void NativeExchange::rebind(Shifts shifts) {
  if (persistent_) check_mpi(MPI_Request_free(&request_), "MPI_Request_free");
  persistent_ = false;
  shifts_.resize(shifts.size());
  if (std::ranges::equal(shifts, shifts_)) return;
  std::vector<std::ptrdiff_t>& by = shifts_;
  for (std::size_t k = 0; k < by.size(); ++k) by[k] = shifts[k] - by[k];
  arguments_.move(by);
  shifts_.assign(shifts.begin(), shifts.end());
}

}  // namespace tonari
