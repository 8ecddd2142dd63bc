// SPDX-License-Identifier: BSD-3-Clause
// Long messages go in parts from where they lie to their final place. Those from one rank to
// another are received in the order in which they are sent.
#include "channels/control_tags.hpp"

#include <tuple>
#include "engine/wait/request_list.hpp"
#include "mpi/mpi_error.hpp"
#include "sparse/superstep.hpp"

namespace tonari {
namespace {

class LongTransfers final : public Superstep {
 public:
  explicit LongTransfers(SparseState& state) : state_(state) {}

  void load() override;
  void start() override;
  Seen look() override { return requests_.done() ? Seen::all : Seen::nothing; }

 private:
  bool is_long(const SparseMessage& message) const {
    return message.to != state_.rank && !state_.packing.is_short(message.bytes);
  }
  template <class Work>
  void each_part(Bytes bytes, Work work) const {
    for (Bytes at = 0; at < bytes; at += state_.limits.part)
      work(at, static_cast<int>(std::min(bytes - at, state_.limits.part)));
  }

  SparseState& state_;
  RequestList requests_;
};

// For as many as there is room for, and for those that are known.
void LongTransfers::load() {
  const auto& [bytes, limits] = std::tie(state_.reserved.bytes, state_.limits);
  std::size_t parts = 2 * (bytes / limits.short_most + bytes / limits.part);
  for (const SparseInbox::Entry& entry : state_.inbox.entries())
    if (!entry.address) parts += entry.bytes / limits.part + 1;
  for (const SparseMessage& m : state_.task->messages)
    if (is_long(m)) parts += m.bytes / limits.part + 1;
  requests_.reserve(parts);
}

void LongTransfers::start() {
  const std::span<const SparseInbox::Entry> entries = state_.inbox.entries();
  for (std::size_t k = 0; k < entries.size(); ++k)
    if (!entries[k].address) {
      std::byte* const to =
          &state_.result->data[static_cast<std::size_t>(state_.result->places[k])];
      each_part(entries[k].bytes, [&](Bytes at, int bytes) {
        check_mpi(MPI_Irecv(to + at, bytes, MPI_BYTE, entries[k].source, sparse_long, state_.comm,
                            requests_.add()),
                  "MPI_Irecv");
      });
    }
  for (const SparseMessage& m : state_.task->messages)
    if (is_long(m))
      each_part(m.bytes, [&](Bytes at, int bytes) {
        check_mpi(MPI_Isend(m.address + at, bytes, MPI_BYTE, m.to, sparse_long, state_.comm,
                            requests_.add()),
                  "MPI_Isend");
      });
}

}  // namespace

std::unique_ptr<Superstep> make_long_transfers(SparseState& state) {
  return std::make_unique<LongTransfers>(state);
}

}  // namespace tonari
