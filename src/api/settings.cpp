#include "api/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/hash.hpp"
#include "channels/mpi_error.hpp"
#include "graphs/algorithm.hpp"
#include "planners/algorithm.hpp"

namespace tonari {
namespace {

std::optional<std::string> value_of(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return std::nullopt;
  char value[256];
  int found = 0;
  check_mpi(MPI_Info_get(info, key, sizeof value - 1, value, &found), "MPI_Info_get");
  return found ? std::optional<std::string>(value) : std::nullopt;
}

int parse_ports(const std::string& word) {
  int ports = -1;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), ports);
  if (status != std::errc() || end != word.data() + word.size() || ports < 0)
    fail(Errc::argument, "tonari_ports (TONARI_PORTS) is '", word, "'; it must be a number of messages, 0 for no limit");
  return ports;
}

// "balanced" or "balanced/both ends".
void set_algorithm(Settings& settings, const std::string& word) {
  const std::size_t slash = std::min(word.find('/'), word.size());
  const std::string name = word.substr(0, slash);
  settings.algorithm = name;
  settings.variant = word.substr(std::min(slash + 1, word.size()));
  std::vector<std::string> names{"auto", "native", "irecv"};
  if (slash + 1 == word.size()) fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", word, "'; give a variant after the slash, or leave it out");
  if (slash < word.size() && std::find(names.begin(), names.end(), name) != names.end())
    fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", word, "', but '", name, "' has no variants");
  const auto add = [&](const auto& table) {
    for (const auto& algorithm : table)
      if (std::find(names.begin(), names.end(), algorithm.name) == names.end()) names.emplace_back(algorithm.name);
  };
  add(algorithms());
  add(graph_algorithms());
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", word, "'; it must be one of ", list, ", and may go on with a slash and a variant");
}

void check_channel(const std::string& name) {
  std::string list = "auto";
  for (Via via : choosable) {
    const char* const known = ChannelChoice{via}.name();
    if (name == known) return;
    list += text(", ", known);
  }
  if (name != "auto") fail(Errc::argument, "tonari_channel (TONARI_CHANNEL) is '", name, "'; it must be one of ", list);
}

bool parse_view(const std::string& word) {
  if (word != "yes" && word != "no") fail(Errc::argument, "tonari_recv_view is '", word, "'; it must be yes or no");
  return word == "yes";
}

double parse_timeout(const std::string& word) {
  char* end = nullptr;
  const double seconds = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != 0 || !(seconds > 0))
    fail(Errc::argument, "tonari_timeout (TONARI_TIMEOUT) is '", word, "'; it must be a positive number of seconds");
  return seconds;
}

bool parse_progress(const std::string& word) {
  if (word != "calls" && word != "thread") fail(Errc::argument, "tonari_progress (TONARI_PROGRESS) is '", word, "'; it must be calls or thread");
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  if (word == "thread" && provided < MPI_THREAD_MULTIPLE)
    fail(Errc::argument,
         "tonari_progress (TONARI_PROGRESS) is 'thread', which needs MPI_THREAD_MULTIPLE; ask MPI_Init_thread for it, or leave progress to calls");
  return word == "thread";
}

// Not what an environment variable could say: it is a promise about the program.
bool read_promise(MPI_Info info, const char* key) {
  const std::string word = value_of(info, key).value_or("false");
  if (word != "true" && word != "false") fail(Errc::argument, key, " is '", word, "'; it must be true or false");
  return word == "true";
}

}  // namespace

std::optional<std::string> lookup(MPI_Info info, const char* key, const char* variable) {
  if (const char* value = std::getenv(variable); value && *value) return value;
  return value_of(info, key);
}

Settings read_settings(MPI_Info info, Settings settings) {
  if (const auto value = lookup(info, "tonari_algorithm", "TONARI_ALGORITHM")) set_algorithm(settings, *value);
  if (const auto value = lookup(info, "tonari_channel", "TONARI_CHANNEL")) check_channel(settings.channel = *value);
  if (const auto value = lookup(info, "tonari_tune", "TONARI_TUNE")) settings.tune = parse_tune(*value);
  if (const auto value = lookup(info, "tonari_ports", "TONARI_PORTS")) settings.ports = parse_ports(*value);
  if (const auto value = lookup(info, "tonari_progress", "TONARI_PROGRESS")) settings.progress_thread = parse_progress(*value);
  if (const auto value = value_of(info, "tonari_recv_view")) settings.recv_view = parse_view(*value);  // no variable: the program must know
  if (const auto value = lookup(info, "tonari_timeout", "TONARI_TIMEOUT")) settings.timeout = parse_timeout(*value);
  return settings;
}

Settings read_neighborhood_settings(MPI_Info info) {
  Settings settings = read_settings(info, {});
  settings.strict_communication = read_promise(info, "cdag_strict_communication");
  settings.exact_byte_communications = read_promise(info, "cdag_exact_byte_communications");
  settings.static_buffers = read_promise(info, "cdag_static_buffers");
  return settings;
}

namespace {

std::optional<SwapOrder> parse_order(const std::string& word) {
  if (word == "auto") return std::nullopt;
  if (const auto order = swap_order_named(word)) return order;
  fail(Errc::algorithm, "tonari_algorithm (TONARI_INPLACE_ALGORITHM) is '", word, "'; in place it must be auto, mpich-order, linear-shift or hierarchical-sets");
}

Bytes parse_memory(const std::string& word) {
  Bytes bytes = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
  if (error != std::errc() || end != word.data() + word.size())
    fail(Errc::argument, "tonari_inplace_memory (TONARI_INPLACE_MEMORY) is '", word, "'; it must be a number of bytes, such as 1048576");
  return bytes;
}

// What names a way to ranks of other nodes, or derived datatypes, is taken as the nearest of what there is.
std::string nearest_channel(const std::string& name) {
  if (name == "auto") return name;
  return name.starts_with("shared") ? "shared" : "p2p-packed";
}

}  // namespace

InPlaceSettings read_in_place_settings(MPI_Info info) {
  InPlaceSettings settings;
  if (const auto value = lookup(info, "tonari_algorithm", "TONARI_INPLACE_ALGORITHM")) settings.order = parse_order(*value);
  settings.order_by_key = value_of(info, "tonari_algorithm").value_or("auto") != "auto";
  if (const auto value = lookup(info, "tonari_channel", "TONARI_CHANNEL")) check_channel(*value), settings.channel = nearest_channel(*value);
  if (const auto value = lookup(info, "tonari_inplace_memory", "TONARI_INPLACE_MEMORY")) settings.memory = parse_memory(*value);
  if (const auto value = lookup(info, "tonari_timeout", "TONARI_TIMEOUT")) settings.timeout = parse_timeout(*value);
  if (const auto value = lookup(info, "tonari_progress", "TONARI_PROGRESS")) settings.progress_thread = parse_progress(*value);
  return settings;
}

std::uint64_t InPlaceSettings::fingerprint() const {
  return Hash().word(order ? static_cast<std::uint64_t>(*order) + 1 : 0).bytes(channel).word(progress_thread).value();
}

}  // namespace tonari
