// SPDX-License-Identifier: BSD-3-Clause
#include "memory/pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "memory/held.hpp"
#include "memory/made_up_root.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

using test::error_of, test::expect_sentence;

constexpr std::size_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

class Pages : public test::MadeUpRoot {
 protected:
  void huge(int kb, int aside, int free, int reserved, int overcommit = 0, int surplus = 0) {
    const std::string directory =
        "/sys/kernel/mm/hugepages/hugepages-" + std::to_string(kb) + "kB/";
    write(directory + "nr_hugepages", std::to_string(aside) + "\n");
    write(directory + "free_hugepages", std::to_string(free) + "\n");
    write(directory + "resv_hugepages", std::to_string(reserved) + "\n");
    write(directory + "nr_overcommit_hugepages", std::to_string(overcommit) + "\n");
    write(directory + "surplus_hugepages", std::to_string(surplus) + "\n");
  }
  void mappings(int count, const std::string& most) {
    std::string lines;
    for (int i = 0; i < count; ++i) lines += "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n";
    write("/proc/self/maps", lines +
                                 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          "
                                 "        [vsyscall]\n");
    write("/proc/sys/vm/max_map_count", most + "\n");
  }
};

TEST_F(Pages, HugeOnesOfThisKernel) {
  EXPECT_EQ(huge_pages(root), std::vector<std::size_t>{});
  EXPECT_EQ(free_huge_pages(2 * mib, root), 0);
  huge(1048576, 0, 0, 0);
  huge(2048, 10, 7, 2);
  huge(64, 0, 0, 0);
  write("/sys/kernel/mm/hugepages/something", "");
  EXPECT_EQ(huge_pages(root), (std::vector<std::size_t>{64 * kib, 2 * mib, gib}));
  EXPECT_EQ(free_huge_pages(2 * mib, root), 5) << "some are free, but promised";
  EXPECT_EQ(free_huge_pages(gib, root), 0);
  EXPECT_EQ(free_huge_pages(4 * mib, root), 0);
  huge(2048, 10, 7, 2, 4, 1);
  EXPECT_EQ(free_huge_pages(2 * mib, root), 8) << "the kernel may look for three more";
  huge(2048, 10, 1, 2, 1, 3);
  EXPECT_EQ(free_huge_pages(2 * mib, root), 0);
}

TEST_F(Pages, ThatRegionsCanBePaddedTo) {
  for (std::size_t bytes = system_page(); bytes <= gib; bytes *= 2)
    check_page(bytes, false, std::numeric_limits<std::uint64_t>::max(), root);
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, system_page() / 2, system_page() + 1,
                            3 * system_page(), 2 * gib, std::size_t{1} << 63})
    expect_sentence(error_of([&] { check_page(bytes, false, 0, root); }), Errc::argument,
                    {"not to " + std::to_string(bytes), "from " + std::to_string(system_page()),
                     "to 1073741824"});
}

TEST_F(Pages, HugeOnesThatAreNotThere) {
  expect_sentence(error_of([&] { check_page(2 * mib, true, 0, root); }), Errc::argument,
                  {"no huge pages", "without"});
  huge(2048, 3, 3, 0);
  huge(1048576, 0, 0, 0);
  expect_sentence(error_of([&] { check_page(4 * mib, true, 0, root); }), Errc::argument,
                  {"of 4194304 bytes", "one of 2097152, 1073741824"});
  expect_sentence(error_of([&] { check_page(system_page(), true, 0, root); }), Errc::argument,
                  {"one of 2097152, 1073741824"});
  expect_sentence(error_of([&] { check_page(3 * mib, true, 0, root); }), Errc::argument,
                  {"powers of two"});
}

TEST_F(Pages, TooFewHugeOnes) {
  huge(2048, 10, 3, 1);  // two to be had
  check_page(2 * mib, true, 0, root);
  check_page(2 * mib, true, 4 * mib, root);
  expect_sentence(error_of([&] { check_page(2 * mib, true, 4 * mib + 1, root); }), Errc::memory,
                  {"4194305 bytes need 3 huge pages of 2097152", "2 are free",
                   "write 11 to " + root + "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
                   "without"});
  expect_sentence(error_of([&] { check_page(2 * mib, true, 200 * mib, root); }), Errc::memory,
                  {"need 100 huge pages", "write 108 to "});
  expect_sentence(
      error_of([&] { check_page(2 * mib, true, std::numeric_limits<std::uint64_t>::max(), root); }),
      Errc::memory, {"need 8796093022208 huge pages"});
  huge(2048, 10, 3, 1, 1);
  check_page(2 * mib, true, 4 * mib + 1, root);
}

TEST_F(Pages, MappingsAndTheirLimit) {
  EXPECT_EQ(most_mappings(root), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(mappings_now(root), 0);
  check_mappings(std::int64_t{1} << 40, root);
  mappings(100, "65530");
  EXPECT_EQ(most_mappings(root), 65530);
  EXPECT_EQ(mappings_now(root), 100) << "the kernel's own is not counted";
}

TEST_F(Pages, MoreMappingsThanThereMayBe) {
  mappings(100, "65530");  // 1024 stay for others
  check_mappings(0, root);
  check_mappings(65530 - 1024 - 100, root);
  expect_sentence(error_of([&] { check_mappings(65530 - 1024 - 100 + 1, root); }), Errc::memory,
                  {"64407 more", "65530 (vm.max_map_count)", "has 100", "sysctl vm.max_map_count",
                   "fewer subdomains", "copies or fields", "brick"});
  EXPECT_EQ(
      error_of([&] { check_mappings(std::numeric_limits<std::int64_t>::max(), root); }).code(),
      Errc::memory);
  mappings(100, "800");  // an eighth
  check_mappings(600, root);
  EXPECT_EQ(error_of([&] { check_mappings(601, root); }).code(), Errc::memory);
  mappings(900, "800");
  EXPECT_EQ(error_of([&] { check_mappings(0, root); }).code(), Errc::memory);
}

// What the kernel says of its huge pages of a size, of all kinds together.
std::int64_t pages_of_all_kinds(std::size_t bytes) {
  const auto number = [&](const std::string& name) {
    std::int64_t found = -1;
    std::ifstream("/sys/kernel/mm/hugepages/hugepages-" + std::to_string(bytes / kib) + "kB/" +
                  name) >>
        found;
    EXPECT_GE(found, 0) << bytes << ", " << name;
    return found;
  };
  return number("nr_hugepages") + number("nr_overcommit_hugepages");
}

TEST(PagesHere, AreWhatTheKernelSays) {
  EXPECT_TRUE(std::has_single_bit(system_page()));
  EXPECT_EQ(system_page(), static_cast<std::size_t>(getpagesize()));
  std::vector<std::size_t> sizes = huge_pages();
  for (std::size_t bytes : sizes) {
    EXPECT_GT(bytes, system_page());
    // other tests may set some aside meanwhile
    const std::int64_t before = pages_of_all_kinds(bytes), available = free_huge_pages(bytes);
    EXPECT_LE(available, std::max(before, pages_of_all_kinds(bytes))) << bytes;
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", none))
    EXPECT_EQ(std::erase(sizes, std::stoull(entry.path().filename().string().substr(10)) * kib), 1u)
        << entry;
  EXPECT_TRUE(sizes.empty());
  EXPECT_GT(most_mappings(), mappings_now());
}

// Every second page of a mapping gets other rights: each change cuts.
TEST(PagesHere, CountMappings) {
  if (test::sanitized) GTEST_SKIP() << "the sanitizer maps memory of its own now and then";
  const std::size_t page = system_page(), pages = 21;
  void* at =
      mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  const std::int64_t before = mappings_now();
  for (std::size_t i = 1; i < pages; i += 2)
    ASSERT_EQ(mprotect(static_cast<char*>(at) + i * page, page, PROT_READ), 0);
  EXPECT_EQ(mappings_now(), before + 20);
  munmap(at, pages * page);
}

}  // namespace
}  // namespace tonari
