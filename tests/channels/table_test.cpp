// SPDX-License-Identifier: BSD-3-Clause
// The table of channels, and what is listed elsewhere because of it.
#include "channels/table.hpp"
#include "base/settings.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/setting_table.hpp"
#include "support/choice_names.hpp"
#include "support/oracle.hpp"

namespace tonari {
namespace {

TEST(ChannelTable, RowsAreComplete) {
  std::set<std::string> names;
  for (const Channel* row : all_channels()) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    EXPECT_TRUE(*row->help) << row->name;
    EXPECT_NE(row->price, nullptr) << row->name;
    EXPECT_EQ(row->compile != nullptr, row->carries == Carries::plan) << row->name;
    EXPECT_EQ(row->connect != nullptr,
              row->carries == Carries::messages || row->carries == Carries::node_messages)
        << row->name;
  }
  EXPECT_EQ(all_channels().front()->carries, Carries::plan) << "it carries what others leave";
}

TEST(ChannelTable, IsWhatTheSettingNames) {
  std::vector<std::string> names = test::choice_names(all_channels());
  names.insert(names.begin(), "auto");
  names.push_back(device_handles);  // of blocks on devices, which plans do not move
  EXPECT_EQ(choices(setting("TONARI_CHANNEL")), names);
}

TEST(ChannelTable, IsWhatRandomTestsUse) {
  const std::vector<std::string> names = test::choice_names(all_channels());
  EXPECT_EQ(std::set<std::string>(std::begin(test::channel_names), std::end(test::channel_names)),
            std::set<std::string>(names.begin(), names.end()));
}

}  // namespace
}  // namespace tonari
