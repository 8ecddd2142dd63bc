// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting_table.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "support/errors.hpp"

namespace tonari {
namespace {

// What a row is found by is no other row's.
TEST(SettingTable, RowsAreComplete) {
  std::set<std::string> names;
  for (const Setting& row : all_settings()) {
    EXPECT_TRUE(*row.key || *row.variable);
    EXPECT_TRUE(names.insert(*row.variable ? row.variable : row.key).second) << name_of(row);
    EXPECT_TRUE(*row.values && !where_of(row).empty() && *row.help) << name_of(row);
    if (row.kind == ValueKind::one_of) {
      EXPECT_NO_THROW(read_choice(row, row.standard)) << name_of(row);
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
  if (row.kind == ValueKind::one_of || row.kind == ValueKind::promise) read_choice(row, word);
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

TEST(SettingTable, RowsAreFoundByTheirNames) {
  EXPECT_EQ(&setting("TONARI_ALGORITHM"), &all_settings().front());
  EXPECT_EQ(&setting("TONARI_ADVISE_REPORT"), &all_settings().back());
  EXPECT_STREQ(setting("TONARI_SPARSE_ALGORITHM").key, "tonari_algorithm");
  EXPECT_STREQ(setting("tonari_recv_view").key, "tonari_recv_view");
}

TEST(SettingTable, RowsSayWhereTheyAreRead) {
  EXPECT_EQ(where_of(setting("TONARI_TUNE")), "neighborhoods, requests, grids, vectors, in place");
  EXPECT_EQ(where_of(setting("tonari_start_with")), "blocks");
  EXPECT_EQ(where_of(setting("TONARI_SPARSE_ALGORITHM")), "sparse exchanges");
  EXPECT_EQ(where_of(setting("TONARI_SHM_DIR")), "shared memory");
  EXPECT_EQ(where_of(setting("TONARI_CACHE_DIR")), "measuring");
  EXPECT_EQ(where_of(setting("TONARI_REPORT")), "MPI_Finalize");
  EXPECT_EQ(where_of(setting("TONARI_PRELOAD")), "libtonari_preload");
  EXPECT_EQ(where_of(setting("TONARI_ADVISE_REPORT")), "libtonari_advise");
}

Settings read(const Setting& row, const std::string& word, Settings settings = {}) {
  row.member.read(row, word, settings);
  return settings;
}

std::vector<std::string> some_words(const Setting& row) {
  if (row.kind == ValueKind::one_of) return choices(row);
  if (row.kind == ValueKind::promise) return {"false", "true"};
  if (row.kind != ValueKind::word) return {"3", "5"};
  std::vector<std::string> words;
  std::istringstream sentence(row.values);
  for (std::string word; sentence >> word;) {
    if (word.back() == ',') word.pop_back();
    if (test::error_of([&] { read(row, word); }).code() == Errc::success) words.push_back(word);
  }
  return words;
}

// Values of each row are told apart: by its member, by the fingerprint if ranks must have the same
// one, and by the key if a remembered choice depends on it. All in one, as they are read.
TEST(SettingTable, RowsAreComparedAsTheySay) {
  for (const Setting& row : all_settings()) {
    if (!row.member.read) continue;
    const std::vector<std::string> words = some_words(row);
    ASSERT_GE(words.size(), 2u) << name_of(row);
    for (std::size_t k = 1; k < words.size(); ++k) {
      const Settings one = read(row, words[k - 1]), other = read(row, words[k]);
      EXPECT_FALSE(one == other) << name_of(row);
      EXPECT_EQ(fingerprint(one) != fingerprint(other), row.affects != Affects::rank)
          << name_of(row);
      EXPECT_EQ(choice_key(one) != choice_key(other), row.affects == Affects::choices)
          << name_of(row);
    }
  }
}

// Ranks that differ in one of these would hang, or remember what is not the fastest.
TEST(SettingTable, RowsSayWhatTheyAffect) {
  for (const Setting* row : {&setting("TONARI_TIMEOUT"), &setting("TONARI_INPLACE_MEMORY")})
    EXPECT_EQ(row->affects, Affects::rank) << name_of(*row);
  for (const Setting* row :
       {&setting("TONARI_TUNE"), &setting("TONARI_PROGRESS"), &setting("tonari_start_with"),
        &setting("tonari_schedule"), &setting("cdag_exact_byte_communications"),
        &setting("cdag_static_buffers"), &setting("TONARI_INPLACE_ALGORITHM"),
        &setting("TONARI_HALO"), &setting("TONARI_HALO_NEIGHBORS"), &setting("TONARI_ROUTE"),
        &setting("TONARI_SPARSE_ALGORITHM"), &setting("TONARI_NODES")})
    EXPECT_EQ(row->affects, Affects::all_ranks) << name_of(*row);
  for (const Setting* row :
       {&setting("TONARI_ALGORITHM"), &setting("TONARI_CHANNEL"), &setting("TONARI_PORTS"),
        &setting("tonari_recv_view"), &setting("TONARI_READY"), &setting("TONARI_CANARY"),
        &setting("cdag_strict_communication")})
    EXPECT_EQ(row->affects, Affects::choices) << name_of(*row);
}

TEST(SettingTable, MembersHaveTheDefaultsOfRows) {
  for (const Setting& row : all_settings()) {
    const std::string standard = row.standard;
    if (row.member.read && standard.find(' ') == standard.npos) {
      EXPECT_TRUE(read(row, standard) == Settings()) << name_of(row);
    }
  }
  EXPECT_EQ(choice_key({}), "");
}

TEST(SettingTable, KeysNameWhatIsNotTheDefault) {
  Settings settings;
  settings.algorithm = "balanced", settings.variant = "both ends", settings.ports = 2;
  settings.canary = 0, settings.timeout = 3;
  EXPECT_EQ(choice_key(settings),
            "|tonari_algorithm balanced/both ends|tonari_ports 2|tonari_canary 0");
}

TEST(SettingTable, AVariantIsPartOfItsAlgorithm) {
  Settings one, other;
  one.algorithm = other.algorithm = "balanced", other.variant = "both ends";
  EXPECT_NE(fingerprint(one), fingerprint(other));
  EXPECT_NE(choice_key(one), choice_key(other));
  EXPECT_EQ(read(setting("TONARI_ALGORITHM"), "linear", other).variant, "");
  one.algorithm = other.algorithm = "auto";
  EXPECT_NE(fingerprint(one), fingerprint(other)) << "a variant alone counts, too";
}

// A vector compares what no request compares.
TEST(SettingTable, FingerprintsOfSomeCallsOnly) {
  Settings one, other;
  other.channel = "shared";
  EXPECT_EQ(fingerprint(one, where::vectors), fingerprint(other, where::vectors));
  other.route = "node";
  EXPECT_NE(fingerprint(one, where::vectors), fingerprint(other, where::vectors));
}

TEST(SettingTable, WordsBecomeValues) {
  const Setting& row = setting("TONARI_TUNE");
  EXPECT_EQ(read(row, "auto").tune, Tune::automatic);
  EXPECT_EQ(read(row, "online").tune, Tune::online);
  EXPECT_EQ(read(row, "off").tune, Tune::off);
  EXPECT_EQ(read(row, "model").tune, Tune::model);
  EXPECT_EQ(read(row, "measure").tune, Tune::measure);
  EXPECT_TRUE(read(setting("TONARI_PROGRESS"), "thread").progress_thread);
  EXPECT_TRUE(read(setting("cdag_static_buffers"), "true").static_buffers);
  EXPECT_EQ(read(setting("TONARI_READY"), "each").ready, 0);
  EXPECT_EQ(read(setting("TONARI_READY"), "tree/4").ready, 4);
  EXPECT_EQ(read(setting("TONARI_READY"), "auto", read(setting("TONARI_READY"), "each")).ready,
            std::nullopt);
  EXPECT_EQ(read(setting("TONARI_CANARY"), "1KiB").canary, 1024u);
  EXPECT_EQ(read(setting("TONARI_TIMEOUT"), "0.5").timeout, 0.5);
  EXPECT_EQ(read(setting("TONARI_PORTS"), "2147483647").ports, 2147483647);
  test::expect_sentence(test::error_of([] { read(setting("TONARI_PORTS"), "2147483648"); }),
                        Errc::argument, {"tonari_ports (TONARI_PORTS) is '2147483648'"});
}

TEST(SettingTable, NumbersAreWrittenInFull) {
  EXPECT_NE(shown_value(0.1), shown_value(0.1 + 1e-16));
  EXPECT_EQ(shown_value(std::optional<Bytes>(1u << 20)), "1048576");
  EXPECT_EQ(shown_value(std::optional<Bytes>()), "");
}

// What a row's kind cannot fill is no member for it; the table does not compile then.
TEST(SettingTable, KindsFitTypes) {
  Setting row{"", "TONARI_COLOR", ValueKind::one_of, "red, green, blue", "red", {}, {}, {}, ""};
  EXPECT_TRUE(fits<Tune>(row) && fits<std::string>(row));
  EXPECT_FALSE(fits<bool>(row) || fits<int>(row) || fits<double>(row));
  row.values = "red, green";
  EXPECT_TRUE(fits<bool>(row) && fits<std::optional<bool>>(row));
  row.kind = ValueKind::size;
  EXPECT_TRUE(fits<Bytes>(row) && fits<std::optional<int>>(row));
  EXPECT_FALSE(fits<double>(row) || fits<std::string>(row) || fits<Tune>(row));
  row.kind = ValueKind::seconds;
  EXPECT_TRUE(fits<double>(row));
  EXPECT_FALSE(fits<Bytes>(row) || fits<bool>(row));
  row.kind = ValueKind::promise;
  EXPECT_TRUE(fits<bool>(row));
  EXPECT_FALSE(fits<Tune>(row) || fits<std::string>(row));
}

// Ranks could not be told apart by it. TONARI_NODES is compared elsewhere.
TEST(SettingTable, WhatAllRanksMustAgreeOnHasAMember) {
  Setting row{"", "TONARI_COLOR", ValueKind::word, "a color", "red", {}, Affects::rank, {}, ""};
  EXPECT_TRUE(row.member.fits(row));
  row.affects = Affects::all_ranks;
  EXPECT_FALSE(row.member.fits(row));
  row.variable = "TONARI_NODES";
  EXPECT_TRUE(row.member.fits(row));
  row.affects = Affects::choices;
  EXPECT_FALSE(row.member.fits(row));
}

// All that is said about a setting, and how it is read, comes from its row.
TEST(SettingTable, OneMoreIsOneRow) {
  const Setting added{
      "tonari_color",  "TONARI_COLOR",   ValueKind::one_of,          "red, green",           "red",
      where::requests, Affects::choices, into<&Settings::recv_view>, "the color of messages"};
  EXPECT_EQ(name_of(added), "tonari_color (TONARI_COLOR)");
  EXPECT_EQ(where_of(added), "requests");
  EXPECT_EQ(choices(added), (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(in_environment(added), std::nullopt);
  setenv("TONARI_COLOR", "green", 1);
  EXPECT_EQ(in_environment(added), "green");
  unsetenv("TONARI_COLOR");
  EXPECT_TRUE(read(added, "green").recv_view);
  EXPECT_EQ(std::string(test::error_of([&] { read(added, "blue"); }).what()),
            "tonari_color (TONARI_COLOR) is 'blue'; it must be red or green");
}

TEST(SettingTable, WrongValuesSayWhatTheyMustBe) {
  const auto says = [](auto work) { return std::string(test::error_of(work).what()); };
  EXPECT_EQ(says([] { read_choice(setting("TONARI_TUNE"), "never"); }),
            "tonari_tune (TONARI_TUNE) is 'never'; it must be auto, online, off, model or measure");
  EXPECT_EQ(says([] { read_choice(setting("TONARI_TUNE"), "mesaure"); }),
            "tonari_tune (TONARI_TUNE) is 'mesaure'; it must be auto, online, off, model or "
            "measure; did you mean measure?");
  EXPECT_EQ(says([] { read_choice(setting("tonari_recv_view"), ""); }),
            "tonari_recv_view is ''; it must be no or yes");
  EXPECT_EQ(says([] { read_choice(setting("cdag_static_buffers"), "yes"); }),
            "cdag_static_buffers is 'yes'; it must be true or false");
  EXPECT_EQ(says([] { read_seconds(setting("TONARI_TIMEOUT"), "soon"); }),
            "tonari_timeout (TONARI_TIMEOUT) is 'soon'; it must be a positive number of seconds");
  EXPECT_EQ(test::error_of([] { read_choice(setting("TONARI_INPLACE_ALGORITHM"), "x"); }).code(),
            Errc::algorithm);
  for (const char* word : {"", "-1", "1e3", "5 ", "x", "1K", "99999999999999999999"})
    EXPECT_EQ(test::error_of([&] { read_count(setting("TONARI_PORTS"), word); }).code(),
              Errc::argument)
        << word;
  EXPECT_EQ(test::error_of([] { read_count(setting("TONARI_PORTS"), "11", 10); }).code(),
            Errc::argument);
  for (const char* word : {"", "0", "-1", "nan", "inf", "1s"})
    EXPECT_EQ(test::error_of([&] { read_seconds(setting("TONARI_TIMEOUT"), word); }).code(),
              Errc::argument)
        << word;
  EXPECT_EQ(read_count(setting("TONARI_PORTS"), "10", 10), 10u);
  EXPECT_EQ(read_seconds(setting("TONARI_TIMEOUT"), "0.5"), 0.5);
}

// tests/python/test_sizes.py has the same words for the command line.
TEST(SettingTable, SizesMayHaveUnits) {
  const Setting& row = setting("TONARI_INPLACE_MEMORY");
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
  const Setting& row = setting("TONARI_ROUTE");
  ::unsetenv(row.variable);
  EXPECT_EQ(in_environment(row), std::nullopt);
  ::setenv(row.variable, "", 1);
  EXPECT_EQ(in_environment(row), std::nullopt);
  ::setenv(row.variable, "node", 1);
  EXPECT_EQ(in_environment(row), "node");
  ::unsetenv(row.variable);
  EXPECT_EQ(in_environment(setting("tonari_recv_view")), std::nullopt);
}

}  // namespace
}  // namespace tonari
