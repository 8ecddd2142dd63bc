// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/finding.hpp"

#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "engine/comm/wisdom_file.hpp"

namespace tonari {
namespace {

struct Findings {
  std::mutex mutex;
  std::vector<Finding*> all;
};

Findings& findings() { return lasting<Findings>(); }

}  // namespace

Finding::Finding(std::string key, std::vector<std::string> labels, std::vector<std::string> untried)
    : key_(std::move(key)), labels_(std::move(labels)), untried_(std::move(untried)) {
  const std::lock_guard lock(findings().mutex);
  findings().all.push_back(this);
}

Finding::~Finding() {
  const std::lock_guard lock(findings().mutex);
  std::erase(findings().all, this);
  write();
}

void Finding::decide(std::size_t winner, double seconds) {
  winner_ = winner, seconds_ = seconds;
  decided_.store(true, std::memory_order_release);
}

void Finding::write_all() {
  const std::lock_guard lock(findings().mutex);
  for (Finding* const finding : findings().all) finding->write();
}

// Who cannot remember measures again.
void Finding::write() {
  if (written_ || !decided_.load(std::memory_order_acquire)) return;
  written_ = true;
  (void)error_of([&] { write_winner(key_, {labels_[winner_], {seconds_, 0}, untried_}); });
}

}  // namespace tonari
