// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/exchange.hpp"

#include <cstring>
#include <functional>
#include <string_view>

#include "petsc/sentences.hpp"

namespace tonari::petsc {
namespace {

// The bytes of one side in the program's array, from the first to the last that is exchanged.
struct Bytes {
  std::byte* at = nullptr;
  std::size_t size = 0;

  std::byte* end() const { return at + size; }
};

// Where nothing is exchanged the program may have no array, but tonari wants an address.
alignas(16) std::byte nothing_to_send[16], nothing_to_receive[16];

Bytes bytes_of(const void* array, const Side& side, const Unit& unit, std::byte* otherwise) {
  if (side.length == 0) return {otherwise, 0};
  auto* const base = static_cast<std::byte*>(const_cast<void*>(array));
  return {base + side.first * static_cast<MPI_Aint>(unit.bytes),
          static_cast<std::size_t>(side.length) * static_cast<std::size_t>(unit.bytes)};
}

bool overlap(const Bytes& a, const Bytes& b) {
  const std::less<> before;
  return before(a.at, b.end()) && before(b.at, a.end());
}

}  // namespace

Lane::~Lane() {
  if (request != TONARI_REQUEST_NULL) tonari_request_free(&request);
}

Lane* Exchange::take() {
  if (idle()) taken_ = 0;
  if (taken_ == most_lanes) return nullptr;
  if (taken_ == lanes_.size()) lanes_.push_back(std::make_unique<Lane>());
  ++under_way_;
  return lanes_[taken_++].get();
}

PetscErrorCode Exchange::start(MPI_Comm comm, Vectors& vectors, Lane& lane, const void* source,
                               void* target) {
  Bytes from = bytes_of(source, vectors.source(kind.way), kind.unit, nothing_to_send);
  const Bytes to = bytes_of(target, vectors.target(kind.way), kind.unit, nothing_to_receive);
  const bool one_array = source == target;
  PetscFunctionBegin;
  if (overlap(from, to) && (!one_array || vectors.meet(kind.copied()))) {
    lane.copy_of_source.assign(from.at, from.end());  // what is sent is what was there
    from.at = lane.copy_of_source.data();
  }
  if (lane.request == TONARI_REQUEST_NULL) {
    PetscCall(make_request(comm, vectors, lane, from.at, to.at));
    tonari_request_info about{};
    PetscCall(said(PETSC_COMM_SELF, tonari_request_get_info(lane.request, &about)));
    if (about.ranks_per_core > 1) race.ranks_share_cores();
  }
  PetscCall(said(PETSC_COMM_SELF, tonari_start_with(lane.request, from.at, to.at)));
  if (kind.copied() && !one_array) copy_staying(vectors, from.at, to.at);
  PetscFunctionReturn(success);
}

// All lanes have the same pattern, so what the first one chose the others have, or will.
bool Exchange::has_chosen() {
  constexpr unsigned between = 16;  // to ask takes as long as a short exchange
  if (chosen_ || lanes_.empty() || asked_++ % between != 0) return chosen_;
  tonari_request_info about{};
  if (tonari_request_get_info(lanes_.front()->request, &about) != TONARI_SUCCESS) return false;
  return chosen_ = std::string_view(about.reason) != "online" || about.measured_seconds > 0;
}

// While messages are under way, which touch none of these places in the target.
void Exchange::copy_staying(const Vectors& vectors, const std::byte* from, std::byte* to) const {
  const auto bytes = static_cast<MPI_Aint>(kind.unit.bytes);
  for (const Places& p : vectors.staying())
    std::memcpy(to + (p.first - vectors.target(kind.way).first) * bytes,
                from + (p.first - vectors.source(kind.way).first) * bytes,
                static_cast<std::size_t>(p.count * bytes));
}

PetscErrorCode Exchange::make_request(MPI_Comm comm, Vectors& vectors, Lane& lane,
                                      const void* source, void* target) {
  tonari_vector vector = TONARI_VECTOR_NULL;
  tonari_vector_values values = {};
  values.type = kind.unit.value, values.components = kind.unit.count;
  PetscFunctionBegin;
  PetscCall(vectors.get(kind.way, kind.copied(), &vector));
  if (kind.copied())
    PetscCall(said(comm, tonari_vector_forward_init(vector, &values, source, target, MPI_INFO_NULL,
                                                    &lane.request)));
  else
    PetscCall(said(comm, tonari_vector_reverse_init(vector, &values, kind.op, source, target,
                                                    MPI_INFO_NULL, &lane.request)));
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
