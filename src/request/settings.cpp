// SPDX-License-Identifier: BSD-3-Clause
#include "request/settings.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

#include "base/lasting.hpp"
#include "base/nearest_name.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/mpi_error.hpp"
#include "planners/graphs/scheduled.hpp"
#include "planners/registry.hpp"

namespace tonari {
namespace {

// Reads "balanced" or "balanced/both ends", or finds what it has made of them.
void split_algorithm(Settings& settings) {
  const std::string word = settings.algorithm;
  const bool follows = !settings.schedule.empty() && word == scheduled_name;
  if (word == "auto" || follows) return;
  const std::string current = current_name(word);
  const std::size_t slash = std::min(current.find('/'), current.size());
  const std::string name = current.substr(0, slash);
  settings.algorithm = name;
  if (slash < current.size()) settings.variant = current.substr(slash + 1);
  const bool whole = name == "auto" || name == "native" || name == "irecv";
  if (slash + 1 == current.size())
    fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", word,
         "'; give a variant after the slash, or leave it out");
  if (slash < current.size() && whole)
    fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", word, "', but '", name,
         "' has no variants");
  std::vector<std::string> names{"auto", "native", "irecv"};
  for (const AlgorithmRow& row : algorithms())
    if (row.offsets || row.graphs) names.emplace_back(row.name);
  if (whole || std::ranges::find(names, name) != names.end()) return;
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", word, "'; it must be one of ",
       list, ", and may go on with a slash and a variant", did_you_mean(name, names));
}

// The exchanges of a neighborhood with a schedule follow it, unless a request names an algorithm.
void follow_schedule(const Setting& algorithm, Where calls, Settings& settings) {
  if (settings.schedule.empty() || settings.algorithm == scheduled_name) return;
  if (settings.algorithm == "auto")
    settings.algorithm = scheduled_name;
  else if (calls & where::neighborhoods)
    fail(Errc::algorithm, name_of(algorithm), " is '", settings.algorithm,
         "', but tonari_schedule says that all exchanges follow the schedule '", settings.schedule,
         "'; give the neighborhood one of the two");
}

// One info may serve a neighborhood and its requests.
void refuse_other_schedule(MPI_Info info, const Settings& settings) {
  const Setting& row = setting("tonari_schedule");
  const std::optional<std::string> value = value_of(info, row);
  if (value && *value != settings.schedule)
    fail(Errc::argument, name_of(row), " is '", *value,
         "' here, but only a neighborhood is made to follow a schedule; give the key to the call "
         "that makes it");
}

void require_threads() {
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  if (provided < MPI_THREAD_MULTIPLE)
    fail(Errc::argument,
         "tonari_progress (TONARI_PROGRESS) is 'thread', which needs MPI_THREAD_MULTIPLE; ask "
         "MPI_Init_thread for it, or leave progress to calls");
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

void read_setting(MPI_Info info, const Setting& row, const char* variable, Settings& settings) {
  const std::optional<std::string> value =
      variable ? std::optional<std::string>(variable) : value_of(info, row);
  if (value) row.member.read(row, *value, settings);
}

Settings read_settings(MPI_Info info, Where calls, const Variables& variables, Settings settings) {
  check_keys(info);
  if (variables.any() || info != MPI_INFO_NULL)
    for (const Setting& row : all_settings())
      if (row.member.read && row.where & calls)
        read_setting(info, row, variables.value(row), settings);
  if (!(calls & where::neighborhoods)) refuse_other_schedule(info, settings);
  split_algorithm(settings);
  follow_schedule(setting("TONARI_ALGORITHM"), calls, settings);
  if (settings.progress_thread) require_threads();
  return settings;
}

// The values in the order of the table; empty where nothing is set.
std::vector<std::string> all_values(MPI_Info info) {
  std::vector<std::string> values;
  for (const Setting& row : all_settings())
    values.push_back(in_environment(row).value_or(value_of(info, row).value_or("")));
  return values;
}

std::string joined(const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) all += value + '\n';
  return all;
}

std::string in_quotes(const std::string& value) {
  return value.empty() ? "not set" : "'" + value + "'";
}

}  // namespace

std::optional<std::string> value_of(MPI_Info info, const Setting& row) {
  if (info == MPI_INFO_NULL || !*row.key) return std::nullopt;
  int length = 0, found = 0;
  check_mpi(MPI_Info_get_valuelen(info, row.key, &length, &found), "MPI_Info_get_valuelen");
  if (!found) return std::nullopt;
  std::string value(static_cast<std::size_t>(length) + 1, '\0');  // names of files are long
  check_mpi(MPI_Info_get(info, row.key, length, value.data(), &found), "MPI_Info_get");
  value.resize(static_cast<std::size_t>(length));
  return value;
}

void check_keys(MPI_Info info) {
  for_keys(info, [](const char* key) {
    if (const auto wrong = unknown_key(key)) fail(Errc::argument, *wrong);
  });
}

Settings read_only(MPI_Info info, const Setting& only) {
  check_keys(info);
  for_keys(info, [&](const std::string& key) {
    if (key.starts_with("tonari_") && key != only.key)
      fail(Errc::argument, "the info key ", key, " does not apply here; only ", only.key, " does");
  });
  Settings settings;
  const std::optional<std::string> variable = in_environment(only);
  read_setting(info, only, variable ? variable->c_str() : nullptr, settings);
  return settings;
}

void fail_on_different_settings(MPI_Comm comm, MPI_Info info) {
  run_collectively(comm, [&] {
    const std::vector<std::string> mine = all_values(info);
    Classic<std::istringstream> first(broadcast(comm, joined(mine)));
    for (std::size_t k = 0; k < mine.size(); ++k) {
      std::string theirs;
      std::getline(first, theirs);
      if (all_settings()[k].affects != Affects::rank && theirs != mine[k])
        fail(Errc::mismatch, "ranks gave different info keys or environment variables: ",
             name_of(all_settings()[k]), " is ", in_quotes(theirs), " on rank 0 and ",
             in_quotes(mine[k]), " on rank ", rank_in(comm), "; it must be the same on all ranks");
    }
  });
  fail(Errc::mismatch,
       "ranks gave different info keys or environment variables (TONARI_...); they must be the "
       "same on all ranks");
}

Settings read_settings(MPI_Info info, Where calls, Settings inherited) {
  return read_settings(info, calls, Variables(calls), std::move(inherited));
}

std::shared_ptr<const KeptSettings> read_kept_settings(MPI_Info info, Where calls,
                                                       const Variables& variables) {
  struct Defaults {
    std::shared_ptr<const KeptSettings> kept = std::make_shared<const KeptSettings>();
  };
  if (!variables.any() && info == MPI_INFO_NULL) return lasting<Defaults>().kept;
  return std::make_shared<const KeptSettings>(read_settings(info, calls, variables, {}));
}

}  // namespace tonari
