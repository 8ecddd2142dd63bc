// SPDX-License-Identifier: BSD-3-Clause
// The one-shot calls of one kind on one object, for the report.
#pragma once

#include <string_view>

#include "engine/comm/recorded.hpp"
#include "engine/comm/usage.hpp"

namespace tonari {

// Puts its numbers into a row.
inline void add_usage(const Usage& usage, ReportRow& row) {
  row.starts = usage.starts(), row.timed = usage.timed(), row.seconds = usage.seconds();
  row.messages = usage.messages(), row.bytes = usage.bytes();
  row.all_messages = usage.all_messages(), row.all_bytes = usage.all_bytes();
}

class CallRecord final : public Recorded {
 public:
  // calls: what they are, as far as that is known
  explicit CallRecord(const ReportRow& calls) : calls_(calls) { calls_.one_shot = true; }
  ~CallRecord() override { fold(); }

  Usage& usage() { return usage_; }
  // Calls may choose each for itself.
  void chose(std::string_view algorithm) { add(calls_.algorithm, algorithm); }
  void chose(std::string_view algorithm, std::string_view channel) {
    chose(algorithm), add(calls_.channel, channel);
  }
  // Some of their blocks lie in memory of a GPU. no_faster: as ReportRow has it.
  void stages(std::string_view no_faster) { calls_.no_faster = no_faster; }
  ReportRow row() override {
    ReportRow row = calls_;
    add_usage(usage_, row);
    return row;
  }

  // Runs a call that is complete when `work` returns. It returns what was sent: messages and bytes.
  template <class Work>
  void run(const Work& work) {
    const double weight = usage_.start();
    const double start = weight > 0 ? usage_.now() : 0;
    const auto [messages, bytes] = work();
    if (weight > 0) usage_.took(usage_.now() - start, weight);
    usage_.sends(messages, bytes);
  }

 private:
  static void add(auto& all, std::string_view one) {
    if (all.empty())
      all = one;
    else if (all.view() != one)
      all = "several";
  }

  ReportRow calls_;
  Usage usage_;
};

}  // namespace tonari
