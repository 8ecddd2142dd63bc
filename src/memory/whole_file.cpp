// SPDX-License-Identifier: BSD-3-Clause
#include "memory/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "memory/available.hpp"
#include "memory/owned.hpp"

namespace tonari {
namespace {

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(file, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::int64_t most,
                                     struct stat& status) {
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file || ::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > most)
    return std::nullopt;
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = ::read(file.descriptor(), content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;  // it shrank meanwhile
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return content;
}

std::optional<std::string> read_file(const std::string& path, std::int64_t most) {
  struct stat status;
  return read_file(path, most, status);
}

// mkostemp makes a file that was not there; rename replaces whatever name is there.
bool replace_file(const std::string& path, std::string_view content) {
  if (content.size() > file_limit()) return false;
  std::string temporary = path + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write_all(file, content);
  if (::close(file) == 0 && written && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
  ::unlink(temporary.c_str());
  return false;
}

}  // namespace tonari
