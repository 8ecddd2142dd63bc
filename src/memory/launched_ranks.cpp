// SPDX-License-Identifier: BSD-3-Clause
#include "memory/launched_ranks.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "memory/owned.hpp"
#include "memory/process.hpp"

namespace tonari {
namespace {

// Those of other processes. Slurm's is in scripts and launchers, too.
constexpr std::size_t of_ranks_only = 3;
// Tells jobs of one launcher apart.
constexpr const char* job_variable = "PMIX_NAMESPACE";

std::string file_of(std::int64_t process, const char* name) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/%s", static_cast<long long>(process), name);
  return path;
}

std::string contents(std::int64_t process, const char* name) {
  std::string all;
  const OpenFile file(::open(file_of(process, name).c_str(), O_RDONLY | O_CLOEXEC));
  char piece[4096];
  for (ssize_t got = 1; file && got > 0;) {
    got = ::read(file.descriptor(), piece, sizeof piece);
    if (got > 0) all.append(piece, static_cast<std::size_t>(got));
  }
  return all;
}

std::string program_of(std::int64_t process) {
  char target[512];
  const ssize_t length = ::readlink(file_of(process, "exe").c_str(), target, sizeof target);
  return std::string(target, static_cast<std::size_t>(length < 0 ? 0 : length));
}

std::int64_t parent_of(std::int64_t process) {
  const std::string line = contents(process, "stat");
  const std::size_t bracket = line.rfind(')');  // the name before it may contain anything
  long long parent = 0;
  if (bracket == std::string::npos ||
      std::sscanf(line.c_str() + bracket + 1, " %*c %lld", &parent) != 1)
    return 0;
  return parent;
}

// What follows the name in a list of words that end with zeros; null: it is not there.
const char* value(const std::string& environment, std::string_view name) {
  for (std::size_t at = 0; at < environment.size();) {
    const char* const word = environment.c_str() + at;
    if (std::string_view(word).starts_with(name) && word[name.size()] == '=')
      return word + name.size() + 1;
    at += std::strlen(word) + 1;
  }
  return nullptr;
}

struct Launched {
  std::int32_t rank = -1;
  std::string job;
};

Launched read_launched(std::int64_t process) {
  const std::string environment = contents(process, "environ");
  Launched found;
  for (const char* const name : std::span(rank_variables).first<of_ranks_only>())
    if (const char* const text = value(environment, name)) {
      const char* const end = text + std::strlen(text);
      if (std::from_chars(text, end, found.rank).ptr != end) found.rank = -1;
      break;
    }
  if (const char* const job = value(environment, job_variable)) found.job = job;
  return found;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// The processes that know a rank, their launchers, and which is a rank itself.
class Processes {
 public:
  Processes() {
    const std::unique_ptr<DIR, CloseFolder> all(::opendir("/proc"));
    if (!all) return;
    while (const dirent* const entry = ::readdir(all.get()))
      if (const std::int64_t process = std::atoll(entry->d_name)) note(process);
  }
  const Launched* find(std::int64_t process) const {
    const auto found = known_.find(process);
    return found == known_.end() ? nullptr : &found->second;
  }
  // The first ancestor that is no rank.
  std::int64_t launcher(std::int64_t process) const {
    while (find(process)) process = parent_of(process);
    return process;
  }
  const std::map<std::int64_t, Launched>& all() const { return known_; }

 private:
  void note(std::int64_t process) {
    if (Launched launched = read_launched(process); launched.rank >= 0)
      known_[process] = std::move(launched);
  }
  std::map<std::int64_t, Launched> known_;
};

}  // namespace

// A rank may have been started by a script, and may start others. It most likely runs the program
// of this process; and it is what such a process started, if there are several.
std::vector<LaunchedRank> launched_ranks() {
  const Processes processes;
  const std::int64_t self = this_process();
  const Launched* const mine = processes.find(self);
  if (!mine) return {};
  const std::int64_t launcher = processes.launcher(self);
  const std::string program = program_of(self);
  std::map<std::int32_t, LaunchedRank> found;
  for (const auto& [process, launched] : processes.all()) {
    if (launched.job != mine->job || processes.launcher(process) != launcher) continue;
    LaunchedRank& rank = found[launched.rank];
    if (rank.all.empty() || program_of(process) == program || program_of(rank.process) != program)
      rank.process = process;
    rank.rank = launched.rank;
    rank.all.push_back(process);
  }
  found[mine->rank].process = self;
  std::vector<LaunchedRank> all;
  for (auto& [number, rank] : found) all.push_back(std::move(rank));
  return all;
}

}  // namespace tonari
