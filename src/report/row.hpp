// SPDX-License-Identifier: BSD-3-Clause
// A row of the report that TONARI_REPORT asks for: requests that are alike, or one-shot calls of
// one kind, of one rank or of many. Plain memory of fixed size, so that reductions of the MPI can
// carry it. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tonari {

// Text that takes bounded memory: of a longer one the beginning and "...".
template <std::size_t most>
class ShortText {
 public:
  ShortText() = default;
  template <std::convertible_to<std::string_view> Text>
  ShortText(const Text& given) {
    const std::string_view text(given);
    constexpr std::string_view dots = "...";
    const bool fits = text.size() <= most;
    const std::size_t kept = fits ? text.size() : most - dots.size();
    std::ranges::copy(text.substr(0, kept), text_.begin());
    if (!fits) std::ranges::copy(dots, text_.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  std::string_view view() const {
    return {text_.data(), static_cast<std::size_t>(std::ranges::find(text_, '\0') - text_.begin())};
  }
  bool empty() const { return text_[0] == 0; }
  bool operator==(const ShortText&) const = default;

 private:
  std::array<char, most> text_{};
};

// How the time of MPI's own collective is known. One that says more comes later.
enum class NativeSource : std::uint8_t { unknown, modeled, remembered, measured };
const char* name(NativeSource source);

// Times of one exchange, added up over the requests for which they are known, in seconds.
struct NativeTimes {
  double chosen = 0, native = 0;
  std::uint64_t requests = 0;
  NativeSource source = NativeSource::unknown;  // of those, the one that says least

  void add(const NativeTimes& other);
};

// When init and tuning have paid for themselves.
struct BreakEven {
  enum class When : std::uint8_t { unknown, never, after } when = When::unknown;
  double starts = 0;     // of each request
  bool reached = false;  // by the starts that there were
};

struct ReportRow {
  // What has this in common is alike.
  bool one_shot = false;         // calls; otherwise requests
  bool folded = false;           // unlike each other, but there were too many rows
  std::int32_t ranks = 0;        // of the communicator
  ShortText<32> operation = {};  // alltoallv, halo, ...
  ShortText<160> what = {};      // operation, neighbors, sizes
  ShortText<32> algorithm = {};
  ShortText<64> variant = {};
  ShortText<64> channel = {};
  ShortText<24> reason = {};
  // Why blocks in memory of a GPU take no faster way; empty: they do, or there are none.
  ShortText<256> no_faster = {};

  std::uint64_t processes = 1;                    // whose numbers are in it
  std::uint64_t requests = 0, starts = 0;         // the most of a rank; no requests: one-shot calls
  std::uint64_t timed = 0;                        // of these starts: the most of a rank
  std::uint64_t messages = 0, bytes = 0;          // the most that a rank sends in one exchange
  std::uint64_t all_messages = 0, all_bytes = 0;  // sent by all ranks, in all exchanges
  double seconds = 0;         // in start, test and wait, of the slowest rank; an estimate
  double init = 0, lost = 0;  // seconds of the slowest rank
  NativeTimes times = {};

  bool alike(const ReportRow& other) const;
  // More of the same rank.
  void add(const ReportRow& other);
  // What other ranks did.
  void merge(const ReportRow& other);

  double seconds_per_start() const { return starts ? seconds / static_cast<double>(starts) : 0; }
  double ratio() const;  // of MPI's own collective to what was chosen; 0 if it is not known
  BreakEven break_even() const;
};

}  // namespace tonari
