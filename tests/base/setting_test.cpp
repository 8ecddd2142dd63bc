// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "support/errors.hpp"

namespace tonari {
namespace {

TEST(SettingTable, IdsAreRows) {
  using enum SettingId;
  const std::pair<SettingId, const char*> rows[] = {{algorithm, "TONARI_ALGORITHM"},
                                                    {tune_seconds, "TONARI_TUNE_SECONDS"},
                                                    {ready, "TONARI_READY"},
                                                    {canary, "TONARI_CANARY"},
                                                    {timeout, "TONARI_TIMEOUT"},
                                                    {hang_report, "TONARI_HANG_REPORT"},
                                                    {inplace_algorithm, "TONARI_INPLACE_ALGORITHM"},
                                                    {halo, "TONARI_HALO"},
                                                    {route, "TONARI_ROUTE"},
                                                    {sparse_algorithm, "TONARI_SPARSE_ALGORITHM"},
                                                    {nodes, "TONARI_NODES"},
                                                    {shm_dir, "TONARI_SHM_DIR"},
                                                    {cache_dir, "TONARI_CACHE_DIR"},
                                                    {report, "TONARI_REPORT"},
                                                    {preload, "TONARI_PRELOAD"},
                                                    {repair, "TONARI_REPAIR"},
                                                    {run_report, "TONARI_RUN_REPORT"},
                                                    {run_loaded, "TONARI_RUN_LOADED"},
                                                    {advise_report, "TONARI_ADVISE_REPORT"}};
  for (const auto& [id, variable] : rows) EXPECT_STREQ(setting(id).variable, variable);
  EXPECT_STREQ(setting(recv_view).key, "tonari_recv_view");
  EXPECT_STREQ(setting(static_buffers).key, "cdag_static_buffers");
  EXPECT_EQ(all_settings().size(), static_cast<std::size_t>(advise_report) + 1);
}

TEST(SettingTable, RowsAreComplete) {
  std::set<std::string> variables;
  for (const Setting& row : all_settings()) {
    EXPECT_TRUE(*row.key || *row.variable);
    if (*row.variable) {
      EXPECT_TRUE(variables.insert(row.variable).second) << row.variable;
    }
    EXPECT_TRUE(*row.values && *row.where && *row.help) << name_of(row);
    if (row.kind == ValueKind::one_of) {
      EXPECT_NO_THROW(check_choice(row, row.standard)) << name_of(row);
    }
  }
}

// What the kinds of numbers are called in sentences; empty: words have many names.
std::string said_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::count:
      return "a number of ";
    case ValueKind::size:
      return "a number of bytes, such as ";
    case ValueKind::seconds:
      return "a positive number of seconds";
    case ValueKind::promise:
      return "true or false";
    default:
      return "";
  }
}

void read_by_kind(const Setting& row, const std::string& word) {
  if (row.kind == ValueKind::count) read_count(row, word);
  if (row.kind == ValueKind::size) read_size(row, word);
  if (row.kind == ValueKind::seconds) read_seconds(row, word);
  if (row.kind == ValueKind::one_of || row.kind == ValueKind::promise) check_choice(row, word);
}

// Each row is of the kind that its sentence says, takes the value that it has without a setting,
// and refuses nonsense by its own name and error.
TEST(SettingTable, RowsAreReadAsTheySay) {
  for (const Setting& row : all_settings()) {
    const std::string values = row.values, standard = row.standard;
    EXPECT_TRUE(values.starts_with(said_of(row.kind))) << name_of(row);
    EXPECT_EQ(values.starts_with(said_of(ValueKind::size)), row.kind == ValueKind::size)
        << name_of(row);
    if (row.kind == ValueKind::word) continue;  // their readers know more
    if (standard.find_first_of(" ,") == standard.npos) {
      EXPECT_NO_THROW(read_by_kind(row, standard)) << name_of(row);
    }
    test::expect_sentence(test::error_of([&] { read_by_kind(row, "nonsense"); }), row.wrong,
                          {name_of(row) + " is 'nonsense'; it must be "});
  }
}

// All that is said about a setting, and how it is read, comes from its row.
TEST(SettingTable, OneMoreIsOneRow) {
  const Setting added{"tonari_color", "TONARI_COLOR", ValueKind::one_of,      "red, green", "red",
                      "requests",     true,           "the color of messages"};
  EXPECT_EQ(name_of(added), "tonari_color (TONARI_COLOR)");
  EXPECT_EQ(choices(added), (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(in_environment(added), std::nullopt);
  setenv("TONARI_COLOR", "green", 1);
  EXPECT_EQ(in_environment(added), "green");
  unsetenv("TONARI_COLOR");
  EXPECT_NO_THROW(check_choice(added, "green"));
  EXPECT_EQ(std::string(test::error_of([&] { check_choice(added, "blue"); }).what()),
            "tonari_color (TONARI_COLOR) is 'blue'; it must be red or green");
}

TEST(SettingTable, WrongValuesSayWhatTheyMustBe) {
  const auto says = [](auto work) { return std::string(test::error_of(work).what()); };
  EXPECT_EQ(says([] { check_choice(setting(SettingId::tune), "never"); }),
            "tonari_tune (TONARI_TUNE) is 'never'; it must be auto, online, off, model or measure");
  EXPECT_EQ(says([] { check_choice(setting(SettingId::tune), "mesaure"); }),
            "tonari_tune (TONARI_TUNE) is 'mesaure'; it must be auto, online, off, model or "
            "measure; did you mean measure?");
  EXPECT_EQ(says([] { check_choice(setting(SettingId::recv_view), ""); }),
            "tonari_recv_view is ''; it must be no or yes");
  EXPECT_EQ(says([] { check_choice(setting(SettingId::static_buffers), "yes"); }),
            "cdag_static_buffers is 'yes'; it must be true or false");
  EXPECT_EQ(says([] { read_seconds(setting(SettingId::timeout), "soon"); }),
            "tonari_timeout (TONARI_TIMEOUT) is 'soon'; it must be a positive number of seconds");
  EXPECT_EQ(test::error_of([] { check_choice(setting(SettingId::inplace_algorithm), "x"); }).code(),
            Errc::algorithm);
  for (const char* word : {"", "-1", "1e3", "5 ", "x", "1K", "99999999999999999999"})
    EXPECT_EQ(test::error_of([&] { read_count(setting(SettingId::ports), word); }).code(),
              Errc::argument)
        << word;
  EXPECT_EQ(test::error_of([] { read_count(setting(SettingId::ports), "11", 10); }).code(),
            Errc::argument);
  for (const char* word : {"", "0", "-1", "nan", "inf", "1s"})
    EXPECT_EQ(test::error_of([&] { read_seconds(setting(SettingId::timeout), word); }).code(),
              Errc::argument)
        << word;
  EXPECT_EQ(read_count(setting(SettingId::ports), "10", 10), 10u);
  EXPECT_EQ(read_seconds(setting(SettingId::timeout), "0.5"), 0.5);
}

// tests/python/test_sizes.py has the same words for the command line.
TEST(SettingTable, SizesMayHaveUnits) {
  const Setting& row = setting(SettingId::inplace_memory);
  const std::pair<const char*, std::uint64_t> sizes[] = {{"0", 0},
                                                         {"4096", 4096},
                                                         {"4K", 4096},
                                                         {"4k", 4096},
                                                         {"4KiB", 4096},
                                                         {"4kib", 4096},
                                                         {"64M", 64u << 20},
                                                         {"3MiB", 3u << 20},
                                                         {"2G", 2ull << 30},
                                                         {"007", 7},
                                                         {"10GiB", 10ull << 30},
                                                         {"18446744073709551615", UINT64_MAX},
                                                         {"0G", 0},
                                                         {"17179869183G", 17179869183ull << 30}};
  for (const auto& [word, bytes] : sizes) EXPECT_EQ(read_size(row, word), bytes) << word;
  for (const char* word :
       {"", "K", "-1", "+1", "1.5K", "1e3", "4 K", "4K ", " 4K", "4KB", "4B", "4Ki", "4KiBs", "4T",
        "0x10", "4K4", "18446744073709551616", "17179869184G", "99999999999999999999K"})
    EXPECT_EQ(std::string(test::error_of([&] { read_size(row, word); }).what()),
              "tonari_inplace_memory (TONARI_INPLACE_MEMORY) is '" + std::string(word) +
                  "'; it must be a number of bytes, such as 1048576, 64K or 1MiB");
}

TEST(SettingTable, MisspelledNamesGetTheNearest) {
  EXPECT_EQ(unknown_key("tonari_algoritm"),
            "there is no info key tonari_algoritm; did you mean tonari_algorithm?");
  EXPECT_EQ(unknown_key("tonari_halo_neighbours"),
            "there is no info key tonari_halo_neighbours; did you mean tonari_halo_neighbors?");
  EXPECT_EQ(unknown_key("cdag_static_buffer"),
            "there is no info key cdag_static_buffer; did you mean cdag_static_buffers?");
  EXPECT_EQ(
      unknown_key("tonari_what_is_this"),
      "there is no info key tonari_what_is_this; `tonari settings` lists those that there are");
  EXPECT_EQ(unknown_variable("TONARI_CHANEL"),
            "the environment variable TONARI_CHANEL is not read; did you mean TONARI_CHANNEL?");
  for (const char* other : {"mpi_assert_no_any_tag", "tonari", "cb_buffer_size"})
    EXPECT_EQ(unknown_key(other), std::nullopt);
  for (const char* other :
       {"TONARI_ROOT", "TONARI_INSTALL_PREFIX", "TONARI_BUILD", "HOME", "TONAR_TUNE"})
    EXPECT_EQ(unknown_variable(other), std::nullopt);
  for (const Setting& row : all_settings()) {
    EXPECT_EQ(unknown_key(row.key), std::nullopt);
    EXPECT_EQ(unknown_variable(row.variable), std::nullopt);
  }
}

TEST(SettingTable, MisspelledVariablesAreFound) {
  ::setenv("TONARI_TUNED", "off", 1);
  const std::vector<std::string> sentences = unknown_variables();
  ::unsetenv("TONARI_TUNED");
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_EQ(sentences[0],
            "the environment variable TONARI_TUNED is not read; did you mean TONARI_TUNE?");
  EXPECT_TRUE(unknown_variables().empty());
}

TEST(SettingTable, TheEnvironmentIsRead) {
  const Setting& row = setting(SettingId::route);
  ::unsetenv(row.variable);
  EXPECT_EQ(in_environment(row), std::nullopt);
  ::setenv(row.variable, "", 1);
  EXPECT_EQ(in_environment(row), std::nullopt);
  ::setenv(row.variable, "node", 1);
  EXPECT_EQ(in_environment(row), "node");
  ::unsetenv(row.variable);
  EXPECT_EQ(in_environment(setting(SettingId::recv_view)), std::nullopt);
}

}  // namespace
}  // namespace tonari
