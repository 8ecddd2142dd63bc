// SPDX-License-Identifier: BSD-3-Clause
// What the first rank tells: a table of what is wrong as text, and every trial as lines of JSON.
#pragma once

#include <cstdio>
#include <string>

namespace conformance {

// One call on one topology with one kind of data.
struct Trial {
  int number;
  std::string call, topology, data;

  std::string name() const { return call + ", " + topology + ", " + data; }
};

class Report {
 public:
  // file: where the lines go, or nothing. Only the first rank has any effect.
  Report(bool first_rank, const std::string& file);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  bool opened() const { return !failed_; }
  void heading(const std::string& mpi, int ranks);
  void begins(const Trial& trial);  // so that a trial which ends the job is known
  void ended(const Trial& trial, const std::string& wrong);
  void show();  // what was wrong since the last time, which all was of one call on one topology
  void all_ended();
  int wrong() const { return wrong_; }
  int trials() const { return trials_; }

 private:
  void line(const std::string& object);

  bool prints_, failed_ = false;
  std::FILE* file_ = nullptr;
  int wrong_ = 0, trials_ = 0;
  std::string row_, kinds_, sentence_;
};

}  // namespace conformance
