// SPDX-License-Identifier: BSD-3-Clause
#include "readers/readers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "analysis/patterns.hpp"
#include "base/error.hpp"
#include "base/setting.hpp"
#include "grid/npy_header.hpp"
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

void read_npy(const std::string& bytes) {
  may_refuse([&] {
    const std::size_t length = npy_header_bytes(bytes.substr(0, npy_prefix));
    if (length > bytes.size()) return;  // the caller reads on
    // nothing behind it, not even the zero of a string
    const std::vector<char> exact(bytes.begin(),
                                  bytes.begin() + static_cast<std::ptrdiff_t>(length));
    const NpyHeader header = read_npy_header({exact.data(), exact.size()});
    demand(header.bytes <= bytes.size(), "the data begin behind the end of the file");
    for (const std::int64_t size : header.shape) demand(size >= 0, "a size is negative");
    const NpyHeader again =
        read_npy_header(write_npy_header(header.type, header.fortran_order, header.shape));
    demand(again.type == header.type && again.shape == header.shape &&
               again.fortran_order == header.fortran_order,
           "a header changes when it is written");
  });
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

// In floating point, which does not wrap around.
double size_of(const std::string& word) {
  const std::size_t unit =
      std::string("kmg").find(static_cast<char>(word.find_first_of("kK") != word.npos   ? 'k'
                                                : word.find_first_of("mM") != word.npos ? 'm'
                                                : word.find_first_of("gG") != word.npos ? 'g'
                                                                                        : '-'));
  const double digits = std::strtod(word.c_str(), nullptr);
  return unit == std::string::npos ? digits : std::ldexp(digits, 10 * (1 + static_cast<int>(unit)));
}

void read_settings(const std::string& bytes) {
  const std::string word = bytes.c_str();  // of the environment and of infos: up to the first zero
  for (const Setting& row : all_settings())
    may_refuse([&] {
      if (row.kind == ValueKind::one_of || row.kind == ValueKind::promise) check_choice(row, word);
      if (row.kind == ValueKind::count) demand(read_count(row, word, 100) <= 100, "too large");
      if (row.kind == ValueKind::size)
        demand(static_cast<double>(read_size(row, word)) > 0.99 * size_of(word) - 1, "it wrapped");
      if (row.kind == ValueKind::seconds) demand(read_seconds(row, word) > 0, "no time");
    });
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
      write_npy_header("<c16", false, {0})},
     read_npy},
    {"file of offsets", {"1 0 -1\n# comment\n0,1,1\n", "-1\n1\n"}, read_offsets},
    {"pattern",
     {"moore:3:1", "star:2:2", "octant:3", "octant:2:2", "shells:2:1,3"},
     read_pattern_name},
    {"nodes", {"2", "1,3,4", "1"}, read_nodes},
    {"settings",
     {"auto", "64KiB", "17179869183G", "0.5", "true", "measure", "algorithm", "TUNE"},
     read_settings},
    {"names", {"store-and-forward/2", "segments of 4000/single copy"}, read_names},
};

}  // namespace

std::span<const Reader> readers() { return table; }

}  // namespace tonari::test
