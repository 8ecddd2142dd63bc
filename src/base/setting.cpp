// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/classic.hpp"
#include "base/nearest_name.hpp"
#include "base/split.hpp"

namespace tonari {
namespace {

using enum ValueKind;

constexpr const char* exchanges = "neighborhoods, requests";
constexpr const char* all_exchanges = "neighborhoods, requests, grids, vectors, in place";

constexpr Setting table[] = {
    {"tonari_algorithm", "TONARI_ALGORITHM", word,
     "auto, native, irecv or an algorithm, perhaps with a variant (balanced/both ends)", "auto",
     "neighborhoods, requests, grids, vectors", true, "how blocks travel", Errc::algorithm},
    {"tonari_channel", "TONARI_CHANNEL", one_of,
     "auto, p2p-packed, p2p-typed, shared, onesided, shared+onesided", "auto", all_exchanges, true,
     "what moves the bytes of a message"},
    {"tonari_tune", "TONARI_TUNE", one_of, "auto, online, off, model, measure", "online",
     all_exchanges, true,
     "how to choose: online lets the first starts of a request try what is promising, auto "
     "measures "
     "a pattern once at init, and both remember; off is a fixed rule, model asks the cost model, "
     "measure measures again and longer. Where starts cannot try, online is auto"},
    {"", "TONARI_TUNE_SECONDS", seconds, "a positive number of seconds", "0.4, for measure 2",
     all_exchanges, false, "time that one init may spend on measuring"},
    {"tonari_ports", "TONARI_PORTS", count, "a number of messages, 0 for no limit", "0",
     "neighborhoods, requests, grids, vectors", true,
     "messages of a rank that are on their way at a time, in each direction"},
    {"tonari_progress", "TONARI_PROGRESS", one_of, "calls, thread", "calls", all_exchanges, true,
     "where exchanges proceed: in test and wait, or by a thread, which needs MPI_THREAD_MULTIPLE"},
    {"tonari_recv_view", "", one_of, "no, yes", "no", exchanges, true,
     "whether blocks may stay where they arrive (tonari_request_recv_view)"},
    {"tonari_start_with", "", one_of, "no, yes", "no", "blocks", true,
     "whether tonari_blocks_start_with may bring other arrays, which makes exchanges slower"},
    {"tonari_ready", "TONARI_READY", word,
     "auto, each or tree/N with N words from 2 to 64, as in tree/4", "auto",
     "neighborhoods, requests, vectors", true,
     "how a sender learns that it may write to windows: each receiver tells it, or they tell it "
     "together by a tree in which a rank hears from N others"},
    {"tonari_canary", "TONARI_CANARY", size, "a number of bytes, such as 0, 64 or 1KiB",
     "512 in shared memory, 256 in windows", "neighborhoods, requests, vectors", true,
     "up to how many bytes a message tells by its own bytes that it is complete; of longer ones a "
     "word of their own tells it"},
    {"tonari_timeout", "TONARI_TIMEOUT", seconds, "a positive number of seconds", "10",
     all_exchanges, false,
     "after which a rank that waits looks whether the others of its node still live"},
    {"", "TONARI_HANG_REPORT", count, "a number of seconds, 0 for no report", "60", all_exchanges,
     false,
     "after which a rank that waits without progress says on standard error what it waits for, and "
     "what those ranks do"},
    {"cdag_strict_communication", "", promise, "true or false", "false", "neighborhoods", true,
     "promise: ranks send to their neighbors only"},
    {"cdag_exact_byte_communications", "", promise, "true or false", "false", "neighborhoods", true,
     "promise: weights are the bytes of every edge"},
    {"cdag_static_buffers", "", promise, "true or false", "false", "neighborhoods", true,
     "promise: an operation is always called with the same arguments"},
    {"tonari_algorithm", "TONARI_INPLACE_ALGORITHM", one_of,
     "auto, mpich-order, linear-shift, hierarchical-sets", "auto", "in place", true,
     "in which order ranks swap blocks", Errc::algorithm},
    {"tonari_inplace_memory", "TONARI_INPLACE_MEMORY", size,
     "a number of bytes, such as 1048576, 64K or 1MiB", "1048576", "in place", false,
     "bytes that a rank may use for blocks on their way"},
    {"tonari_halo", "TONARI_HALO", word,
     "auto or, by storage, pack, datatypes, shift, plan, basic, layout, memmap, zero-byte", "auto",
     "grids", true, "how grids exchange their ghosts; which ways there are depends on the storage",
     Errc::algorithm},
    {"tonari_halo_neighbors", "TONARI_HALO_NEIGHBORS", one_of, "all, faces", "all", "grids", true,
     "faces: ghosts along one dimension only"},
    {"tonari_route", "TONARI_ROUTE", word,
     "direct, node, auto or store-and-forward/N with N dimensions, as in store-and-forward/2",
     "direct", "vectors", true, "which way values take to those who need them"},
    {"tonari_algorithm", "TONARI_SPARSE_ALGORITHM", word,
     "auto, pairwise, nbx, personalized or store-and-forward/N with N dimensions, as in "
     "store-and-forward/2",
     "auto", "sparse exchanges", true, "how messages find receivers that do not expect them",
     Errc::algorithm},
    {"", "TONARI_NODES", word, "the sizes of nodes, such as 4 or 1,3,4", "as the system tells",
     "neighborhoods, grids, vectors, in place", true,
     "pretend the ranks are on several nodes, for tests: 4 means nodes of four consecutive ranks; "
     "1,3,4 means the first nodes, and one with the rest"},
    {"", "TONARI_SHM_DIR", word, "a directory in memory (tmpfs)", "", "shared memory", false,
     "where shared memory lies, which otherwise has no name"},
    {"", "TONARI_CACHE_DIR", word, "a directory", "$XDG_CACHE_HOME/tonari, else ~/.cache/tonari",
     "measuring", false, "where measurements are remembered"},
    {"", "TONARI_REPORT", word, "0, 1 or the name of a file", "0", "MPI_Finalize", false,
     "a table of all exchanges at MPI_Finalize: 1 prints it to standard error; a file that ends in "
     ".json gets it as JSON. On all ranks, or there is none"},
    {"", "TONARI_PRELOAD", one_of, "auto, tonari, native", "auto", "libtonari_preload", false,
     "which way calls of unmodified programs go: auto tries both; native wins if ranks differ"},
    {"", "TONARI_REPAIR", one_of, "0, 1", "0", "libtonari_preload", false,
     "1: where the MPI delivers wrong blocks, calls of unmodified programs always go through "
     "tonari. On all ranks, or it is 0"},
    {"", "TONARI_RUN_REPORT", word, "the name of a folder", "", "libtonari_preload", false,
     "where processes write what each place has called, which `tonari run` reads"},
    {"", "TONARI_RUN_LOADED", word, "the name of a file", "", "libtonari_preload", false,
     "which processes make when they initialize MPI: `tonari run` sees that they have the library"},
    {"", "TONARI_ADVISE_REPORT", word, "the name of a folder", "", "libtonari_advise", false,
     "where processes write which messages they sent, which `tonari advise` reads"},
};

// The command line and its programs read these.
constexpr const char* other_variables[] = {"TONARI_BUILD"};

// The words as a sentence has them: "calls or thread", "auto, off, model or measure".
std::string any_of(const std::vector<std::string>& words) {
  std::string list = words.front();
  for (std::size_t k = 1; k < words.size(); ++k)
    list += (k + 1 < words.size() ? ", " : " or ") + words[k];
  return list;
}

// The unit of a size stands for 2 to the power of this; nothing if there is no such unit. The same
// rule as in python/tonari/sizes.py: K, M and G, or KiB, MiB and GiB, in any case.
std::optional<int> shift_of(std::string unit) {
  if (unit.empty()) return 0;
  for (char& c : unit) c = lower_case(c);
  const std::size_t power = std::string_view("kmg").find(unit[0]);
  const bool known =
      power != std::string_view::npos && (unit.size() == 1 || unit.substr(1) == "ib");
  return known ? std::optional(10 * (static_cast<int>(power) + 1)) : std::nullopt;
}

bool exists(const std::string& name, std::span<const std::string> known) {
  return std::ranges::find(known, name) != known.end();
}

}  // namespace

std::span<const Setting> all_settings() { return table; }

const Setting& setting(SettingId id) { return table[static_cast<std::size_t>(id)]; }

std::string name_of(const Setting& row) {
  if (!*row.key || !*row.variable) return *row.key ? row.key : row.variable;
  return text(row.key, " (", row.variable, ")");
}

std::optional<std::string> in_environment(const Setting& row) {
  const char* const value = *row.variable ? std::getenv(row.variable) : nullptr;
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<std::string> choices(const Setting& row) { return split(row.values, ", "); }

void refuse_value(const Setting& row, const std::string& word) {
  if (row.kind != one_of)
    fail(row.wrong, name_of(row), " is '", word, "'; it must be ", row.values);
  const std::vector<std::string> known = choices(row);
  fail(row.wrong, name_of(row), " is '", word, "'; it must be ", any_of(known),
       did_you_mean(word, known));
}

void check_choice(const Setting& row, const std::string& word) {
  const std::vector<std::string> all =
      row.kind == promise ? std::vector<std::string>{"true", "false"} : choices(row);
  if (std::ranges::find(all, word) == all.end()) refuse_value(row, word);
}

std::uint64_t read_count(const Setting& row, const std::string& word, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size() || value > most)
    refuse_value(row, word);
  return value;
}

std::uint64_t read_size(const Setting& row, const std::string& word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const std::optional<int> shift = shift_of(word.substr(digits));
  if (!shift) refuse_value(row, word);
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + digits, value);
  if (status != std::errc() || value > UINT64_MAX >> *shift) refuse_value(row, word);
  return value << *shift;
}

double read_seconds(const Setting& row, const std::string& word) {
  const std::optional<double> value = real_number(word);
  if (!value || !(*value > 0) || !std::isfinite(*value)) refuse_value(row, word);
  return *value;
}

std::optional<std::string> unknown_key(const std::string& key) {
  if (!key.starts_with("tonari_") && !key.starts_with("cdag_")) return std::nullopt;
  if (std::ranges::any_of(table, [&](const Setting& row) { return key == row.key; }))
    return std::nullopt;  // without memory: some calls ask this each time
  std::vector<std::string> known;
  for (const Setting& row : table)
    if (*row.key) known.emplace_back(row.key);
  const std::string meant = nearest_name(key, known);
  return text("there is no info key ", key,
              meant.empty() ? "; `tonari settings` lists those that there are"
                            : "; did you mean " + meant + "?");
}

std::optional<std::string> unknown_variable(const std::string& variable) {
  if (!variable.starts_with("TONARI_")) return std::nullopt;
  std::vector<std::string> known(std::begin(other_variables), std::end(other_variables));
  for (const Setting& row : table)
    if (*row.variable) known.emplace_back(row.variable);
  const std::string meant = nearest_name(variable, known);
  if (exists(variable, known) || meant.empty()) return std::nullopt;
  return text("the environment variable ", variable, " is not read; did you mean ", meant, "?");
}

std::vector<std::string> unknown_variables() {
  std::vector<std::string> sentences;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view definition(*entry);
    if (const auto sentence =
            unknown_variable(std::string(definition.substr(0, definition.find('=')))))
      sentences.push_back(*sentence);
  }
  return sentences;
}

}  // namespace tonari
