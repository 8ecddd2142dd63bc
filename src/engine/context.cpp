#include "engine/context.hpp"

#include "channels/mpi_error.hpp"
#include "engine/calibrate.hpp"

namespace tonari {

namespace {

std::shared_ptr<const OwnedComm> duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  return std::make_shared<const OwnedComm>(copy);
}

}  // namespace

Context::Context(MPI_Comm comm, std::shared_ptr<const Neighborhood> near, Settings settings)
    : comm_(duplicate(comm)), near_(std::move(near)), settings_(std::move(settings)) {
  MPI_Comm_rank(comm_->get(), &rank_);
  MPI_Comm_size(comm_->get(), &ranks_);
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);  // attached to no other communicator
  if (found) most_tag_ = *static_cast<int*>(value);
}

void Context::reserve_tags(std::size_t count) {
  const auto needed = static_cast<std::int64_t>(count);
  if (needed - 1 > most_tag_) fail(Errc::overflow, "the exchange needs ", count, " message tags, this MPI has ", most_tag_ + 1, "; choose an algorithm that combines messages");
  if (next_tag_ + needed - 1 <= most_tag_) return;
  comm_ = duplicate(comm_->get());  // exchanges that use the old one keep it
  next_tag_ = 0;
}

std::shared_ptr<const OwnedComm> Context::graph() {
  if (!graph_) graph_ = std::make_shared<const OwnedComm>(make_graph(comm_->get(), *near_, rank_));
  return graph_;
}

const std::string& Context::machine_key() {
  if (machine_key_.empty()) machine_key_ = tonari::machine_key(comm_->get());
  return machine_key_;
}

const LogGP& Context::machine() {
  if (!machine_) machine_ = machine_parameters(comm_->get(), machine_key());
  return *machine_;
}

}  // namespace tonari
