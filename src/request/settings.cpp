// SPDX-License-Identifier: BSD-3-Clause
#include "request/settings.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <optional>
#include <sstream>
#include <vector>

#include "base/hash.hpp"
#include "base/nearest_name.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/mpi_error.hpp"
#include "planners/registry.hpp"

namespace tonari {
namespace {

std::optional<std::string> value_of(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return std::nullopt;
  char value[256];
  int found = 0;
  check_mpi(MPI_Info_get(info, key, sizeof value - 1, value, &found), "MPI_Info_get");
  return found ? std::optional<std::string>(value) : std::nullopt;
}

// Reads "balanced" or "balanced/both ends".
void set_algorithm(Settings& settings, const std::string& word) {
  const std::string current = current_name(word);
  const std::size_t slash = std::min(current.find('/'), current.size());
  const std::string name = current.substr(0, slash);
  settings.algorithm = name;
  settings.variant = current.substr(std::min(slash + 1, current.size()));
  std::vector<std::string> names{"auto", "native", "irecv"};
  if (slash + 1 == current.size())
    fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", word,
         "'; give a variant after the slash, or leave it out");
  if (slash < current.size() && std::find(names.begin(), names.end(), name) != names.end())
    fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", word, "', but '", name,
         "' has no variants");
  for (const AlgorithmRow& row : algorithms())
    if (row.offsets || row.graphs) names.emplace_back(row.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", word, "'; it must be one of ",
       list, ", and may go on with a slash and a variant", did_you_mean(name, names));
}

// Reads "each" as 0, "tree/4" as 4, and "auto" as nothing.
std::optional<int> read_ready(const std::string& word) {
  if (word == "auto") return std::nullopt;
  if (word == "each") return 0;
  int degree = 0;
  if (word.starts_with("tree/"))
    std::from_chars(word.data() + 5, word.data() + word.size(), degree);
  if (degree < 2 || degree > 64 || word != text("tree/", degree))
    refuse_value(setting(SettingId::ready), word);
  return degree;
}

bool wants_thread(const std::string& word) {
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  if (word == "thread" && provided < MPI_THREAD_MULTIPLE)
    fail(Errc::argument,
         "tonari_progress (TONARI_PROGRESS) is 'thread', which needs MPI_THREAD_MULTIPLE; ask "
         "MPI_Init_thread for it, or leave progress to calls");
  return word == "thread";
}

// use(key) for each.
template <class Use>
void for_keys(MPI_Info info, Use use) {
  int count = 0;
  if (info != MPI_INFO_NULL) check_mpi(MPI_Info_get_nkeys(info, &count), "MPI_Info_get_nkeys");
  for (int k = 0; k < count; ++k) {
    char key[MPI_MAX_INFO_KEY + 1] = {};
    check_mpi(MPI_Info_get_nthkey(info, k, key), "MPI_Info_get_nthkey");
    use(key);
  }
}

// The values in the order of the table; empty where nothing is set.
std::vector<std::string> all_values(MPI_Info info) {
  std::vector<std::string> values;
  for (const Setting& row : all_settings())
    values.push_back(
        in_environment(row).value_or(*row.key ? value_of(info, row.key).value_or("") : ""));
  return values;
}

std::string joined(const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) all += value + '\n';
  return all;
}

std::string quoted(const std::string& value) {
  return value.empty() ? "not set" : "'" + value + "'";
}

}  // namespace

std::optional<std::string> lookup(MPI_Info info, SettingId id) {
  const Setting& row = setting(id);
  std::optional<std::string> value = in_environment(row);
  if (!value && *row.key) value = value_of(info, row.key);
  if (value && (row.kind == ValueKind::one_of || row.kind == ValueKind::promise))
    check_choice(row, *value);
  return value;
}

void check_keys(MPI_Info info) {
  for_keys(info, [](const char* key) {
    if (const auto wrong = unknown_key(key)) fail(Errc::argument, *wrong);
  });
}

void check_keys(MPI_Info info, SettingId only) {
  check_keys(info);
  for_keys(info, [&](const std::string& key) {
    if (key.starts_with("tonari_") && key != setting(only).key)
      fail(Errc::argument, "the info key ", key, " does not apply here; only ", setting(only).key,
           " does");
  });
}

void fail_on_different_settings(MPI_Comm comm, MPI_Info info) {
  run_collectively(comm, [&] {
    const std::vector<std::string> mine = all_values(info);
    Classic<std::istringstream> first(broadcast(comm, joined(mine)));
    for (std::size_t k = 0; k < mine.size(); ++k) {
      std::string theirs;
      std::getline(first, theirs);
      if (all_settings()[k].alike && theirs != mine[k])
        fail(Errc::mismatch, "ranks gave different info keys or environment variables: ",
             name_of(all_settings()[k]), " is ", quoted(theirs), " on rank 0 and ", quoted(mine[k]),
             " on rank ", rank_in(comm), "; it must be the same on all ranks");
    }
  });
  fail(Errc::mismatch,
       "ranks gave different info keys or environment variables (TONARI_...); they must be the "
       "same on all ranks");
}

Settings read_settings(MPI_Info info, Settings settings) {
  using enum SettingId;
  check_keys(info);
  if (const auto value = lookup(info, algorithm)) set_algorithm(settings, *value);
  if (const auto value = lookup(info, channel)) settings.channel = *value;
  if (const auto value = lookup(info, tune)) settings.tune = parse_tune(*value);
  if (const auto value = lookup(info, ports))
    settings.ports = static_cast<int>(read_count(setting(ports), *value, INT_MAX));
  if (const auto value = lookup(info, progress)) settings.progress_thread = wants_thread(*value);
  if (const auto value = lookup(info, recv_view)) settings.recv_view = *value == "yes";
  if (const auto value = lookup(info, start_with)) settings.start_with = *value == "yes";
  if (const auto value = lookup(info, ready)) settings.ready = read_ready(*value);
  if (const auto value = lookup(info, canary)) settings.canary = read_size(setting(canary), *value);
  if (const auto value = lookup(info, timeout))
    settings.timeout = read_seconds(setting(timeout), *value);
  return settings;
}

Settings read_neighborhood_settings(MPI_Info info) {
  using enum SettingId;
  Settings settings = read_settings(info, {});
  settings.strict_communication = lookup(info, strict_communication) == "true";
  settings.exact_byte_communications = lookup(info, exact_byte_communications) == "true";
  settings.static_buffers = lookup(info, static_buffers) == "true";
  return settings;
}

namespace {

// A channel that leads to other nodes, or uses derived datatypes, stands for the nearest one that
// in-place exchanges have.
std::string nearest_channel(const std::string& name) {
  if (name == "auto") return name;
  return name.starts_with("shared") ? "shared" : "p2p-packed";
}

}  // namespace

InPlaceSettings read_in_place_settings(MPI_Info info) {
  using enum SettingId;
  check_keys(info);
  InPlaceSettings settings;
  if (const auto value = lookup(info, inplace_algorithm)) settings.order = swap_order_named(*value);
  settings.order_by_key = value_of(info, setting(inplace_algorithm).key).value_or("auto") != "auto";
  if (const auto value = lookup(info, channel)) settings.channel = nearest_channel(*value);
  if (const auto value = lookup(info, tune)) settings.tune = at_init(parse_tune(*value));
  if (const auto value = lookup(info, inplace_memory))
    settings.memory = read_size(setting(inplace_memory), *value);
  if (const auto value = lookup(info, timeout))
    settings.timeout = read_seconds(setting(timeout), *value);
  if (const auto value = lookup(info, progress)) settings.progress_thread = wants_thread(*value);
  return settings;
}

std::uint64_t InPlaceSettings::fingerprint() const {
  return Hash()
      .word(order ? static_cast<std::uint64_t>(*order) + 1 : 0)
      .bytes(channel)
      .word(static_cast<std::uint64_t>(tune))
      .word(progress_thread)
      .value();
}

}  // namespace tonari
