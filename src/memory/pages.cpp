// SPDX-License-Identifier: BSD-3-Clause
#include "memory/pages.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/classic.hpp"
#include "base/error.hpp"

namespace tonari {
namespace {

constexpr std::size_t largest_page = std::size_t{1} << 30;
// This many mappings stay for libraries that are loaded later, stacks of threads, and malloc.
constexpr std::int64_t most_left_for_others = 1024;
constexpr const char* huge_directory = "/sys/kernel/mm/hugepages";

std::optional<std::int64_t> number_in(const std::string& file) {
  std::int64_t number = 0;
  if (Classic<std::ifstream> in(file); in >> number) return number;
  return std::nullopt;
}

std::string huge_directory_of(std::size_t bytes, const std::string& root) {
  return text(root, huge_directory, "/hugepages-", bytes / 1024, "kB");
}

// Reads the size from a name like hugepages-2048kB; 0 for any other name.
std::size_t huge_page_of(std::string_view directory) {
  constexpr std::string_view before = "hugepages-", behind = "kB";
  if (!directory.starts_with(before) || !directory.ends_with(behind)) return 0;
  std::size_t kib = 0;
  std::from_chars(directory.data() + before.size(), directory.data() + directory.size(), kib);
  return kib * 1024;
}

std::string listed(const std::vector<std::size_t>& numbers) {
  std::string list;
  for (std::size_t number : numbers) list += (list.empty() ? "" : ", ") + std::to_string(number);
  return list;
}

void check_huge(std::size_t bytes, std::uint64_t needed, const std::string& root) {
  const std::vector<std::size_t> sizes = huge_pages(root);
  if (sizes.empty()) fail(Errc::argument, "this system has no huge pages: do without them");
  if (!std::binary_search(sizes.begin(), sizes.end(), bytes))
    fail(Errc::argument, "this system has no huge pages of ", bytes, " bytes: choose one of ",
         listed(sizes), ", or do without huge pages");
  const std::uint64_t wanted = needed / bytes + (needed % bytes != 0);
  const auto free = static_cast<std::uint64_t>(free_huge_pages(bytes, root));
  if (wanted <= free) return;
  const std::string file = huge_pages_file(bytes, root);
  const auto set_aside = static_cast<std::uint64_t>(number_in(file).value_or(0));
  fail(Errc::memory, needed, " bytes need ", wanted, " huge pages of ", bytes, " bytes, and ", free,
       " are free: write ", set_aside + (wanted - free), " to ", file,
       " (as root), or do without huge pages");
}

}  // namespace

std::size_t system_page() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::vector<std::size_t> huge_pages(const std::string& root) {
  std::vector<std::size_t> sizes;
  std::error_code no_directory;
  for (const auto& entry : std::filesystem::directory_iterator(root + huge_directory, no_directory))
    if (const std::size_t bytes = huge_page_of(entry.path().filename().string()))
      sizes.push_back(bytes);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

// Beyond the pages that were set aside, the kernel may be allowed to find more ("surplus"), up to a
// limit.
std::int64_t free_huge_pages(std::size_t bytes, const std::string& root) {
  auto count = [&](const char* name) {
    return number_in(huge_directory_of(bytes, root) + "/" + name).value_or(0);
  };
  const std::int64_t aside = count("free_hugepages") - count("resv_hugepages"),
                     beyond = count("nr_overcommit_hugepages") - count("surplus_hugepages");
  return std::max<std::int64_t>(aside, 0) + std::max<std::int64_t>(beyond, 0);
}

std::string huge_pages_file(std::size_t bytes, const std::string& root) {
  return huge_directory_of(bytes, root) + "/nr_hugepages";
}

void check_page(std::size_t bytes, bool huge, std::uint64_t needed, const std::string& root) {
  if (!std::has_single_bit(bytes) || bytes < system_page() || bytes > largest_page)
    fail(Errc::argument, "regions can be padded to powers of two from ", system_page(),
         " bytes, a page of this system, to ", largest_page, " bytes, not to ", bytes);
  if (huge) check_huge(bytes, needed, root);
}

std::int64_t most_mappings(const std::string& root) {
  return number_in(root + "/proc/sys/vm/max_map_count")
      .value_or(std::numeric_limits<std::int64_t>::max());
}

// The file has one line per mapping. It lists the kernel's own [vsyscall], which does not count.
std::int64_t mappings_now(const std::string& root) {
  std::int64_t count = 0;
  Classic<std::ifstream> maps(root + "/proc/self/maps");
  for (std::string line; std::getline(maps, line);) count += !line.ends_with("[vsyscall]");
  return count;
}

void check_mappings(std::int64_t needed, const std::string& root) {
  const std::int64_t most = most_mappings(root), now = mappings_now(root),
                     others = std::min(most / 8, most_left_for_others);
  if (needed <= most - others - now) return;
  fail(Errc::memory, needed, " more mappings are needed, but this process may have ", most,
       " (vm.max_map_count) and has ", now,
       ": raise the limit by `sysctl vm.max_map_count=N`, make fewer subdomains per rank, fewer "
       "copies or fields, or choose storage brick instead of mapped");
}

}  // namespace tonari
