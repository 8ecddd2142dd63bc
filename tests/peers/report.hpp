// SPDX-License-Identifier: BSD-3-Clause
// What a rank has seen, as a line of JSON: in a file of its own in the folder TONARI_PEERS_REPORTS,
// else on standard output.
#pragma once

#include <tonari/tonari.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tonari::test {

inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

// Mappings of memory that is shared through files without names.
inline int mappings() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);)
    found += line.find("memfd:tonari") != std::string::npos;
  return found;
}

// Open files of the library: those, and processes that are watched. What a long wait has shown
// (memory/wait_record.hpp) may stay until MPI_Finalize.
inline int open_files() {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    found += target.find("memfd:tonari ") != std::string::npos;
  }
  return found;
}

struct PeerReport {
  int rank = 0, code = 0, exchanges = 0;
  long wrong = 0;
  double seconds = 0;
  std::string sentence, description;

  void write() const {
    std::ostringstream line;
    line << "{\"rank\": " << rank << ", \"process\": " << getpid() << ", \"code\": " << code
         << ", \"peer_error\": " << (code == TONARI_ERR_PEER ? "true" : "false")
         << ", \"sentence\": " << quoted(sentence) << ", \"seconds\": " << seconds
         << ", \"wrong\": " << wrong << ", \"exchanges\": " << exchanges
         << ", \"mappings\": " << mappings() << ", \"open_files\": " << open_files()
         << ", \"description\": " << quoted(description) << "}\n";
    const char* const folder = std::getenv("TONARI_PEERS_REPORTS");
    if (!folder)
      std::printf("%s", line.str().c_str()), std::fflush(stdout);
    else
      std::ofstream(std::string(folder) + "/" + std::to_string(rank)) << line.str();
  }
};

}  // namespace tonari::test
