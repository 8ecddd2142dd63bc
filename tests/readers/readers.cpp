// SPDX-License-Identifier: BSD-3-Clause
#include "readers/readers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <utility>

#include "analysis/patterns.hpp"
#include "base/error.hpp"
#include "base/setting_table.hpp"
#include "layout/npy_header.hpp"
#include "planners/patterns/schedule_file.hpp"
#include "select/cache.hpp"
#include "select/channel.hpp"
#include "topology/nodes.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari::test {
namespace {

void demand(bool condition, const char* sentence) {
  if (!condition) throw Wrong{sentence};
}

// An error of ours with a sentence is an answer; whatever else is thrown is none.
void may_refuse(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    demand(*error.what() != 0, "an error has no sentence");
    demand(error.code() != Errc::internal, "an internal error was thrown");
  }
}

// In a folder of this process.
class File {
 public:
  explicit File(const std::string& bytes)
      : folder_(std::filesystem::temp_directory_path() /
                ("tonari-readers-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  ~File() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string folder() const { return folder_; }
  std::string path() const { return folder_ / "file"; }

 private:
  std::filesystem::path folder_;
};

// A file is never so broken that what is put into it cannot be read back.
void read_cache(const std::string& bytes) {
  const File file(bytes);
  const CacheFile cache(file.folder(), "file");
  const std::optional<std::string> found = cache.get("key");
  demand(!found || found->size() <= bytes.size(), "a value is longer than its file");
  demand(cache.put("new", "value"), "nothing can be put into the file");
  demand(cache.get("new") == "value", "what was put is not there");
  demand(cache.get("key") == found, "another entry was lost or changed");
}

void read_machine_line(const std::string& bytes) {
  const std::optional<LogGP> machine = loggp_from_text(bytes);
  if (!machine) return;
  const std::optional<LogGP> again = loggp_from_text(to_text(*machine));
  demand(again && to_text(*again) == to_text(*machine), "parameters change when they are written");
  demand(machine->L > 0 && machine->L < 10 && machine->eager >= 1, "a parameter is out of bounds");
}

void read_machine(const std::string& bytes) {
  const File file(bytes);
  may_refuse([&] {
    const LogGP machine = read_machine_file(file.path());
    demand(loggp_from_text(bytes).has_value(), "a file is read otherwise than its text");
    demand(machine.G > 0, "a time is not positive");
  });
}

// What a header says, or why it is refused.
std::string told_by_header(std::string_view begin) {
  try {
    const NpyHeader header = read_npy_header(begin);
    return write_npy_header(header.type, header.fortran_order, header.shape) +
           std::to_string(header.bytes);
  } catch (const Error& error) {
    return error.what();
  }
}

// Behind a header there are data of any kind. A byte that would end a list, a word, a number or
// the dictionary shows whether they are read as a part of it.
void expect_end_of_header(const std::vector<char>& exact) {
  const std::string told = told_by_header({exact.data(), exact.size()});
  std::vector<char> longer = exact;
  longer.push_back(' ');
  for (const char byte : std::string_view("}'\"),0: ")) {
    longer.back() = byte;
    demand(told_by_header({longer.data(), longer.size()}) == told,
           "a byte behind a header is read as a part of it");
  }
}

void read_npy(const std::string& bytes) {
  may_refuse([&] {
    const std::size_t length = npy_header_bytes(bytes.substr(0, npy_prefix));
    if (length > bytes.size()) return;  // the caller reads on
    // nothing behind it, not even the zero of a string
    const std::vector<char> exact(bytes.begin(),
                                  bytes.begin() + static_cast<std::ptrdiff_t>(length));
    expect_end_of_header(exact);
    const NpyHeader header = read_npy_header({exact.data(), exact.size()});
    demand(header.bytes == length, "the data do not begin where the header ends");
    for (const std::int64_t size : header.shape) demand(size >= 0, "a size is negative");
    const NpyHeader again =
        read_npy_header(write_npy_header(header.type, header.fortran_order, header.shape));
    demand(again.type == header.type && again.shape == header.shape &&
               again.fortran_order == header.fortran_order,
           "a header changes when it is written");
  });
}

// A header without its last characters but spaces, and the length to match.
std::string header_without(std::size_t characters) {
  std::string header = write_npy_header("<f8", false, {24, 16});
  header.resize(header.find_last_not_of(" \n") + 1 - characters);
  header[8] = static_cast<char>(header.size() - 10);
  return header;
}

void read_offsets(const std::string& bytes) {
  const File file(bytes);
  may_refuse([&] {
    const Pattern pattern = parse_pattern(file.path());
    demand(pattern.dimensions >= 1 && pattern.dimensions <= max_dimensions, "wrong dimensions");
  });
}

// By name only: what is no name is a path.
void read_pattern_name(const std::string& bytes) {
  if (bytes.find(':') == bytes.npos) return;
  may_refuse([&] { parse_pattern(bytes); });
}

void read_nodes(const std::string& bytes) {
  for (const int ranks : {1, 2, 7})
    for (int rank = 0; rank < ranks; ++rank)
      may_refuse([&] {
        const NodeMembers node = node_from_text(bytes, "TONARI_NODES", ranks, rank);
        demand(!node.ranks.empty() && node.ranks.front() == node.node, "a node has another name");
        demand(std::ranges::count(node.ranks, rank) == 1, "a rank is not on its own node");
        demand(node.ranks.back() < ranks, "a rank is on a node that does not exist");
      });
}

// All ranks refuse a file, or each gets its part: what one sends another receives. A line has a
// block at least, so no part is longer than the file.
void read_schedule_text(const std::string& bytes) {
  const File file(bytes);
  for (const int ranks : {1, 4})
    may_refuse([&] {
      std::vector<PairHop> sent, received;
      std::set<std::uint64_t> prints;
      for (int rank = 0; rank < ranks; ++rank) {
        const OwnSchedule own = read_schedule_file({file.path(), rank, ranks, 1 << 16});
        sent.insert(sent.end(), own.out.begin(), own.out.end());
        received.insert(received.end(), own.in.begin(), own.in.end());
        prints.insert(own.fingerprint);
      }
      demand(ranks > 1 || sent.empty(), "one rank sends to itself");
      demand(sent.size() <= bytes.size() / 4, "a file has more hops than bytes for them");
      demand(prints.size() == 1, "ranks that read the same differ");
      std::ranges::sort(sent), std::ranges::sort(received);
      demand(sent == received, "a hop has one end only");
      demand(std::ranges::adjacent_find(sent) == sent.end(), "a hop is there twice");
    });
}

// How many powers of two the unit of a size stands for; less than 0 if there is no such unit.
int power_of(std::string unit) {
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
  static const char* const units[] = {"", "k", "m", "g", "", "kib", "mib", "gib"};
  const auto found = std::ranges::find(units, unit);
  return found == std::end(units) ? -1 : static_cast<int>(10 * ((found - units) % 4));
}

// Compares digits instead of values, so nothing can wrap around here.
void read_one_size(const Setting& row, const std::string& word) {
  const std::size_t end = std::min(word.find_first_not_of("0123456789"), word.size());
  const std::size_t zeros = std::min(word.find_first_not_of('0'), end);
  const std::string digits = zeros == end && end > 0 ? "0" : word.substr(zeros, end - zeros);
  const int power = power_of(word.substr(end));
  const std::string most = std::to_string(UINT64_MAX >> std::max(power, 0));
  const bool fits =
      end > 0 && power >= 0 && std::pair(digits.size(), digits) <= std::pair(most.size(), most);
  std::optional<std::uint64_t> bytes;
  may_refuse([&] { bytes = read_size(row, word); });
  demand(bytes.has_value() == fits, "a size is refused that fits, or taken that does not");
  if (!bytes) return;
  demand(std::to_string(*bytes >> power) == digits, "a size is read as another one");
  demand(*bytes >> power << power == *bytes, "a size is no multiple of its unit");
}

void read_settings(const std::string& bytes) {
  const std::string word = bytes.c_str();  // of the environment and of infos: up to the first zero
  for (const Setting& row : all_settings())
    may_refuse([&] {
      if (row.kind == ValueKind::one_of || row.kind == ValueKind::promise) read_choice(row, word);
      if (row.kind == ValueKind::count) demand(read_count(row, word, 100) <= 100, "too large");
      if (row.kind == ValueKind::size) read_one_size(row, word);
      if (row.kind == ValueKind::seconds) demand(read_seconds(row, word) > 0, "no time");
    });
  Settings settings;
  for (const Setting& row : all_settings())
    if (row.member.read) may_refuse([&] { row.member.read(row, word, settings); });
  unknown_key(word);
  unknown_key("tonari_" + word);
  unknown_variable("TONARI_" + word);
}

void read_names(const std::string& bytes) {
  const int dimensions = mesh_dimensions(bytes);
  demand(dimensions >= 0, "a mesh has negative dimensions");
  may_refuse([&] { virtual_topology(1000, dimensions); });
  number_after(bytes, "segments of ");
}

const std::string machine_example =
    "L=1e-06 o=4e-07 g=5e-07 G=1e-10 copy_block=1e-08 copy_byte=1e-10 typed_block=2e-08 "
    "rendezvous=0 shared_latency=1e-07 shared_overhead=1e-07 eager=4096";

const Reader table[] = {
    {"cache",
     {"tonari cache 1\nkey\tvalue\nother\tL=1 o=2\n", "tonari cache 1\n", "", "tonari cache 2\n"},
     read_cache},
    {"machine line", {machine_example}, read_machine_line},
    {"machine file",
     {machine_example,
      "# mine\nL = 1e-6 # latency\no=1e-7\ng=1e-7\nG=1e-10\ncopy_block=1e-8\n"
      "copy_byte=1e-10\ntyped_block=1e-8\nrendezvous=1e-6\neager=65536\n"},
     read_machine},
    {"npy header",
     {write_npy_header("<f8", false, {24, 16, 40}), write_npy_header("|u1", true, {}),
      write_npy_header("<c16", false, {0}), header_without(1), header_without(2)},
     read_npy},
    {"file of offsets", {"1 0 -1\n# comment\n0,1,1\n", "-1\n1\n"}, read_offsets},
    {"pattern",
     {"moore:3:1", "star:2:2", "octant:3", "octant:2:2", "shells:2:1,3"},
     read_pattern_name},
    {"schedule",
     {"tonari schedule 1\nranks 4\n# stage from to: blocks\n0 0 1: 0-1 0-2\n1 1 2: 0-2 1-2\n",
      "tonari schedule 1\nranks 4\n0 0 2: 0-2 0-3\n0 1 2: 1-2 1-3\n0 3 0: 3-0\n1 0 1: 0-1\n1 2 3: "
      "0-3 1-3 2-3\n# end\n",
      "tonari schedule 1\nranks 1\n", "tonari schedule 2\n"},
     read_schedule_text},
    {"nodes", {"2", "1,3,4", "1"}, read_nodes},
    {"settings",
     {"auto", "64KiB", "17179869183G", "17179869184G", "18014398509481984k", "18446744073709551615",
      "0.5", "true", "measure", "algorithm", "TUNE"},
     read_settings},
    {"names", {"store-and-forward/2", "segments of 4000/single copy"}, read_names},
};

}  // namespace

std::span<const Reader> readers() { return table; }

}  // namespace tonari::test
