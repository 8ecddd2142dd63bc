// SPDX-License-Identifier: BSD-3-Clause
// The matrices of tests/data, which are always there, and those of shared/data, where they are.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "planners/patterns/communication_matrix.hpp"

namespace tonari::sharing {

// Reads what this project's own data look like and nothing else; unpacked by gzip.
inline std::optional<CommunicationMatrix> read_matrix(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      popen(("gzip -dc '" + path.string() + "'").c_str(), "r"), pclose);
  char line[256];
  int ranks = -1;
  std::vector<Flow> flows;
  while (file && std::fgets(line, sizeof line, file.get())) {
    int from = 0, to = 0;
    unsigned long long words = 0;
    if (line[0] == '%' || std::sscanf(line, "%d %d %llu", &from, &to, &words) != 3) continue;
    if (ranks < 0)
      ranks = from;
    else
      flows.push_back({from - 1, to - 1, words});
  }
  if (ranks < 0) return std::nullopt;
  return CommunicationMatrix(ranks, flows);
}

inline std::filesystem::path tests_folder() {
  return std::filesystem::path(TONARI_GOLDENS).parent_path();
}

inline std::optional<CommunicationMatrix> data_set(const std::string& name) {
  return read_matrix(tests_folder().parent_path().parent_path() / "shared/data/comm512" /
                     (name + ".mtx.gz"));
}

// Those of them that this repository has.
constexpr const char* bundled_names[] = {"sparsine", "bcsstk29", "fe_pwt", "finan512"};

inline std::optional<CommunicationMatrix> bundled(const std::string& name) {
  return read_matrix(tests_folder() / "data/comm512" / (name + ".mtx.gz"));
}

}  // namespace tonari::sharing
