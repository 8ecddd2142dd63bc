// SPDX-License-Identifier: BSD-3-Clause
// The header of a NumPy .npy file: a magic word, a version, and a Python dictionary of three
// entries, padded to 64 bytes (numpy/lib/format.py, "Format Version 1.0").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tonari {

struct NpyHeader {
  std::string type;  // "<f8"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;  // of the header: where the data begins
};

std::string write_npy_header(const std::string& type, bool fortran_order,
                             const std::vector<std::int64_t>& shape);

inline constexpr std::size_t npy_prefix = 12;  // bytes of a file that tell how long its header is
std::size_t npy_header_bytes(std::string_view prefix);  // throws Errc::file with what is wrong
// begin: at least that many bytes of the file. The content comes from a stranger. Throws
// Errc::file.
NpyHeader read_npy_header(std::string_view begin);

}  // namespace tonari
