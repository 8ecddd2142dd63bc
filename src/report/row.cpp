// SPDX-License-Identifier: BSD-3-Clause
#include "report/row.hpp"

#include <cmath>

namespace tonari {
namespace {

// Of two that are known, the one that says less.
NativeSource weaker(NativeSource a, NativeSource b) {
  if (a == NativeSource::unknown || b == NativeSource::unknown) return std::max(a, b);
  return std::min(a, b);
}

}  // namespace

const char* name(NativeSource source) {
  constexpr std::array names{"unknown", "modeled", "remembered", "measured"};
  return names[static_cast<std::size_t>(source)];
}

void NativeTimes::add(const NativeTimes& other) {
  chosen += other.chosen, native += other.native, requests += other.requests;
  source = weaker(source, other.source);
}

bool ReportRow::alike(const ReportRow& other) const {
  const bool same_calls = one_shot == other.one_shot && folded == other.folded &&
                          ranks == other.ranks && operation == other.operation;
  return same_calls && what == other.what && algorithm == other.algorithm &&
         variant == other.variant && channel == other.channel && reason == other.reason;
}

void ReportRow::add(const ReportRow& other) {
  requests += other.requests, starts += other.starts, timed += other.timed;
  messages = std::max(messages, other.messages), bytes = std::max(bytes, other.bytes);
  all_messages += other.all_messages, all_bytes += other.all_bytes;
  seconds += other.seconds, init += other.init, lost += other.lost;
  times.add(other.times);
  if (no_faster.empty()) no_faster = other.no_faster;
}

// All ranks know the same times of MPI's own collective; one that made more requests knows more.
void ReportRow::merge(const ReportRow& other) {
  processes += other.processes;
  requests = std::max(requests, other.requests), starts = std::max(starts, other.starts);
  timed = std::max(timed, other.timed);
  messages = std::max(messages, other.messages), bytes = std::max(bytes, other.bytes);
  all_messages += other.all_messages, all_bytes += other.all_bytes;
  seconds = std::max(seconds, other.seconds);
  init = std::max(init, other.init), lost = std::max(lost, other.lost);
  if (other.times.requests > times.requests) times = other.times;
  if (no_faster.empty()) no_faster = other.no_faster;
}

double ReportRow::ratio() const {
  return times.chosen > 0 && times.native > 0 ? times.native / times.chosen : 0;
}

BreakEven ReportRow::break_even() const {
  if (requests == 0 || ratio() == 0) return {};
  const double saved = (times.native - times.chosen) / static_cast<double>(times.requests);
  if (!(saved > 0)) return {BreakEven::When::never};
  const auto made = static_cast<double>(requests);
  const double needed = std::min(std::ceil((init + lost) / made / saved), 1e15);
  return {BreakEven::When::after, needed, static_cast<double>(starts) / made >= needed};
}

}  // namespace tonari
