// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

namespace conformance {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text)
    result += c == '"' || c == '\\' ? '\'' : static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return result + '"';
}

}  // namespace

Report::Report(bool first_rank, const std::string& file) : prints_(first_rank) {
  if (!prints_ || file.empty()) return;
  file_ = std::fopen(file.c_str(), "a");
  failed_ = !file_;
}
Report::~Report() {
  if (file_) std::fclose(file_);
}

void Report::line(const std::string& object) {
  if (!file_) return;
  std::fprintf(file_, "%s\n", object.c_str());
  std::fflush(file_);
}

void Report::heading(const std::string& mpi, int ranks) {
  if (!prints_) return;
  std::printf("%s, %d ranks\n", mpi.c_str(), ranks);
  line("{\"mpi\": " + quoted(mpi) + ", \"ranks\": " + std::to_string(ranks) + "}");
}

void Report::begins(const Trial& trial) {
  ++trials_;
  line("{\"trial\": " + std::to_string(trial.number) + ", \"call\": " + quoted(trial.call) +
       ", \"topology\": " + quoted(trial.topology) + ", \"data\": " + quoted(trial.data) + "}");
}

void Report::ended(const Trial& trial, const std::string& wrong) {
  line("{\"ended\": " + std::to_string(trial.number) + ", \"wrong\": " + quoted(wrong) + "}");
  if (wrong.empty()) return;
  ++wrong_;
  kinds_ += (kinds_.empty() ? "" : ", ") + trial.data;
  if (!sentence_.empty()) return;
  row_ = trial.call + ", " + trial.topology;
  sentence_ = wrong;
}

void Report::show() {
  if (prints_ && !sentence_.empty()) {
    std::printf("%s: %s (%s)\n", row_.c_str(), sentence_.c_str(), kinds_.c_str());
    std::fflush(stdout);
  }
  kinds_.clear(), sentence_.clear();
}

void Report::all_ended() {
  if (!prints_) return;
  std::printf("%d of %d exchanges are wrong\n", wrong_, trials_);
  std::fflush(stdout);
  line("{\"wrong\": " + std::to_string(wrong_) + ", \"trials\": " + std::to_string(trials_) + "}");
}

}  // namespace conformance
