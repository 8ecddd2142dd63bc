// SPDX-License-Identifier: BSD-3-Clause
// Schedules are read back as they were written, and whatever else is refused with its line.
#include "planners/patterns/schedule_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "planners/patterns/balanced.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/patterns.hpp"
#include "planners/patterns/schedule_text.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using namespace test;

const std::string example =
    "tonari schedule 1\nranks 4\n# stage from to: blocks\n0 0 1: 0-1 0-2\n1 1 2: 0-2 1-2\n";

MessageSchedule any_schedule(std::mt19937& random, const CommunicationMatrix& matrix) {
  const int most = most_dimensions(matrix.ranks());
  switch (random() % 4) {
    case 0:
      if (most >= 2)
        return store_and_forward(matrix,
                                 2 + static_cast<int>(random() % static_cast<unsigned>(most - 1)));
      return direct_schedule(matrix);
    case 1:
      return combine(matrix, share_messages(matrix, 1 + static_cast<int>(random() % 2)));
    case 2:
      return balanced(matrix, {2 + static_cast<int>(random() % 7)});
    default:
      return direct_schedule(matrix);
  }
}

template <class Is>
std::vector<PairHop> those(const std::vector<PairHop>& all, Is is) {
  std::vector<PairHop> some;
  std::ranges::copy_if(all, std::back_inserter(some), is);
  return some;
}

TEST(ScheduleFile, IsReadBackRankByRank) {
  std::mt19937 random(71);
  for (unsigned k = 0; k < random_cases(60u) && !testing::Test::HasFailure(); ++k) {
    const CommunicationMatrix matrix = sharing::any_pattern(random, 24);
    const MessageSchedule schedule = any_schedule(random, matrix);
    const std::string text = schedule_text(matrix, schedule);
    const std::vector<PairHop> hops = hops_of(matrix, schedule);
    EXPECT_LE(text.size(), most_schedule_bytes(matrix.ranks(), matrix.blocks()));
    for (int rank = 0; rank < matrix.ranks(); ++rank) {
      const OwnSchedule own = read_text(text, rank, matrix.ranks());
      EXPECT_EQ(own.out, those(hops, [&](const PairHop& hop) { return hop.from == rank; }));
      EXPECT_EQ(own.in, those(hops, [&](const PairHop& hop) { return hop.to == rank; }));
    }
  }
}

TEST(ScheduleFile, IsTheSameHoweverItsBytesCome) {
  std::mt19937 random(72);
  std::string text = example;
  for (int line = 0; line < 5000; ++line) text += "# " + std::string(random() % 60, '-') + "\n";
  const std::uint64_t whole = read_text(text, 1, 4).fingerprint;
  for (const std::size_t pieces : {1, 7, 4096, 65536, 100000})
    EXPECT_EQ(read_schedule({"s.txt", 1, 4}, bytes_of(text, pieces)).fingerprint, whole);
}

TEST(ScheduleFile, EveryByteCountsForTheFingerprint) {
  std::set<std::uint64_t> prints{read_text(example, 0, 4).fingerprint};
  std::string other = example;
  other.replace(other.find("0-2"), 3, "0-3");
  EXPECT_TRUE(prints.insert(read_text(other, 3, 4).fingerprint).second);
  EXPECT_TRUE(prints.insert(read_text(example + "#\n", 0, 4).fingerprint).second);
  EXPECT_FALSE(prints.insert(read_text(example, 2, 4).fingerprint).second);
}

TEST(ScheduleFile, WhatIsCutOffInALineIsRefused) {
  for (std::size_t bytes = 0; bytes < example.size(); ++bytes) {
    const std::string part = example.substr(0, bytes);
    const Error error = test::error_of([&] { read_text(part, 0, 4); });
    if (part.ends_with('\n') && part.size() >= example.find('#'))
      EXPECT_EQ(error.code(), Errc::success) << part;
    else
      expect_sentence(error, Errc::file, {"the schedule 's.txt' cannot be used: line ", "cut off"});
  }
}

struct Wrong {
  const char *instead, *sentence;
};

TEST(ScheduleFile, ASentenceSaysWhichLineIsWrongAndWhy) {
  for (const auto& [lines, sentence] : {
           Wrong{"tonari schedule 2\n", "line 1: the first line must be 'tonari schedule 1'"},
           {"\x7f"
            "ELF\n",
            "line 1: the first line must be 'tonari schedule 1'"},
           {"tonari schedule 1\r\n", "line 1: the first line must be 'tonari schedule 1'"},
           {"tonari schedule 1\nranks 5\n",
            "line 2: it is for 5 ranks, and the neighborhood has 4; name the file that was"},
           {"tonari schedule 1\nranks 04\n", "line 2: a number must not begin with a zero"},
           {"tonari schedule 1\nranks 4 \n", "line 2: the line must end behind the number of"},
           {"tonari schedule 1\nranks 99999999999999999999\n",
            "line 2: the number of ranks is lar"},
           {"tonari schedule 1\n0 0 1: 0-1\n", "line 2: 'ranks' and their number must come here"},
           {"tonari schedule 1\nranks 4\n\n", "line 3: the stage of a message must come here"},
           {"tonari schedule 1\nranks 4\n-1 0 1: 0-1\n",
            "line 3: the stage of a message must come"},
           {"tonari schedule 1\nranks 4\n1024 0 1: 0-1\n", "line 3: stage 1024 is too high"},
           {"tonari schedule 1\nranks 4\n0 4 1: 0-1\n",
            "line 3: the sender is 4, and ranks go fro"},
           {"tonari schedule 1\nranks 4\n0 0 4: 0-1\n",
            "line 3: the receiver is 4, and ranks go f"},
           {"tonari schedule 1\nranks 4\n0 1 1: 0-1\n", "line 3: rank 1 sends a message to itself"},
           {"tonari schedule 1\nranks 4\n0 0 1 0-1\n",
            "line 3: a colon must come behind the recei"},
           {"tonari schedule 1\nranks 4\n0 0 1:\n", "line 3: a space must come before each block"},
           {"tonari schedule 1\nranks 4\n0 0 1: 0\n",
            "line 3: a block is its origin, a dash and it"},
           {"tonari schedule 1\nranks 4\n0 0 1: 0-4\n",
            "line 3: the target of a block is 4, and ran"},
           {"tonari schedule 1\nranks 4\n0 0 1: 4-0\n",
            "line 3: the origin of a block is 4, and ran"},
           {"tonari schedule 1\nranks 4\n0 0 1: 0-1 \n",
            "line 3: the origin of a block must come he"},
           {"tonari schedule 1\nranks 4\n0 0 1: 0-1,0-2\n",
            "line 3: the line must end behind the b"},
           {"tonari schedule 1\nranks 4\n0 0 1: 2-2\n",
            "line 3: block 2-2 begins where it is to en"},
           {"tonari schedule 1\nranks 4\n0 2 1: 0-2\n",
            "line 3: block 0-2 leaves its target again"},
           {"tonari schedule 1\nranks 4\n0 2 0: 0-1\n",
            "line 3: block 0-1 comes back to its origin"},
           {"tonari schedule 1\nranks 4\n0 0 1: 0-2 0-1\n", "line 3: blocks must ascend by origin"},
           {"tonari schedule 1\nranks 4\n0 0 1: 0-1 0-1\n", "line 3: blocks must ascend by origin"},
           {"tonari schedule 1\nranks 4\n#\n0 0 1: 0-1\n0 0 1: 0-2\n",
            "line 5: messages must asce"},
           {"tonari schedule 1\nranks 4\n0 0 2: 0-2\n0 0 1: 0-1\n", "line 4: messages must ascend"},
           {"tonari schedule 1\nranks 4\n1 0 2: 0-2\n0 1 2: 1-2\n", "line 4: messages must ascend"},
       })
    for (int rank = 0; rank < 4; ++rank)
      expect_sentence(test::error_of([&] { read_text(lines, rank, 4); }), Errc::file,
                      {"the schedule 's.txt' cannot be used: ", sentence});
}

TEST(ScheduleFile, TheLimitFollowsFromThePattern) {
  EXPECT_EQ(most_schedule_bytes(1, 0), 4096u);
  EXPECT_GT(most_schedule_bytes(3, 6), most_schedule_bytes(3, 5));
  EXPECT_LT(most_schedule_bytes(3, 6), 5000u);
  EXPECT_EQ(most_schedule_bytes(1 << 20, std::uint64_t{1} << 62), 1u << 30);
  EXPECT_EQ(most_schedule_bytes(INT32_MAX, UINT64_MAX), 1u << 30);
  // A file without an end is not read to its end.
  std::size_t bytes = 0;
  const Error error = test::error_of([&] {
    read_schedule({"s.txt", 0, 4, most_schedule_bytes(4, 12)}, [&](std::span<char> place) {
      std::string text = bytes == 0 ? example : std::string();
      text.resize(place.size(), '#');
      std::ranges::copy(text, place.begin());
      bytes += place.size();
      return place.size();
    });
  });
  expect_sentence(error, Errc::file, {"or more, and a schedule for this neighborhood has"});
  EXPECT_LT(bytes, std::size_t{1} << 18);
}

class ScheduleFiles : public testing::Test {
 protected:
  ScheduleFiles()
      : folder_(std::filesystem::temp_directory_path() /
                ("tonari-schedules-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~ScheduleFiles() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ / name; }
  Error refusal(const std::string& path) const {
    return test::error_of([&] { read_schedule_file({path, 0, 4, most_schedule_bytes(4, 12)}); });
  }
  std::filesystem::path folder_;
};

TEST_F(ScheduleFiles, AreReadWholly) {
  std::ofstream(path("right")) << example;
  EXPECT_EQ(read_schedule_file({path("right"), 1, 4}).out, read_text(example, 1, 4).out);
  EXPECT_EQ(refusal(path("right")).code(), Errc::success);
}

TEST_F(ScheduleFiles, WhatIsNoFileOfASensibleSizeIsRefusedAtOnce) {
  expect_sentence(refusal(path("none")), Errc::file,
                  {path("none"), "it cannot be opened", "No such file"});
  expect_sentence(refusal(""), Errc::file, {"the schedule '' cannot be used"});
  expect_sentence(refusal(folder_), Errc::file, {"it is no regular file"});
  expect_sentence(refusal("/dev/zero"), Errc::file, {"it is no regular file"});
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expect_sentence(refusal(path("pipe")), Errc::file, {"it is no regular file"});
  std::ofstream(path("enormous")) << example;
  std::filesystem::resize_file(path("enormous"), std::uintmax_t{1} << 40);
  expect_sentence(refusal(path("enormous")), Errc::file,
                  {"it has 1099511627776 bytes or more", "for this neighborhood has"});
}

}  // namespace
}  // namespace tonari
