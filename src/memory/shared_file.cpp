// SPDX-License-Identifier: BSD-3-Clause
#include "memory/shared_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/setting_table.hpp"
#include "memory/available.hpp"
#include "memory/pages.hpp"

namespace tonari {
namespace {

constexpr const char* another_directory = "let TONARI_SHM_DIR name a directory in memory (tmpfs)";

// ---- a file without a name

// The file lies where TONARI_SHM_DIR says, by default in no directory at all.
std::string wanted_directory() { return in_environment(setting("TONARI_SHM_DIR")).value_or(""); }

OpenFile memory_file(unsigned flags) {
  // Some systems refuse memory files that could be executed; older ones do not know the flag.
  constexpr unsigned no_execution = 0x8;  // MFD_NOEXEC_SEAL, Linux 6.3
  flags |= MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int sealed = ::memfd_create("tonari", flags | no_execution);
  return OpenFile(sealed >= 0 || errno != EINVAL ? sealed : ::memfd_create("tonari", flags));
}

// The upper bits of the flags hold the logarithm of the page size.
OpenFile huge_file(const SharedFileWords& words, std::uint64_t bytes, std::size_t page) {
  constexpr int shift = 26;  // MFD_HUGE_SHIFT
  OpenFile file = memory_file(MFD_HUGETLB | static_cast<unsigned>(std::countr_zero(page)) << shift);
  if (!file)
    cannot_share(words, bytes,
                 text("no memory file can be made of huge pages of ", page, " bytes (",
                      system_reason(errno), ")"),
                 "do without huge pages");
  return file;
}

// O_EXCL ensures that the file can never be given a name.
OpenFile open_nameless(const std::string& directory) {
  return OpenFile(::open(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
}

OpenFile nameless_file_in(const SharedFileWords& words, const std::string& directory,
                          std::uint64_t bytes) {
  OpenFile file = open_nameless(directory);
  if (!file)
    cannot_share(words, bytes,
                 "no file can be made in " + directory + " (" + system_reason(errno) + ")",
                 another_directory);
  return file;
}

// ---- the memory behind it

// Huge pages were set aside before, so they are no part of the memory that is left.
void check_limits(const SharedFileWords& words, std::uint64_t needed, bool huge) {
  if (const std::uint64_t most = file_limit(); needed > most)
    cannot_share(words, needed,
                 text("files of this process may have ", most, " bytes (RLIMIT_FSIZE)"),
                 "raise that by `ulimit -f unlimited`");
  static Allowance allowance;
  if (huge || allowance.covers(needed)) return;
  if (const std::uint64_t left = available_memory(); needed > left)
    cannot_share(
        words, needed,
        text("of this machine's memory, or of what this job may use, ", left, " bytes are left"),
        "run fewer ranks on this node");
}

// Takes all of it now, in pieces, so that it also ends in a process that gets signals all the time.
// Returns an errno.
int fill(int file, std::uint64_t bytes, std::size_t page) {
  const std::uint64_t piece = std::max(std::uint64_t{16} << 20, std::uint64_t{page});
  for (std::uint64_t at = 0; at < bytes;) {
    const std::uint64_t some = std::min(piece, bytes - at);
    if (::fallocate(file, 0, static_cast<off_t>(at), static_cast<off_t>(some)) == 0)
      at += some;
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

[[noreturn]] void cannot_fill_huge(const SharedFileWords& words, int error, std::uint64_t needed,
                                   std::size_t page) {
  cannot_share(
      words, needed, text("huge pages of ", page, " bytes are short (", system_reason(error), ")"),
      "write a larger number to " + huge_pages_file(page) + " (as root), do without huge pages,");
}

[[noreturn]] void cannot_fill(const SharedFileWords& words, int error, int file,
                              std::uint64_t needed, const std::string& directory) {
  if (directory.empty())
    cannot_share(words, needed, "memory is short (" + system_reason(error) + ")",
                 "run fewer ranks on this node");
  if ((error != ENOSPC && error != EDQUOT) || ::ftruncate(file, 0) != 0)
    cannot_share(words, needed, directory + " does not take them (" + system_reason(error) + ")",
                 another_directory);
  cannot_share(
      words, needed,
      text(directory, " has ", free_in(directory), " bytes free (", system_reason(error), ")"),
      text("make ", directory, " larger"));
}

// ---- another process's file

// Opens what another process has open. A stranger may have sent the number, and the file may be of
// any kind: opening must neither wait for it nor make it the controlling terminal.
OpenFile open_of(const SharedFileWords& words, const SharedFileName& name) {
  const std::string path = text("/proc/", name.process, "/fd/", name.descriptor);
  OpenFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file) return file;
  const int error = errno;
  if (error == ENOENT)
    cannot_attach(
        words, name,
        path + " does not exist: that process has ended, closed it, or runs in another container");
  cannot_attach(words, name,
                path + " cannot be opened (" + system_reason(error) +
                    "): processes of one user, in one container, can share memory");
}

bool has_pages(int file, std::size_t huge_page) {
  struct statfs system{};
  if (::fstatfs(file, &system) != 0) return false;
  const bool huge = static_cast<std::uint64_t>(system.f_type) == HUGETLBFS_MAGIC;
  return huge == (huge_page != 0) &&
         (!huge || static_cast<std::size_t>(system.f_bsize) == huge_page);
}

void check(const SharedFileWords& words, const SharedFileName& name, int file) {
  const std::string its = text("its descriptor ", name.descriptor);
  struct stat found{};
  if (::fstat(file, &found) != 0 || !S_ISREG(found.st_mode))
    cannot_attach(words, name, its + " is no memory");
  if (found.st_uid != ::geteuid()) cannot_attach(words, name, "it belongs to another user");
  if (static_cast<std::uint64_t>(found.st_size) != name.size)
    cannot_attach(words, name, text(its, " has ", found.st_size, " bytes instead of ", name.size));
  if (!has_pages(file, name.huge_page))
    cannot_attach(words, name, its + " has pages of another size");
  std::uint64_t number = 0;
  if (::pread(file, &number, sizeof number, static_cast<off_t>(name.number_at)) != sizeof number ||
      number != name.number)
    cannot_attach(words, name,
                  text(its, " is another ", words.noun,
                       " than the one meant: it has ended, or runs in another container"));
}

}  // namespace

std::optional<std::string> wrong_shared_directory() {
  const Setting& row = setting("TONARI_SHM_DIR");
  const std::string directory = wanted_directory();
  if (directory.empty() || open_nameless(directory)) return std::nullopt;
  return text(row.variable, " is '", directory, "', where no file can be made (",
              system_reason(errno), "); it must be ", row.values, ", or ranks share no memory");
}

std::string system_reason(int error) { return std::generic_category().message(error); }

void cannot_share(const SharedFileWords& words, std::uint64_t bytes, const std::string& what,
                  const std::string& remedy) {
  fail(Errc::memory, "cannot ", words.make, " ", bytes, " bytes ", words.purpose, ": ", what, "; ",
       remedy, " or ", words.without);
}

void cannot_attach(const SharedFileWords& words, const SharedFileName& name,
                   const std::string& why) {
  fail(Errc::memory, "cannot map the ", name.shown, " bytes that process ", name.process,
       " shares: ", why, "; ", words.without);
}

std::uint64_t random_number(const SharedFileWords& words, std::uint64_t bytes) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    cannot_share(words, bytes, "no random number (" + system_reason(errno) + ")",
                 "allow the call getrandom");
  return number;
}

OpenFile make_shared_file(const SharedFileWords& words, std::uint64_t size, std::size_t huge_page) {
  check_limits(words, size, huge_page != 0);
  std::string directory = huge_page ? "" : wanted_directory();
  OpenFile file;
  if (huge_page) file = huge_file(words, size, huge_page);
  // an old kernel, or a container that forbids memory files
  else if (directory.empty() && !(file = memory_file(0)))
    directory = "/dev/shm";
  if (!directory.empty()) file = nameless_file_in(words, directory, size);
  if (::fchmod(file.descriptor(), 0600) != 0)
    cannot_share(words, size, "others could read them (" + system_reason(errno) + ")",
                 another_directory);
  if (const int error = fill(file.descriptor(), size, huge_page)) {
    if (huge_page) cannot_fill_huge(words, error, size, huge_page);
    cannot_fill(words, error, file.descriptor(), size, directory);
  }
  // From here on no process can take pages away. Files in a directory have no seals; there the
  // library trusts processes of its own user.
  if (directory.empty())
    ::fcntl(file.descriptor(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return file;
}

OpenFile open_shared_file(const SharedFileWords& words, const SharedFileName& name) {
  if (name.process <= 0 || name.descriptor < 0 || name.size == 0)
    cannot_attach(words, name,
                  "its name makes no sense: its door was closed, or it never was made");
  OpenFile file = open_of(words, name);
  check(words, name, file.descriptor());
  return file;
}

}  // namespace tonari
