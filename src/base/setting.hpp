// SPDX-License-Identifier: BSD-3-Clause
// A setting of the library: one row, for those who read it, complain about it and document it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/settings.hpp"

namespace tonari {

// How to read a value. Of words, the code that acts on them knows more than the row.
enum class ValueKind : std::uint8_t { one_of, word, count, size, seconds, promise };

// The calls that read a setting. Neighborhoods and vectors read when they are made; requests are
// of any kind, and one-shot calls are among them.
using Where = std::uint16_t;
namespace where {
inline constexpr Where neighborhoods = 1, requests = 2, grids = 4, vectors = 8, blocks = 16;
inline constexpr Where in_place = 32, sparse = 64, memory = 128, measuring = 256, finalize = 512;
inline constexpr Where preload = 1024, advise = 2048, any_request = requests | blocks;
inline constexpr Where everywhere = 4095;
}  // namespace where

// What depends on a value: this rank alone; all ranks, which must have the same one; or also what
// is remembered as fastest.
enum class Affects : std::uint8_t { rank, all_ranks, choices };

struct Setting;
constexpr bool needs_no_member(const Setting& row);

// The member of Settings that values are read into; none if the code that needs a value asks the
// environment for it.
struct Member {
  void (*read)(const Setting&, const std::string& word, Settings&) = nullptr;
  bool (*same)(const Settings&, const Settings&) = nullptr;
  std::string (*shown)(const Settings&) = nullptr;
  void (*put)(const Settings&, Hash&) = nullptr;   // needs no memory
  bool (*fits)(const Setting&) = needs_no_member;  // the kind of the row to the type of the member
};

struct Setting {
  const char* key;       // of an MPI_Info; empty if there is none
  const char* variable;  // of the environment, which wins over the key; empty if there is none
  ValueKind kind;
  // one_of: all values, separated by commas; otherwise the sentence that begins "it must be"
  const char* values;
  const char* standard;  // the value without the setting
  Where where;
  Affects affects;
  Member member;
  const char* help;             // one line
  Errc wrong = Errc::argument;  // the error for another value
};

// Without a member nothing is compared between ranks. What TONARI_NODES makes up is compared where
// it is read.
constexpr bool needs_no_member(const Setting& row) {
  const bool nodes =
      row.affects == Affects::all_ranks && row.variable == std::string_view("TONARI_NODES");
  return !*row.key && (row.affects == Affects::rank || nodes);
}

// The names as "tonari_ports (TONARI_PORTS)", or the only one.
std::string name_of(const Setting& row);
// "neighborhoods, requests"
std::string where_of(const Setting& row);

// The value of the variable; nothing if it is not set or empty.
std::optional<std::string> in_environment(const Setting& row);

// All values of a row of kind one_of.
std::vector<std::string> choices(const Setting& row);

// Throws with the name, the word and what it must be.
[[noreturn]] void refuse_value(const Setting& row, const std::string& word);
// These do so for wrong words: for kinds one_of (returns the place in the list) and promise (1 for
// true), for count, for size (in bytes; 64K and 64KiB are 65536), and for seconds.
std::size_t read_choice(const Setting& row, const std::string& word);
std::uint64_t read_count(const Setting& row, const std::string& word,
                         std::uint64_t most = UINT64_MAX);
std::uint64_t read_size(const Setting& row, const std::string& word);
double read_seconds(const Setting& row, const std::string& word);

// ---- what the type of a member decides

template <class T>
concept OneOf = std::is_same_v<T, bool> || std::is_enum_v<T>;
template <class T>
concept Optional = requires(T value) { value.has_value(); };

template <class T>
constexpr bool fits(const Setting& row) {
  using enum ValueKind;
  if constexpr (Optional<T>) return fits<typename T::value_type>(row);
  if (std::is_same_v<T, bool>)
    return row.kind == promise ||
           (row.kind == one_of && std::ranges::count(std::string_view(row.values), ',') == 1);
  if (std::is_enum_v<T>) return row.kind == one_of;
  if (std::is_floating_point_v<T>) return row.kind == seconds;
  if (std::is_integral_v<T>) return row.kind == count || row.kind == size;
  return row.kind == word || row.kind == one_of;
}

template <class T>
void read_value(const Setting& row, const std::string& word, T& value) {
  if constexpr (Optional<T>)
    read_value(row, word, value.emplace());
  else if constexpr (OneOf<T>)
    value = static_cast<T>(read_choice(row, word));
  else if constexpr (std::is_floating_point_v<T>)
    value = read_seconds(row, word);
  else if constexpr (std::is_integral_v<T>)
    value = static_cast<T>(row.kind == ValueKind::size
                               ? read_size(row, word)
                               : read_count(row, word, std::numeric_limits<T>::max()));
  else
    value = row.kind == ValueKind::one_of ? choices(row)[read_choice(row, word)] : word;
}

template <class T>
std::string shown_value(const T& value) {
  if constexpr (Optional<T>)
    return value ? shown_value(*value) : "";
  else if constexpr (OneOf<T>)
    return std::to_string(static_cast<int>(value));
  else if constexpr (std::is_arithmetic_v<T>)
    return text(std::setprecision(std::numeric_limits<T>::max_digits10), value);
  else
    return value;
}

template <class T>
void put_value(const T& value, Hash& hash) {
  if constexpr (Optional<T>) {
    hash.word(value.has_value());
    if (value) put_value(*value, hash);
  } else if constexpr (std::is_floating_point_v<T>) {
    hash.word(std::bit_cast<std::uint64_t>(value));
  } else if constexpr (OneOf<T> || std::is_integral_v<T>) {
    hash.word(static_cast<std::uint64_t>(value));
  } else {
    hash.bytes(value);
  }
}

// A row ends with into<&Settings::ports>. parts: members that the reader of a word splits it into.
template <auto member, auto... parts>
constexpr Member into = {
    [](const Setting& row, const std::string& word, Settings& settings) {
      read_value(row, word, settings.*member), ((settings.*parts = {}), ...);
    },
    [](const Settings& a, const Settings& b) {
      return a.*member == b.*member && (... && (a.*parts == b.*parts));
    },
    [](const Settings& settings) {
      return (shown_value(settings.*member) + ... + ("/" + shown_value(settings.*parts)));
    },
    [](const Settings& settings, Hash& hash) {
      put_value(settings.*member, hash), (put_value(settings.*parts, hash), ...);
    },
    fits<std::remove_cvref_t<decltype(Settings().*member)>>};

// Words of another shape: parse(word, member) returns whether it is one.
template <auto parse, auto member>
constexpr Member parsed_into = {
    [](const Setting& row, const std::string& word, Settings& settings) {
      if (!parse(word, settings.*member)) refuse_value(row, word);
    },
    into<member>.same, into<member>.shown, into<member>.put,
    [](const Setting& row) { return row.kind == ValueKind::word; }};

}  // namespace tonari
