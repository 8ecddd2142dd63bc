// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/failure.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "engine/wait/named_rank.hpp"

namespace tonari {

void StreamFailure::add(std::int32_t rank, const Error& error) {
  if (error_ && (refused_ || rank_ <= rank)) return;
  error_ = error;
  rank_ = rank;
}

std::size_t StreamFailure::write(std::byte* at, std::size_t room) const {
  const std::string_view sentence = error_->what();
  const std::size_t length = std::min(sentence.size(), room);
  std::memcpy(at, sentence.data(), length);
  return length;
}

void StreamFailure::add_told(std::int32_t rank, std::uint64_t code, const std::byte* at,
                             std::size_t bytes) {
  const std::string_view sentence(reinterpret_cast<const char*>(at), bytes);
  add(rank, with_rank(rank, Error(static_cast<Errc>(code), sentence)));
}

void fail_on_ways(std::int32_t one, std::int32_t other) {
  fail(Errc::mismatch, "ranks ", std::min(one, other), " and ", std::max(one, other),
       " call different operations, or with blocks of different sizes; all must have the same; ",
       "free the neighborhood and make another");
}

}  // namespace tonari
