// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "copy/moves.hpp"

namespace tonari {
namespace {

// Every list of bytes has exactly one form: a single piece has stride 0, and adjacent pieces are
// one piece.
Run normal(Run run) {
  if (run.count > 1 && run.stride == static_cast<std::ptrdiff_t>(run.length))
    return {run.offset, run.length * run.count, 0, 1};
  if (run.count == 1) run.stride = 0;
  return run;
}

std::ptrdiff_t last_piece(const Run& run) {
  return run.offset + run.stride * static_cast<std::ptrdiff_t>(run.count - 1);
}

bool touches(const Run& run, std::ptrdiff_t next) {
  return last_piece(run) + static_cast<std::ptrdiff_t>(run.length) == next;
}

// Appends pieces of the same length that continue at the stride; a single piece has any stride.
bool extend(Run& run, const Run& next) {
  if (run.length != next.length) return false;
  const std::ptrdiff_t step = next.offset - last_piece(run);
  if ((run.count > 1 && run.stride != step) || (next.count > 1 && next.stride != step))
    return false;
  run.stride = step;
  run.count += next.count;
  return true;
}

}  // namespace

void Layout::add(const Run& run) {
  if (run.length == 0 || run.count == 0) return;
  bytes_ += std::uint64_t{run.length} * run.count;
  const Run next = normal(run);
  if (runs_.empty()) return runs_.push_back(next);
  if (next.count > 1 || !touches(runs_.back(), next.offset)) {
    if (!extend(runs_.back(), next)) runs_.push_back(next);
    return;
  }

  // A piece grows at its end. If it is the last of several, it no longer has their length and
  // leaves them.
  Run grown{last_piece(runs_.back()), runs_.back().length + next.length, 0, 1};
  if (runs_.back().count == 1)
    runs_.pop_back();
  else
    runs_.back() = normal(
        {runs_.back().offset, runs_.back().length, runs_.back().stride, runs_.back().count - 1});
  if (runs_.empty() || !extend(runs_.back(), grown)) runs_.push_back(grown);
}

void Layout::add(const Layout& other, std::ptrdiff_t displacement) {
  if (&other == this) return add(Layout(other), displacement);
  for (Run run : other.runs_) {
    run.offset += displacement;
    add(run);
  }
}

Layout Layout::part(std::uint64_t first, std::uint64_t bytes) const {
  Layout found;
  for (const Run& run : runs_) {
    const std::uint64_t all = std::uint64_t{run.length} * run.count;
    if (first >= all) {
      first -= all;
      continue;
    }
    // Takes the rest of a piece that was begun, then whole pieces, then the beginning of one.
    std::uint64_t piece = first / run.length, skip = first % run.length,
                  left = std::min(bytes, all - first);
    bytes -= left;
    first = 0;
    const auto at = [&](std::uint64_t k) {
      return run.offset + static_cast<std::ptrdiff_t>(k) * run.stride;
    };
    if (skip > 0) {
      const std::uint64_t rest = std::min<std::uint64_t>(left, run.length - skip);
      found.add(at(piece++) + static_cast<std::ptrdiff_t>(skip), rest);
      left -= rest;
    }
    if (const std::uint64_t whole = left / run.length; whole > 0) {
      found.add(Run{at(piece), run.length, run.stride, whole});
      piece += whole;
    }
    if (left % run.length > 0) found.add(at(piece), left % run.length);
    if (bytes == 0) break;
  }
  return found;
}

std::pair<std::ptrdiff_t, std::ptrdiff_t> Layout::span() const {
  if (runs_.empty()) return {0, 0};
  std::ptrdiff_t low = runs_[0].offset, high = low;
  for (const Run& run : runs_) {
    low = std::min({low, run.offset, last_piece(run)});
    high = std::max(
        high, std::max(run.offset, last_piece(run)) + static_cast<std::ptrdiff_t>(run.length));
  }
  return {low, high};
}

}  // namespace tonari
