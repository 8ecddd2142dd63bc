// Pages and mappings of this system: asked, never assumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tonari {

std::size_t system_page();  // bytes

// Sizes of huge pages that this kernel knows, ascending, and how many of a size are to be had now:
// free and not promised, or allowed beyond those set aside. root: before /sys in all names,
// for tests.
std::vector<std::size_t> huge_pages(const std::string& root = "");
std::int64_t free_huge_pages(std::size_t bytes, const std::string& root = "");
// holds how many are set aside; root writes to it
std::string huge_pages_file(std::size_t bytes, const std::string& root = "");

// Throws Errc::argument unless regions can be padded to `bytes`: a power of two, at least the
// system's page, at most 1 GiB. huge: and the system has huge pages of exactly this size, enough of
// them for `needed` bytes (Errc::memory, with the file to write to and the number to write).
void check_page(std::size_t bytes, bool huge, std::uint64_t needed, const std::string& root = "");

// Mappings that one process may have (vm.max_map_count; the greatest number if it cannot be read),
// and that this one has. root: before /proc, for tests.
std::int64_t most_mappings(const std::string& root = "");
std::int64_t mappings_now(const std::string& root = "");

// Throws Errc::memory if `needed` more do not fit beside those there are, leaving some for others
// (an eighth of the limit at most 1024); says what would help: a larger vm.max_map_count, fewer
// subdomains per rank, fewer copies or fields, storage brick instead of mapped.
void check_mappings(std::int64_t needed, const std::string& root = "");

}  // namespace tonari
