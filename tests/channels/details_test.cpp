// SPDX-License-Identifier: BSD-3-Clause
// What the words of a channel's detail make its protocols do.
#include <gtest/gtest.h>

#include "channels/onesided/connect.hpp"
#include "channels/shared/connect.hpp"
#include "channels/table.hpp"
#include "select/candidates.hpp"

namespace tonari {
namespace {

Settings asking(std::optional<int> ready, std::optional<Bytes> canary) {
  Settings settings;
  settings.ready = ready, settings.canary = canary;
  return settings;
}

TEST(ChannelDetails, OfSharedMemory) {
  EXPECT_EQ(shared_limits("").canary, SharedLimits{}.canary);
  EXPECT_EQ(shared_limits("").single_copy, 0u);
  EXPECT_EQ(shared_limits("no canary").canary, 0u);
  EXPECT_EQ(shared_limits("no canary/single copy").canary, 0u);
  EXPECT_GT(shared_limits("no canary/single copy").single_copy, 0u);
  EXPECT_EQ(shared_limits("canary up to 64").canary, 64u);
  EXPECT_EQ(shared_limits("canary up to 99999999999").canary, SharedLimits{}.whole);
}

TEST(ChannelDetails, OfWindows) {
  EXPECT_EQ(window_options("").ready, OneSided::Ready::per_edge);
  EXPECT_EQ(window_options("").short_bytes, OneSided::Options{}.short_bytes);
  const OneSided::Options both = window_options("ready tree of 3/no canary");
  EXPECT_EQ(both.ready, OneSided::Ready::tree);
  EXPECT_EQ(both.degree, 3);
  EXPECT_EQ(both.short_bytes, 0u);
  EXPECT_EQ(window_options("canary up to 99999999999").short_bytes, both.staged_bytes);
}

// Labels are remembered: whoever reads one must come to the same choice.
TEST(ChannelDetails, ThatAreAskedForAreInTheLabelOnceEach) {
  for (const auto& [settings, detail] :
       {std::pair(asking({}, {}), ""),
        {asking(0, {}), ""},
        {asking(4, {}), "ready tree of 4"},
        {asking({}, 0), "no canary/no canary"},
        {asking(2, 64), "canary up to 64/ready tree of 2/canary up to 64"}}) {
    ChannelChoice choice = find_choice(all_channels(), "shared+onesided");
    choice.ask(settings);
    EXPECT_EQ(choice.detail(), detail);
    EXPECT_TRUE(choice.has_asked(settings));
    std::vector<std::string> words;
    for (std::size_t begin = 0, end; begin < choice.detail().size(); begin = end + 1) {
      end = std::min(choice.detail().find('/', begin), choice.detail().size());
      words.push_back(choice.detail().substr(begin, end - begin));
    }
    EXPECT_EQ(find_choice(all_channels(), "shared+onesided", words), choice) << detail;
    EXPECT_EQ(find_choice(all_channels(), "shared+onesided").has_asked(settings), !*detail);
  }
}

}  // namespace
}  // namespace tonari
