// SPDX-License-Identifier: BSD-3-Clause
#include "spmv/npy.hpp"

#include <bit>
#include <charconv>

#include "base/error.hpp"

namespace bench::spmv {
using tonari::Errc;

static_assert(std::endian::native == std::endian::little, "the files are little endian");

namespace {

// The text behind 'key': in the header, a Python dictionary.
std::string entry(const std::string& header, const std::string& key, char end) {
  const std::size_t place = header.find("'" + key + "': ");
  if (place == std::string::npos) return "";
  const std::size_t from = place + key.size() + 4;
  return header.substr(from, header.find(end, from) - from);
}

}  // namespace

Npy::Npy(const std::string& path, char kind) : path_(path), file_(path, std::ios::binary) {
  if (!file_)
    tonari::fail(Errc::file, "cannot read ", path, "; `tonari partition` makes such files");
  unsigned char start[10];
  file_.read(reinterpret_cast<char*>(start), sizeof start);
  if (!file_ || std::string(start, start + 8) != std::string("\x93NUMPY\x01\x00", 8))
    tonari::fail(Errc::file, path, " is no NumPy file of version 1.0");
  std::string header(start[8] + 256u * start[9], '\0');
  file_.read(header.data(), static_cast<std::streamsize>(header.size()));
  const std::string expected = std::string("'<") + kind + "8'", shape = entry(header, "shape", ')');
  const auto [end, error] =
      std::from_chars(shape.data() + (shape.empty() ? 0 : 1), shape.data() + shape.size(), size_);
  if (!file_ || entry(header, "descr", ',') != expected || error != std::errc{} ||
      std::string(end, shape.data() + shape.size()) != ",")
    tonari::fail(Errc::file, path, " should hold a list of numbers ", expected);
  begin_ = static_cast<long long>(sizeof start + header.size());
}

void Npy::read_bytes(long long first, long long count, char* into) {
  if (first < 0 || count < 0 || first + count > size_)
    tonari::fail(Errc::file, path_, " has ", size_, " numbers; expected at least ", first + count);
  file_.seekg(begin_ + 8 * first);
  file_.read(into, 8 * count);
  if (!file_) tonari::fail(Errc::file, path_, " is shorter than it says");
}

}  // namespace bench::spmv
