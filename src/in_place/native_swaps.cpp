// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/native_swaps.hpp"

#include <limits>

#include "channels/abandon.hpp"
#include "mpi/large_type.hpp"
#include "mpi/quirks.hpp"

namespace tonari {
namespace {

std::vector<std::int32_t> all_but(int rank, std::size_t ranks) {
  std::vector<std::int32_t> others;
  for (std::int32_t other = 0; other < static_cast<std::int32_t>(ranks); ++other)
    if (other != rank) others.push_back(other);
  return others;
}

}  // namespace

NativeSwaps::NativeSwaps(std::shared_ptr<const OwnedComm> comm, const TypedBlocks& blocks, int rank,
                         std::shared_ptr<const Node> node, double timeout)
    : RequestExchange(std::move(comm), std::move(node), all_but(rank, blocks.of.size()), timeout),
      buffer_(blocks.buffer),
      regular_(blocks.regular) {
  if (!regular_ && quirks().alltoallw_in_place)
    fail(Errc::algorithm, "this MPI's MPI_Ialltoallw fails in place on some ranks");
  TypeDuplicates duplicate(owned_);
  for (const TypedBlock& block : blocks.of) {
    if (!regular_ && block.displacement > std::numeric_limits<int>::max())
      fail(Errc::algorithm, "MPI_Alltoallw counts displacements as int; one is ",
           block.displacement);
    const MPI_Count size = size_of_type(block.type);
    const bool sent = static_cast<int>(counts_.size()) != rank && block.count > 0 && size > 0;
    messages_ += sent;
    bytes_ += sent ? static_cast<Bytes>(size) * static_cast<Bytes>(block.count) : 0;
    const CountedType counted = with_int_count(block.count, duplicate(block.type), owned_);
    counts_.push_back(counted.count);
    displacements_.push_back(static_cast<int>(block.displacement));
    types_.push_back(counted.type);
  }
}

NativeSwaps::~NativeSwaps() {
  if (active_)
    leak(std::move(counts_), std::move(displacements_), std::move(types_), std::move(owned_),
         std::move(comm_));
}

void NativeSwaps::start() {
  check_mpi(regular_ ? MPI_Ialltoall(MPI_IN_PLACE, counts_[0], types_[0], buffer_, counts_[0],
                                     types_[0], comm_->get(), &request_)
                     : MPI_Ialltoallw(MPI_IN_PLACE, counts_.data(), displacements_.data(),
                                      types_.data(), buffer_, counts_.data(), displacements_.data(),
                                      types_.data(), comm_->get(), &request_),
            regular_ ? "MPI_Ialltoall" : "MPI_Ialltoallw");
  active_ = true;
}

}  // namespace tonari
