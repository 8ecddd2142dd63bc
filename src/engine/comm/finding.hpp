// SPDX-License-Identifier: BSD-3-Clause
// What the starts of a request have found out, on its way to the wisdom file. Starts and waits
// neither allocate nor open files. So a decision is noted where init has made room for it, and
// written later: by the next init that looks for wisdom, when the request is freed, or by
// MPI_Finalize.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace tonari {

class Finding {
 public:
  // For rank 0, which writes. `labels` are those of the candidates; the others are left for later
  // requests, unless wisdom says by then what is.
  Finding(std::string key, std::vector<std::string> labels, std::vector<std::string> untried = {});
  // Writes what was decided, if that is not done yet.
  ~Finding();
  Finding(const Finding&) = delete;
  Finding& operator=(const Finding&) = delete;

  // Once. Neither allocates nor waits.
  void decide(std::size_t winner, double seconds);

  // Writes what requests of this process have decided so far.
  static void write_all();

 private:
  void write();

  std::string key_;
  std::vector<std::string> labels_, untried_;
  std::size_t winner_ = 0;
  double seconds_ = 0;
  std::atomic<bool> decided_{false};
  bool written_ = false;
};

}  // namespace tonari
