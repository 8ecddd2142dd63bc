// SPDX-License-Identifier: BSD-3-Clause
#include "explorer/orders.hpp"

#include <link.h>
#include <stdio.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>

namespace tonari::explorer {
namespace {

struct Site {
  Kind kind;
  std::memory_order order;
};

struct Orders {
  std::map<const void*, Site> asked;
  std::map<const void*, std::memory_order> weakened;
  std::map<const void*, std::string> places;
};

Orders& orders() {
  static Orders* const one = new Orders;
  return *one;
}

// By how much the program was moved when it was loaded.
std::uintptr_t bias() {
  std::uintptr_t found = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
        return 1;  // the program comes first
      },
      &found);
  return found;
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (!pipe) return text;
  std::array<char, 4096> part;
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), n);
  ::pclose(pipe);
  return text;
}

// "/where/it/was/compiled/src/memory/cell.hpp:65 (discriminator 1)" -> "src/memory/cell.hpp:65"; of
// other code "".
std::string in_source(const std::string& line) {
  for (const char* folder : {"/src/", "/tests/"}) {
    const std::size_t at = line.rfind(folder), end = line.rfind(':');
    if (at == std::string::npos || end < at) continue;
    if (std::ifstream(TONARI_SOURCE + line.substr(at, end - at)))
      return line.substr(at + 1, line.find(' ', end) - at - 1);
  }
  return "";
}

// Finds where these places of the program come from. Of functions that were compiled into each
// other the innermost counts that is no library's.
void find_places(const std::vector<const void*>& sites) {
  std::ostringstream command;
  command << "addr2line -a -i -e /proc/" << ::getpid() << "/exe" << std::hex;
  for (const void* site : sites)
    command << " 0x" << reinterpret_cast<std::uintptr_t>(site) - bias() - 1;
  std::istringstream lines(output_of(command.str()));
  std::size_t next = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, 2, "0x") == 0)
      ++next;
    else if (std::string& place = orders().places[sites[next - 1]]; place.empty())
      place = in_source(line);
}

void find_all_places() {
  std::vector<const void*> unknown;
  for (const auto& [site, asked] : orders().asked)
    if (!orders().places.contains(site)) unknown.push_back(site);
  if (!unknown.empty()) find_places(unknown);
}

std::string text_of(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  std::ifstream file(TONARI_SOURCE "/" + place.substr(0, colon));
  std::string line;
  for (int left = std::stoi(place.substr(colon + 1)); left > 0; --left) std::getline(file, line);
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first);
}

// In code, not in its comments. An order of acq_rel is weakened in two ways.
std::size_t mutants_in(const std::string& line) {
  const std::string code = line.substr(0, line.find("//"));
  std::size_t count = 0;
  for (const char* order : {"acquire", "release", "seq_cst", "acq_rel", "acq_rel", "consume"}) {
    const std::string word = std::string("memory_order_") + order;
    for (std::size_t at = 0; (at = code.find(word, at)) != std::string::npos; ++at) ++count;
  }
  return count;
}

}  // namespace

std::map<std::string, std::size_t> mutants_in_sources() {
  const std::filesystem::path root = TONARI_SOURCE;
  std::map<std::string, std::size_t> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "src")) {
    std::ifstream file(entry.path());
    std::size_t number = 0;
    for (std::string line; ++number, std::getline(file, line);)
      if (const std::size_t count = mutants_in(line))
        found[entry.path().lexically_relative(root).string() + ":" + std::to_string(number)] =
            count;
  }
  return found;
}

std::string place(const void* site) {
  if (!orders().places.contains(site)) find_all_places();
  return orders().places[site];
}

std::vector<OrderedLine> ordered_lines() {
  find_all_places();
  std::map<std::tuple<std::string, Kind, std::memory_order>, std::vector<const void*>> lines;
  for (const auto& [site, asked] : orders().asked)
    lines[{orders().places[site], asked.kind, asked.order}].push_back(site);
  std::vector<OrderedLine> found;
  for (const auto& [line, sites] : lines)
    if (const auto& [where, kind, order] = line; !where.empty())
      found.push_back({where, text_of(where), kind, order, sites});
  return found;
}

void forget_orders() { orders().asked.clear(); }

std::vector<std::memory_order> weaker(Kind kind, std::memory_order order) {
  switch (order) {
    case std::memory_order_seq_cst:
      if (kind == Kind::load) return {std::memory_order_acquire};
      if (kind == Kind::store) return {std::memory_order_release};
      return {std::memory_order_acq_rel};
    case std::memory_order_acq_rel:
      return {std::memory_order_acquire, std::memory_order_release};
    case std::memory_order_relaxed:
      return {};
    default:
      return {std::memory_order_relaxed};
  }
}

Weakened::Weakened(const OrderedLine& line, std::memory_order order) {
  for (const void* site : line.sites) orders().weakened[site] = order;
}
Weakened::~Weakened() { orders().weakened.clear(); }

std::memory_order order_at(const void* site, Kind kind, std::memory_order order) {
  orders().asked.try_emplace(site, Site{kind, order});
  const auto found = orders().weakened.find(site);
  return found == orders().weakened.end() ? order : found->second;
}

std::string name(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
    default:
      return "acquire";
  }
}

}  // namespace tonari::explorer
