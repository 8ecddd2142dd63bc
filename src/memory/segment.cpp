#include "memory/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "memory/available.hpp"
#include "memory/memory.hpp"
#include "memory/process.hpp"

namespace tonari {
namespace {

constexpr const char* another_directory = "let TONARI_SHM_DIR name a directory in memory (tmpfs)";

std::string reason(int error) { return std::generic_category().message(error); }

// what: the obstacle; remedy: what would remove it.
template <class... Parts>
[[noreturn]] void cannot_share(std::uint64_t bytes, const std::string& what, const Parts&... remedy) {
  fail(Errc::memory, "cannot share ", bytes, " bytes with the other processes of this node: ", what, "; ", remedy...,
       " or set TONARI_CHANNEL=p2p-packed to do without shared memory");
}

template <class... Parts>
[[noreturn]] void cannot_attach(const SegmentName& name, const Parts&... why) {
  fail(Errc::memory, "cannot map the ", name.bytes, " bytes that process ", name.process, " shares: ", why...,
       "; set TONARI_CHANNEL=p2p-packed to do without shared memory");
}

// A segment of `bytes` with what belongs to the segment itself, in whole pages; 0: more than any process can map.
std::size_t in_pages(std::uint64_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - Segment::reserved - page) return 0;
  return round_up(static_cast<std::size_t>(bytes) + Segment::reserved, page);
}

// ---- a file without a name, which lives as long as somebody has it open or mapped

// Where TONARI_SHM_DIR says; by default in no directory at all.
std::string wanted_directory() {
  const char* directory = std::getenv("TONARI_SHM_DIR");
  return directory ? directory : "";
}

int memory_file() {
  // Some systems refuse memory files that could be executed; older ones know none that cannot.
  constexpr unsigned no_execution = 0x8;  // MFD_NOEXEC_SEAL, Linux 6.3
  const int sealed = ::memfd_create("tonari", MFD_CLOEXEC | MFD_ALLOW_SEALING | no_execution);
  return sealed >= 0 || errno != EINVAL ? sealed : ::memfd_create("tonari", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

// O_EXCL: it can never be given a name.
int nameless_file_in(const std::string& directory, std::uint64_t bytes) {
  const int file = ::open(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) cannot_share(bytes, "no file can be made in " + directory + " (" + reason(errno) + ")", another_directory);
  return file;
}

// ---- the memory behind it

void check_limits(std::uint64_t needed) {
  rlimit limit{};  // asked first, because who goes beyond gets a signal
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && needed > limit.rlim_cur)
    cannot_share(needed, text("files of this process may have ", limit.rlim_cur, " bytes (RLIMIT_FSIZE)"), "raise that by `ulimit -f unlimited`");
  if (const std::uint64_t left = available_memory(); needed > left)
    cannot_share(needed, text("of this machine's memory, or of what this job may use, ", left, " bytes are left"), "run fewer ranks on this node");
}

// Takes all of it now. In pieces, so that a process that gets signals all the time comes to an end, too. Returns an errno.
int fill(int file, std::size_t bytes) {
  constexpr std::size_t piece = std::size_t{16} << 20;
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t some = std::min(piece, bytes - at);
    if (::fallocate(file, 0, static_cast<off_t>(at), static_cast<off_t>(some)) == 0) at += some;
    else if (errno != EINTR) return errno;
  }
  return 0;
}

[[noreturn]] void cannot_fill(int error, int file, std::uint64_t needed, const std::string& directory) {
  if (directory.empty()) cannot_share(needed, "memory is short (" + reason(error) + ")", "run fewer ranks on this node");
  struct statvfs room {};
  if ((error != ENOSPC && error != EDQUOT) || ::ftruncate(file, 0) != 0 || ::fstatvfs(file, &room) != 0)
    cannot_share(needed, directory + " does not take them (" + reason(error) + ")", another_directory);
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  cannot_share(needed, text(directory, " has ", free, " bytes free (", reason(error), ")"), "make ", directory, " larger");
}

// Null: errno says why.
std::byte* map(int file, std::size_t bytes, Segment::Pages pages) {
  const int populate = pages == Segment::Pages::now ? MAP_POPULATE : 0;
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | populate, file, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

std::uint64_t random_number(std::uint64_t bytes) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) cannot_share(bytes, "no random number (" + reason(errno) + ")", "allow the call getrandom");
  return number;
}

// Opens what another process has open. The file behind a number that a stranger sent may be of any kind: neither wait for it nor be controlled by it.
int open_of(const SegmentName& name) {
  const std::string path = text("/proc/", name.process, "/fd/", name.descriptor);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file >= 0) return file;
  const int error = errno;
  if (error == ENOENT) cannot_attach(name, path, " does not exist: that process has ended, closed it, or runs in another container");
  cannot_attach(name, path, " cannot be opened (", reason(error), "): processes of one user, in one container, can share memory");
}

// Its size and the number at its start, which nobody else knows, tell that it is the file that was meant.
void check(const SegmentName& name, int file, std::size_t mapped) {
  struct stat found {};
  if (::fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) cannot_attach(name, "its descriptor ", name.descriptor, " is no memory");
  if (found.st_uid != ::geteuid()) cannot_attach(name, "it belongs to another user");
  if (static_cast<std::uint64_t>(found.st_size) != mapped)
    cannot_attach(name, "its descriptor ", name.descriptor, " has ", found.st_size, " bytes instead of ", mapped);
  std::uint64_t number = 0;
  if (::pread(file, &number, sizeof number, 0) != sizeof number || number != name.number)
    cannot_attach(name, "its descriptor ", name.descriptor, " is another segment than the one meant: it has ended, or runs in another container");
}

}  // namespace

Segment::Segment(Segment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      mapped_(std::exchange(other.mapped_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  Segment taken(std::move(other));  // takes along, to its end, what was here
  std::swap(data_, taken.data_);
  std::swap(bytes_, taken.bytes_);
  std::swap(mapped_, taken.mapped_);
  std::swap(descriptor_, taken.descriptor_);
  return *this;
}

Segment::~Segment() {
  close_door();
  if (data_) ::munmap(data_, mapped_);
}

void Segment::close_door() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

// Whatever throws in the following two: the half-made segment gives back what it has.

Segment Segment::create(std::size_t bytes) {
  Segment made;
  made.bytes_ = bytes;
  made.mapped_ = in_pages(bytes);
  if (made.mapped_ == 0) cannot_share(bytes, "no process can have as many", "check the counts");
  check_limits(made.mapped_);
  const std::uint64_t number = random_number(bytes);

  std::string directory = wanted_directory();
  if (directory.empty() && (made.descriptor_ = memory_file()) < 0) directory = "/dev/shm";  // an old kernel, or a container that forbids memory files
  if (!directory.empty()) made.descriptor_ = nameless_file_in(directory, made.mapped_);
  if (::fchmod(made.descriptor_, 0600) != 0) cannot_share(bytes, "others could read them (" + reason(errno) + ")", another_directory);
  if (const int error = fill(made.descriptor_, made.mapped_)) cannot_fill(error, made.descriptor_, made.mapped_, directory);
  // From here on nobody can take pages away. Files in a directory have no seals: there we trust our own user.
  if (directory.empty()) ::fcntl(made.descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);

  if (!(made.data_ = map(made.descriptor_, made.mapped_, Pages::now)))
    cannot_share(made.mapped_, "they cannot be mapped (" + reason(errno) + ")", "look at `ulimit -v` and vm.max_map_count,");
  std::memcpy(made.data_, &number, sizeof number);
  return made;
}

Segment Segment::attach(const SegmentName& name, Pages pages) {
  Segment made;
  made.bytes_ = name.bytes;
  made.mapped_ = in_pages(name.bytes);
  if (name.process <= 0 || name.descriptor < 0 || made.mapped_ == 0) cannot_attach(name, "its name makes no sense: its door was closed, or it never was made");
  made.descriptor_ = open_of(name);
  check(name, made.descriptor_, made.mapped_);
  if (!(made.data_ = map(made.descriptor_, made.mapped_, pages))) cannot_attach(name, reason(errno), ": look at `ulimit -v` and vm.max_map_count");
  made.close_door();  // the mapping holds it
  return made;
}

void Segment::bring(std::size_t at, std::size_t bytes) const {
  constexpr int populate_for_writing = 23;  // MADV_POPULATE_WRITE, Linux 5.14
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = (reserved + at) / page * page, end = std::min(round_up(reserved + at + bytes, page), mapped_);
  if (data_ && first < end) (void)::madvise(data_ + first, end - first, populate_for_writing);
}

SegmentName Segment::name() const {
  SegmentName name{this_process(), descriptor_, bytes_, 0};
  if (data_) std::memcpy(&name.number, data_, sizeof name.number);
  return name;
}

}  // namespace tonari
