// SPDX-License-Identifier: BSD-3-Clause
// The settings of the library, one row each, for those who read them, complain about them and
// document them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace tonari {

// How to read a value. For words, algorithms and routes, the readers know more than the row.
enum class ValueKind : std::uint8_t { one_of, word, count, size, seconds, promise };

struct Setting {
  const char* key;       // of an MPI_Info; empty if there is none
  const char* variable;  // of the environment, which wins over the key; empty if there is none
  ValueKind kind;
  // one_of: all values, separated by commas; otherwise the sentence that begins "it must be"
  const char* values;
  const char* standard;         // the value without the setting
  const char* where;            // the calls that read it
  bool alike;                   // must be the same on all ranks
  const char* help;             // one line
  Errc wrong = Errc::argument;  // the error for another value
};

// The order is that of the table.
enum class SettingId : std::uint8_t {
  algorithm,
  channel,
  tune,
  tune_seconds,
  ports,
  progress,
  recv_view,
  start_with,
  ready,
  canary,
  timeout,
  hang_report,
  strict_communication,
  exact_byte_communications,
  static_buffers,
  inplace_algorithm,
  inplace_memory,
  halo,
  halo_neighbors,
  route,
  sparse_algorithm,
  nodes,
  shm_dir,
  cache_dir,
  report,
  preload,
  repair,
  run_report,
  run_loaded,
  advise_report,
};

std::span<const Setting> all_settings();
const Setting& setting(SettingId id);

// The names as "tonari_ports (TONARI_PORTS)", or the only one.
std::string name_of(const Setting& row);

// The value of the variable; nothing if it is not set or empty.
std::optional<std::string> in_environment(const Setting& row);

// All values of a row of kind one_of.
std::vector<std::string> choices(const Setting& row);

// Throws with the name, the word and what it must be.
[[noreturn]] void refuse_value(const Setting& row, const std::string& word);
// These do so for wrong words: for kinds one_of and promise, for count,
// for size (in bytes; 64K and 64KiB are 65536), and for seconds.
void check_choice(const Setting& row, const std::string& word);
std::uint64_t read_count(const Setting& row, const std::string& word,
                         std::uint64_t most = UINT64_MAX);
std::uint64_t read_size(const Setting& row, const std::string& word);
double read_seconds(const Setting& row, const std::string& word);

// Says what is wrong with a key that begins with `tonari_`; nothing if it exists.
std::optional<std::string> unknown_key(const std::string& key);
// The same for a variable that looks like a misspelled one of ours. Others (TONARI_ROOT, say)
// belong to other libraries.
std::optional<std::string> unknown_variable(const std::string& variable);
// The sentences about all such variables of this process.
std::vector<std::string> unknown_variables();

}  // namespace tonari
