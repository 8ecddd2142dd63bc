#include "engine/context.hpp"

#include "channels/mpi_error.hpp"
#include "engine/calibrate.hpp"

namespace tonari {

Context::Context(MPI_Comm comm, std::shared_ptr<const Neighborhood> near, Settings settings) : near_(std::move(near)), settings_(std::move(settings)) {
  check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm_, MPI_TAG_UB, &value, &found);
  if (found) most_tag_ = *static_cast<int*>(value);
}

Context::~Context() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) {  // too late to free anything
    if (graph_) new std::shared_ptr<const GraphComm>(graph_);
    return;
  }
  graph_.reset();
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

int Context::take_tags(std::size_t count) {
  const std::int64_t first = next_tag_;
  if (first + static_cast<std::int64_t>(count) - 1 > most_tag_)
    fail(Errc::overflow, "the ", most_tag_, " message tags of this neighborhood are used up; create it anew, or create requests once and start them often");
  next_tag_ += static_cast<std::int64_t>(count);
  return static_cast<int>(first);
}

std::shared_ptr<const GraphComm> Context::graph() {
  if (!graph_) graph_ = std::make_shared<const GraphComm>(comm_, *near_, rank_);
  return graph_;
}

const std::string& Context::machine_key() {
  if (machine_key_.empty()) machine_key_ = tonari::machine_key(comm_);
  return machine_key_;
}

const LogGP& Context::machine() {
  if (!machine_) machine_ = machine_parameters(comm_, machine_key());
  return *machine_;
}

}  // namespace tonari
