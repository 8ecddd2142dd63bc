// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/recorded.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/lasting.hpp"

namespace tonari {
namespace {

struct Records {
  std::mutex mutex;
  std::vector<Recorded*> live;
  ReportTable gone;
};

Records& records() { return lasting<Records>(); }

// Who cannot describe itself, for want of memory, is left out.
void add_row(ReportTable& table, Recorded& recorded) {
  (void)error_of([&] { table.add(recorded.row()); });
}

}  // namespace

Recorded::Recorded() {
  const std::lock_guard lock(records().mutex);
  records().live.push_back(this);
}

Recorded::~Recorded() = default;

void Recorded::fold() noexcept {
  const std::lock_guard lock(records().mutex);
  if (std::erase(records().live, this) > 0) add_row(records().gone, *this);
}

ReportTable recorded_so_far() {
  const std::lock_guard lock(records().mutex);
  ReportTable table = records().gone;
  for (Recorded* const recorded : records().live) add_row(table, *recorded);
  return table;
}

ReportTable take_what_is_gone() {
  const std::lock_guard lock(records().mutex);
  return std::exchange(records().gone, {});
}

}  // namespace tonari
