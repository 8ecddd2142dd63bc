// SPDX-License-Identifier: BSD-3-Clause
#include "preload/sites.hpp"

#include <unistd.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/classic.hpp"
#include "base/setting_table.hpp"
#include "preload/origin.hpp"
#include "preload/place.hpp"

namespace tonari::preload {
namespace {

struct Table {
  std::mutex mutex;
  std::string folder;  // empty: nothing is recorded
  pid_t process = getpid();
  bool expected = false;
  std::map<std::pair<const char*, Origin>, SiteRecord> records;
};
// Never destroyed: threads may call until the process has ended.
Table& table() {
  static Table* const all = [] {
    auto* const made = new Table;
    made->folder = in_environment(setting("TONARI_RUN_REPORT")).value_or("");
    return made;
  }();
  return *all;
}

using Number = unsigned long long;  // as printf knows it

// JSON has points, whatever locale the program has set: with_decimals, not %f.
void write(std::FILE* file, const Origin& origin, const SiteRecord& row) {
  std::fprintf(file,
               "{\"call\": \"%s\", \"file\": \"%s\", \"offset\": %llu, \"line\": %d, "
               "\"function\": \"%s\", \"calls\": %llu, \"through_tonari\": %llu, "
               "\"bytes\": %llu, ",
               row.call, escaped(origin.place.file).c_str(), Number{origin.place.offset},
               origin.line, escaped(origin.function).c_str(), Number{row.calls},
               Number{row.through_tonari}, Number{row.bytes});
  std::fprintf(file,
               "\"timed\": %llu, \"seconds\": %s, \"native_timed\": %llu, "
               "\"native_seconds\": %s, \"setups\": %llu, \"setup_seconds\": %s, "
               "\"why\": \"%s\"}\n",
               Number{row.timed[0]}, with_decimals(row.seconds[0], 9).c_str(), Number{row.timed[1]},
               with_decimals(row.seconds[1], 9).c_str(), Number{row.setups},
               with_decimals(row.setup_seconds, 9).c_str(), escaped(row.why).c_str());
}

// One object per line. A child that the program has forked has its parent's records, and no own.
__attribute__((destructor)) void write_records() {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  if (all.folder.empty() || all.process != getpid()) return;
  if (all.records.empty() && !all.expected) return;
  std::FILE* const file = std::fopen(file_of_this_process(all.folder).c_str(), "w");
  if (!file) return say_not_written(setting("TONARI_RUN_REPORT"), all.folder);
  for (const auto& [key, record] : all.records) write(file, key.second, record);
  (void)std::fclose(file);
}

void add(SiteRecord& row, const CallTold& told) {
  ++row.calls;
  row.call = told.call;
  const auto backend = static_cast<std::size_t>(told.backend);
  row.through_tonari += told.backend == Backend::tonari;
  row.bytes += told.bytes;
  ++(told.first ? row.setups : row.timed[backend]);
  (told.first ? row.setup_seconds : row.seconds[backend]) += told.seconds;
  row.why = told.why;
}

}  // namespace

bool recording() {
  static const bool wanted = !table().folder.empty();
  return wanted;
}

void expect_records() {
  const std::lock_guard lock(table().mutex);
  table().expected = true;
}

void record_call(const CallTold& told) noexcept {
  try {
    const Origin origin = origin_of(told.site);  // before the lock: Python has one, too
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    add(all.records[{told.call, origin}], told);
  } catch (...) {
  }
}

}  // namespace tonari::preload
