// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tune/tree_sum.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "channels/abandon.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {

TreeSum::TreeSum(std::shared_ptr<const OwnedComm> comm, int tag)
    : comm_(std::move(comm)), tag_(tag) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm_->get(), &rank);
  MPI_Comm_size(comm_->get(), &ranks);
  if (rank > 0) parent_ = (rank - 1) / 2;
  for (std::int64_t child = 2 * std::int64_t{rank} + 1; child <= 2 * std::int64_t{rank} + 2;
       ++child)
    if (child < ranks) children_[child_count_++] = static_cast<int>(child);
}

TreeSum::~TreeSum() {
  const bool comes = abandon(incoming_, [](std::size_t) { return false; });
  if (abandon(outgoing_, [](std::size_t) { return true; }) || comes) leak(std::move(memory_));
}

void TreeSum::start(std::span<const double> numbers) {
  memory_->sums = {};
  std::ranges::copy(numbers, memory_->sums.begin());
  for (std::size_t k = 0; k < child_count_; ++k)
    receive(memory_->from_children[k], children_[k], incoming_[k]);
  stage_ = Stage::gathering;
  advance();
}

bool TreeSum::advance() {
  const Stage before = stage_;
  if (stage_ == Stage::gathering && complete(incoming_)) pass_up();
  if (stage_ == Stage::waiting && complete(std::span(incoming_).first(1))) pass_down();
  if (stage_ == Stage::telling && complete(outgoing_)) stage_ = Stage::idle;
  return stage_ != before;
}

// The order of the additions is always the same.
void TreeSum::pass_up() {
  Numbers& sums = memory_->sums;
  for (std::size_t k = 0; k < child_count_; ++k)
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += memory_->from_children[k][n];
  check(sums);
  if (parent_ == MPI_PROC_NULL) return pass_down();
  // it arrives where the message up is kept: that has left when the parent answers
  memory_->from_children[0] = sums;
  send(memory_->from_children[0], parent_, outgoing_[2]);
  receive(sums, parent_, incoming_[0]);
  stage_ = Stage::waiting;
}

void TreeSum::pass_down() {
  check(memory_->sums);
  for (std::size_t k = 0; k < child_count_; ++k) send(memory_->sums, children_[k], outgoing_[k]);
  stage_ = Stage::telling;
}

bool TreeSum::complete(std::span<MPI_Request> requests) {
  int all = 0;
  call_mpi("MPI_Testall", [&] {
    return MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all,
                       MPI_STATUSES_IGNORE);
  });
  return all != 0;
}

void TreeSum::send(const Numbers& numbers, int rank, MPI_Request& request) {
  check_mpi(MPI_Isend(numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, rank, tag_,
                      comm_->get(), &request),
            "MPI_Isend");
}

void TreeSum::receive(Numbers& numbers, int rank, MPI_Request& request) {
  check_mpi(MPI_Irecv(numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, rank, tag_,
                      comm_->get(), &request),
            "MPI_Irecv");
}

void TreeSum::check(const Numbers& numbers) const {
  if (numbers.back() != 0)
    fail(Errc::peer,
         "a rank has ended its part of an exchange whose candidates were still being compared; "
         "make a new request");
}

// The messages stand where this rank's next ones are expected. Errors no longer matter.
void TreeSum::give_up() {
  static constexpr Numbers given_up = [] {
    Numbers numbers{};
    numbers.back() = 1;
    return numbers;
  }();
  const auto tell = [&](int rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(given_up.data(), static_cast<int>(given_up.size()), MPI_DOUBLE, rank, tag_,
                  comm_->get(), &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  };
  if (parent_ != MPI_PROC_NULL) tell(parent_);
  for (const int child : children()) tell(child);
}

bool TreeSum::arrived(MPI_Request request) {
  int complete = 1;
  if (request != MPI_REQUEST_NULL)
    check_mpi(MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE),
              "MPI_Request_get_status");
  return complete != 0;
}

void TreeSum::awaits(Awaited& awaited, const Node* node) const {
  constexpr Bytes bytes = sizeof(Numbers);
  const auto from = [&](int rank) { awaited.add(Awaited::What::message, node, rank, 0, bytes); };
  if (stage_ == Stage::waiting && !arrived(incoming_[0])) from(parent_);
  for (std::size_t k = 0; stage_ == Stage::gathering && k < child_count_; ++k)
    if (!arrived(incoming_[k])) from(children_[k]);
}

}  // namespace tonari
