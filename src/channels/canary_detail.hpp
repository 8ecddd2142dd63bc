// SPDX-License-Identifier: BSD-3-Clause
// The words of a channel's detail for tonari_canary: up to how many bytes a message tells by its
// own bytes that it is complete (Hoefler 2012, section II-C3).
#pragma once

#include <optional>
#include <string>

#include "select/channel.hpp"
#include "select/price.hpp"

namespace tonari {

inline constexpr const char *no_canary = "no canary", *canary_up_to = "canary up to ";

// Empty if nothing is asked for.
inline std::string canary_detail(std::optional<Bytes> asked) {
  if (!asked) return "";
  return *asked == 0 ? no_canary : canary_up_to + std::to_string(*asked);
}

inline bool is_canary(const std::string& word) {
  return word == no_canary || number_after(word, canary_up_to) > 0;
}

// In bytes.
inline Bytes canary_of(const std::string& detail, Bytes otherwise) {
  if (has_word(detail, no_canary)) return 0;
  const std::size_t bytes = number_after(detail, canary_up_to);
  return bytes > 0 ? bytes : otherwise;
}

}  // namespace tonari
