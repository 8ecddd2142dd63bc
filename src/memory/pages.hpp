// SPDX-License-Identifier: BSD-3-Clause
// Pages and mappings as this system reports them; nothing is assumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tonari {

std::size_t system_page();  // bytes

// Sizes of huge pages that this kernel knows, ascending, and how many of a size are available now:
// free and not promised, or allowed as surplus. `root` precedes /sys in all names, for tests.
std::vector<std::size_t> huge_pages(const std::string& root = "");
std::int64_t free_huge_pages(std::size_t bytes, const std::string& root = "");
// The file that says how many are set aside; root may write to it.
std::string huge_pages_file(std::size_t bytes, const std::string& root = "");

// Throws Errc::argument unless regions can be padded to `bytes`: a power of two from the system's
// page to 1 GiB. If `huge`, the system must also have enough huge pages of this size for `needed`
// bytes. Otherwise it throws Errc::memory and names the file and the number to write.
void check_page(std::size_t bytes, bool huge, std::uint64_t needed, const std::string& root = "");

// The mappings that a process may have (vm.max_map_count, or the greatest number if unknown), and
// those of this one. `root` precedes /proc, for tests.
std::int64_t most_mappings(const std::string& root = "");
std::int64_t mappings_now(const std::string& root = "");

// Throws Errc::memory if `needed` more do not fit. It leaves some for others: an eighth of the
// limit, at most 1024. The sentence says what helps: a larger vm.max_map_count, fewer subdomains,
// copies or fields, or storage `brick`.
void check_mappings(std::int64_t needed, const std::string& root = "");

}  // namespace tonari
