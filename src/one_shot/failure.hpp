// SPDX-License-Identifier: BSD-3-Clause
// Why an exchange by streams fails. Ranks agree on nothing, so those that cannot do their part say
// so in their messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/error.hpp"

namespace tonari {

class StreamFailure {
 public:
  // This rank takes part in the next exchange, or cannot, and fails with this error.
  void accept() { refused_ = false; }
  void refuse(const Error& why) { refused_ = true, error_ = why; }
  bool refused() const { return refused_; }

  // An exchange begins.
  void begin() {
    rank_ = -1;
    if (!error_ || refused_) [[likely]]
      return;
    if (!std::exchange(held_, false)) error_.reset();
  }
  // The next exchange fails with what was added since, unless this rank refuses.
  void hold() { held_ = error_.has_value(); }
  // This is wrong with what comes from the rank. The error of the lowest rank stays, this rank's
  // own before all.
  void add(std::int32_t rank, const Error& error);
  // The rank tells an error with this code in a message instead of its blocks.
  void add_told(std::int32_t rank, std::uint64_t code, const std::byte* at, std::size_t bytes);
  // Call this at the end of an exchange.
  void rethrow() const {
    if (error_) throw *error_;
  }

  Errc code() const { return error_->code(); }
  // Writes the sentence into a message with so much room; returns how long it is there.
  std::size_t write(std::byte* at, std::size_t room) const;

 private:
  bool refused_ = false, held_ = false;
  std::optional<Error> error_;
  std::int32_t rank_ = 0;
};

// Two ranks that send in different ways cannot understand each other. The sentence is the same on
// both.
[[noreturn]] void fail_on_ways(std::int32_t one, std::int32_t other);

}  // namespace tonari
