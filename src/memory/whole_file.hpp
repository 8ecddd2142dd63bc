// SPDX-License-Identifier: BSD-3-Clause
// Small files that are read and replaced whole, such as those in the user's cache directory.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tonari {

// The content of a regular file of at most `most` bytes, else nothing. Never waits, for instance
// for the writer of a FIFO. `status` receives what the system says of the file.
std::optional<std::string> read_file(const std::string& path, std::int64_t most,
                                     struct stat& status);
std::optional<std::string> read_file(const std::string& path, std::int64_t most);

// Readers see the old file or the new one; content that is longer than files may be is not begun.
// The file is new and its owner's alone (mode 0600), whatever had the name before. Returns false if
// it could not be written.
bool replace_file(const std::string& path, std::string_view content);

}  // namespace tonari
