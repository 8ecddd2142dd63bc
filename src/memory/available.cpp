// SPDX-License-Identifier: BSD-3-Clause
#include "memory/available.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/classic.hpp"

namespace tonari {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// Finds the number after a word in a file of lines "word number ...".
std::optional<std::uint64_t> number_of(const std::string& file, std::string_view wanted) {
  Classic<std::ifstream> in(file);
  std::string line, word;
  while (std::getline(in, line)) {
    Classic<std::istringstream> words(line);
    std::uint64_t number = 0;
    if (words >> word && word == wanted && words >> number) return number;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> only_number(const std::string& file) {
  std::uint64_t number = 0;
  if (Classic<std::ifstream> in(file); in >> number) return number;
  return std::nullopt;  // no such file, or "max"
}

// The two versions of control groups have different names for the same things.
struct Names {
  const char *mount, *limit, *used, *inactive, *active;
};
constexpr Names version_1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                          "total_inactive_file", "total_active_file"};
constexpr Names version_2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file",
                          "active_file"};

// Pages of files count as used, but the kernel drops them when the group needs room.
std::uint64_t left_in(const std::string& group, const Names& names) {
  const auto limit = only_number(group + "/" + names.limit),
             used = only_number(group + "/" + names.used);
  if (!limit || !used) return unlimited;
  const std::string statistics = group + "/memory.stat";
  const std::uint64_t files = number_of(statistics, names.inactive).value_or(0) +
                              number_of(statistics, names.active).value_or(0);
  const std::uint64_t held = *used - std::min(*used, files);
  return *limit - std::min(*limit, held);
}

// A group lies within its parents, and each has a limit. Inside a container the path may be
// missing; then only the mount, which is the container's own group, gives a limit.
std::uint64_t left_along(const std::string& root, std::string path, const Names& names) {
  std::uint64_t left = left_in(root + names.mount, names);
  while (path.size() > 1) {
    left = std::min(left, left_in(root + names.mount + path, names));
    path.resize(path.rfind('/'));
  }
  return left;
}

bool lists(std::string_view controllers, std::string_view wanted) {
  for (std::size_t at = 0; at <= controllers.size();) {
    const std::size_t end = std::min(controllers.find(',', at), controllers.size());
    if (controllers.substr(at, end - at) == wanted) return true;
    at = end + 1;
  }
  return false;
}

// The file has lines "number:controllers:/path"; version 2 has one line, without controllers.
std::uint64_t left_in_groups(const std::string& root) {
  std::uint64_t left = unlimited;
  Classic<std::ifstream> groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(":/", first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = line.substr(second + 1);
    if (controllers.empty())
      left = std::min(left, left_along(root, path, version_2));
    else if (lists(controllers, "memory"))
      left = std::min(left, left_along(root, path, version_1));
  }
  return left;
}

}  // namespace

std::uint64_t available_memory(const std::string& root) {
  const auto kib = number_of(root + "/proc/meminfo", "MemAvailable:");
  return std::min(kib && *kib < unlimited / 1024 ? *kib * 1024 : unlimited, left_in_groups(root));
}

bool Allowance::covers(std::uint64_t bytes, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (!asked_ || bytes > left_ || now - *asked_ > std::chrono::seconds(1)) {
    left_ = available_memory(root_) / 1024;
    asked_ = now;
  }
  const bool covered = bytes <= left_;
  if (covered) left_ -= bytes;
  return covered;
}

std::uint64_t free_in(const std::string& directory) {
  struct statvfs room{};
  return ::statvfs(directory.c_str(), &room) == 0 ? std::uint64_t{room.f_bavail} * room.f_frsize
                                                  : unlimited;
}

std::uint64_t file_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
             ? std::uint64_t{limit.rlim_cur}
             : unlimited;
}

}  // namespace tonari
