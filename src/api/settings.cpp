#include "api/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <vector>

#include "channels/mpi_error.hpp"
#include "graphs/algorithm.hpp"
#include "planners/algorithm.hpp"

namespace tonari {
namespace {

std::optional<std::string> lookup(MPI_Info info, const char* key, const char* variable) {
  if (const char* value = std::getenv(variable); value && *value) return value;
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

void check_algorithm(const std::string& name) {
  std::vector<std::string> names{"auto", "native", "irecv"};
  const auto add = [&](const auto& table) {
    for (const auto& algorithm : table)
      if (std::find(names.begin(), names.end(), algorithm.name) == names.end()) names.emplace_back(algorithm.name);
  };
  add(algorithms());
  add(graph_algorithms());
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  fail(Errc::algorithm, "tonari_algorithm (TONARI_ALGORITHM) is '", name, "'; it must be one of ", list);
}

void check_channel(const std::string& name) {
  if (name != "auto" && name != "p2p-typed" && name != "p2p-packed")
    fail(Errc::argument, "tonari_channel (TONARI_CHANNEL) is '", name, "'; it must be auto, p2p-typed or p2p-packed");
}

}  // namespace

Settings read_settings(MPI_Info info, Settings settings) {
  if (const auto value = lookup(info, "tonari_algorithm", "TONARI_ALGORITHM")) check_algorithm(settings.algorithm = *value);
  if (const auto value = lookup(info, "tonari_channel", "TONARI_CHANNEL")) check_channel(settings.channel = *value);
  if (const auto value = lookup(info, "tonari_tune", "TONARI_TUNE")) settings.tune = parse_tune(*value);
  if (const auto value = lookup(info, "tonari_ports", "TONARI_PORTS")) settings.ports = parse_ports(*value);
  return settings;
}

}  // namespace tonari
