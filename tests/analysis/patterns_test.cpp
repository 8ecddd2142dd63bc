// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/patterns.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/errors.hpp"

namespace tonari {
namespace {

// A file of offsets that is gone after the test.
class OffsetFile {
 public:
  explicit OffsetFile(const std::string& text)
      : path_(testing::TempDir() + "/tonari-offsets-" + std::to_string(getpid())) {
    std::ofstream(path_) << text;
  }
  ~OffsetFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string complaint(const std::string& pattern, Errc code = Errc::argument) {
  const Error e = test::error_of([&] { parse_pattern(pattern); });
  EXPECT_EQ(e.code(), code) << pattern;
  return e.what();
}

std::size_t count(const std::string& pattern) { return parse_pattern(pattern).offsets.size(); }

TEST(Patterns, Count) {
  EXPECT_EQ(count("moore:1:1"), 2u);
  EXPECT_EQ(count("moore:2:1"), 8u);
  EXPECT_EQ(count("moore:3:1"), 26u);
  EXPECT_EQ(count("moore:3:3"), 342u);  // (2r + 1)^d - 1
  EXPECT_EQ(count("moore:5:3"), 16806u);
  EXPECT_EQ(count("moore:8:1"), 6560u);
  EXPECT_EQ(count("star:3:1"), 6u);
  EXPECT_EQ(count("star:4:3"), 24u);  // 2 r d
  EXPECT_EQ(count("octant:3"), 7u);   // 2^d - 1
  EXPECT_EQ(count("octant:3:2"), 26u);
  EXPECT_EQ(count("shells:3:3,7"), 1396u);  // 7^3 - 5^3 + 15^3 - 13^3
  EXPECT_EQ(count("shells:3:7,3"), 1396u);
  EXPECT_EQ(count("shells:2:1"), 8u);
}

TEST(Patterns, AreInRowOrderWithoutZeroAndDuplicates) {
  for (const char* pattern : {"moore:3:2", "star:3:2", "octant:4", "shells:2:1,3"}) {
    const Pattern p = parse_pattern(pattern);
    EXPECT_TRUE(std::is_sorted(p.offsets.begin(), p.offsets.end())) << pattern;
    EXPECT_EQ(std::adjacent_find(p.offsets.begin(), p.offsets.end()), p.offsets.end()) << pattern;
    EXPECT_EQ(std::count(p.offsets.begin(), p.offsets.end(), Vec{}), 0) << pattern;
  }
  EXPECT_EQ(parse_pattern("star:2:1").offsets,
            (std::vector<Vec>{{-1, 0}, {0, -1}, {0, 1}, {1, 0}}));
  EXPECT_EQ(parse_pattern("octant:2").offsets, (std::vector<Vec>{{0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(parse_pattern("moore:3:1").dimensions, 3);
}

TEST(Patterns, ShellsHaveTheWantedMaximumNorms) {
  for (const Vec& v : parse_pattern("shells:3:1,3").offsets) {
    const int most = std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])});
    EXPECT_TRUE(most == 1 || most == 3) << v[0] << ' ' << v[1] << ' ' << v[2];
  }
}

TEST(Patterns, FilesKeepOrderDuplicatesAndZero) {
  const OffsetFile file(
      "# octant and itself\n1 0 -1\n 0,0,0 # stays\n\n1, 0, -1\r\n-1000000\t2 1000000\n");
  const Pattern p = parse_pattern(file.path());
  EXPECT_EQ(p.dimensions, 3);
  EXPECT_EQ(p.offsets,
            (std::vector<Vec>{{1, 0, -1}, {0, 0, 0}, {1, 0, -1}, {-1000000, 2, 1000000}}));
}

TEST(Patterns, WrongNamesGetASentence) {
  EXPECT_EQ(complaint("moore"),
            "'moore' must read like moore:3:1, star:3:2, octant:3 or shells:3:3,7");
  EXPECT_EQ(complaint("moore:3"),
            "'moore:3' must read like moore:3:1, star:3:2, octant:3 or shells:3:3,7");
  EXPECT_EQ(complaint("moore:3:1:1"),
            "'moore:3:1:1' must read like moore:3:1, star:3:2, octant:3 or shells:3:3,7");
  EXPECT_EQ(complaint("moore:9:1"), "'9' in 'moore:9:1' must be an integer from 1 to 8");
  EXPECT_EQ(complaint("moore:0:1"), "'0' in 'moore:0:1' must be an integer from 1 to 8");
  EXPECT_EQ(complaint("star:3:x"), "'x' in 'star:3:x' must be an integer from 1 to 1000");
  EXPECT_EQ(complaint("star:3:1x"), "'1x' in 'star:3:1x' must be an integer from 1 to 1000");
  EXPECT_EQ(complaint("star:3:99999999999"),
            "'99999999999' in 'star:3:99999999999' must be an integer from 1 to 1000");
  EXPECT_EQ(complaint("octant:2:-1"), "'-1' in 'octant:2:-1' must be an integer from 1 to 1000");
  EXPECT_EQ(complaint("shells:3:3,"), "'' in 'shells:3:3,' must be an integer from 1 to 1000");
  EXPECT_EQ(complaint("shells:3:"), "'' in 'shells:3:' must be an integer from 1 to 1000");
  EXPECT_EQ(complaint("moore:3:1:"),
            "'moore:3:1:' must read like moore:3:1, star:3:2, octant:3 or shells:3:3,7");
  EXPECT_EQ(complaint("shells:3:0"), "'0' in 'shells:3:0' must be an integer from 1 to 1000");
}

TEST(Patterns, TooManyNeighborsAreRefusedBeforeTheyAreMade) {
  EXPECT_EQ(complaint("moore:8:1000"),
            "'moore:8:1000' has more than 16777216 neighbors; use a smaller radius");
  EXPECT_EQ(complaint("octant:8:8"),
            "'octant:8:8' has more than 16777216 neighbors; use a smaller radius");
}

TEST(Patterns, WrongFilesGetASentence) {
  EXPECT_EQ(complaint("no/such.file", Errc::file),
            "'no/such.file' is neither moore:d:r, star:d:r, octant:d[:r], shells:d:r1,r2 nor a "
            "readable file of offsets");
  EXPECT_EQ(complaint("", Errc::file),
            "'' is neither moore:d:r, star:d:r, octant:d[:r], shells:d:r1,r2 nor a readable file "
            "of offsets");
  const auto file_complaint = [](const std::string& text, Errc code) {
    const OffsetFile file(text);
    std::string what = complaint(file.path(), code);
    if (const auto at = what.find(file.path()); at != std::string::npos)
      what.replace(at, file.path().size(), "FILE");
    return what;
  };
  EXPECT_EQ(file_complaint("", Errc::file),
            "FILE holds no offset; write one per line, for example '1 0 -1'");
  EXPECT_EQ(file_complaint("# nothing\n\n", Errc::file),
            "FILE holds no offset; write one per line, for example '1 0 -1'");
  EXPECT_EQ(file_complaint("1 0\n1 0 0\n", Errc::file),
            "FILE: '1 0 0' has 3 coordinates, the lines before have 2");
  EXPECT_EQ(file_complaint("1 2 3 4 5 6 7 8 9\n", Errc::file),
            "FILE: more than 8 coordinates in '1 2 3 4 5 6 7 8 9'");
  EXPECT_EQ(file_complaint("1 b\n", Errc::argument),
            "'b' in 'FILE' must be an integer from -1000000 to 1000000");
  EXPECT_EQ(file_complaint("1 1000001\n", Errc::argument),
            "'1000001' in 'FILE' must be an integer from -1000000 to 1000000");
}

TEST(Patterns, ADirectoryIsNoFileOfOffsets) {
  EXPECT_EQ(test::error_of([] { parse_pattern("/"); }).code(), Errc::file);
}

}  // namespace
}  // namespace tonari
