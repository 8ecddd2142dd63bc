// SPDX-License-Identifier: BSD-3-Clause
#include "memory/mapped_file.hpp"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "memory/memory.hpp"
#include "memory/pages.hpp"
#include "memory/process.hpp"
#include "memory/shared_file.hpp"

namespace tonari {
namespace {

constexpr SharedFileWords words{"make", "that can be mapped several times", "file",
                                "choose storage brick or array instead of mapped"};

constexpr std::uint64_t most_bytes = std::numeric_limits<std::ptrdiff_t>::max() / 2;

// The number is in one more page behind the file's bytes, which must be a huge page if those are.
std::size_t page_of_number(std::size_t page, bool huge) { return huge ? page : system_page(); }

void write_number(const MappedFile& file, std::uint64_t number) {
  const Mapping page =
      map_shared(file.descriptor(), page_of_number(file.page(), file.huge()), file.bytes(), false);
  if (!page)
    cannot_share(words, file.bytes(), "they cannot be mapped (" + system_reason(errno) + ")",
                 "look at `ulimit -v` and vm.max_map_count,");
  std::memcpy(page.data(), &number, sizeof number);
}

// Checks what a stranger may have sent. The other sizes, and whether the file exists, show when it
// is opened.
bool makes_sense(const FileName& name) {
  return std::has_single_bit(name.page) && name.page >= system_page() && name.bytes <= most_bytes &&
         name.page <= most_bytes && name.bytes % name.page == 0;
}

// ---- views

void check_piece(const MappedFile& file, const FilePiece& piece) {
  const std::uint64_t page = file.page();
  if (piece.offset % page != 0 || piece.bytes % page != 0)
    fail(Errc::internal, "a piece of ", piece.bytes, " bytes from ", piece.offset,
         " is none of whole pages of ", page, " bytes");
  if (piece.offset > file.bytes() || piece.bytes > file.bytes() - piece.offset)
    fail(Errc::internal, "a piece of ", piece.bytes, " bytes from ", piece.offset,
         " ends beyond a file of ", file.bytes(), " bytes");
}

std::vector<FilePiece> joined(const MappedFile& file, std::span<const FilePiece> pieces) {
  std::vector<FilePiece> joined;
  for (const FilePiece& piece : pieces) {
    check_piece(file, piece);
    if (piece.bytes == 0) continue;
    if (!joined.empty() && joined.back().offset + joined.back().bytes == piece.offset)
      joined.back().bytes += piece.bytes;
    else
      joined.push_back(piece);
  }
  return joined;
}

std::uint64_t sum(std::span<const FilePiece> pieces) {
  std::uint64_t bytes = 0;
  for (const FilePiece& piece : pieces)
    bytes = checked_add(bytes, piece.bytes, "the bytes of a view");
  return bytes;
}

// With many regions, one reason for running out of memory is so common that it has a sentence of
// its own.
[[noreturn]] void cannot_view(int error, std::uint64_t bytes, std::size_t pieces) {
  if (error == ENOMEM) check_mappings(static_cast<std::int64_t>(pieces));
  fail(Errc::memory, "cannot map ", bytes, " bytes in ", pieces, " pieces (", system_reason(error),
       "): look at `ulimit -v`, or ", words.without);
}

// Reserves addresses from a multiple of `page` on that no other mapping gets and that cannot be
// used. The system chooses by its own page, so this takes more and gives the ends back. If it
// returns null, errno says why.
Mapping reserve(std::uint64_t bytes, std::size_t page) {
  const std::size_t more = page - system_page();
  void* at =
      ::mmap(nullptr, bytes + more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return {};
  auto* const begin = static_cast<std::byte*>(at);
  const std::size_t before = round_up(reinterpret_cast<std::uintptr_t>(begin), page) -
                             reinterpret_cast<std::uintptr_t>(begin),
                    behind = more - before;
  if (before) ::munmap(begin, before);
  if (behind) ::munmap(begin + before + bytes, behind);
  return {begin + before, bytes};
}

// Replaces whatever was mapped there.
bool put(std::byte* at, const MappedFile& file, const FilePiece& piece,
         View::Access access = View::Access::write) {
  const int allowed = access == View::Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
  return ::mmap(at, piece.bytes, allowed, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file.descriptor(),
                static_cast<off_t>(piece.offset)) != MAP_FAILED;
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::create(std::uint64_t bytes, std::size_t page,
                                                     bool huge) {
  if (bytes > most_bytes)
    cannot_share(words, bytes, "no process can have as many", "check the shape,");
  const std::uint64_t size = bytes + page_of_number(page, huge);
  check_page(page, huge, size);
  if (bytes % page != 0)
    fail(Errc::internal, "a file of ", bytes, " bytes is none of whole pages of ", page, " bytes");

  const std::shared_ptr<MappedFile> made(new MappedFile);
  made->bytes_ = bytes;
  made->page_ = page;
  made->huge_ = huge;
  made->number_ = random_number(words, bytes);
  made->file_ = make_shared_file(words, size, huge ? page : 0);
  write_number(*made, made->number_);
  return made;
}

std::shared_ptr<const MappedFile> MappedFile::open(const FileName& name) {
  const bool huge = name.huge != 0;
  SharedFileName wanted{name.process, name.descriptor, name.bytes,          0,
                        name.number,  name.bytes,      huge ? name.page : 0};
  if (makes_sense(name)) wanted.size = name.bytes + page_of_number(name.page, huge);

  const std::shared_ptr<MappedFile> made(new MappedFile);
  made->bytes_ = name.bytes;
  made->page_ = name.page;
  made->huge_ = huge;
  made->number_ = name.number;
  made->file_ = open_shared_file(words, wanted);
  return made;
}

FileName MappedFile::name() const {
  return {this_process(), file_.descriptor(), huge_, bytes_, page_, number_};
}

// Whatever throws, the mapping gives back the addresses and all that was put there.
View::View(const MappedFile& file, std::span<const FilePiece> pieces) {
  const std::vector<FilePiece> mapped = joined(file, pieces);
  const std::uint64_t bytes = sum(mapped);
  if (bytes == 0) return;
  if (bytes > most_bytes) cannot_view(EOVERFLOW, bytes, mapped.size());
  mapping_ = reserve(bytes, file.page());
  bool all = static_cast<bool>(mapping_);
  std::byte* at = mapping_.data();
  for (std::size_t i = 0; all && i < mapped.size(); at += mapped[i++].bytes)
    all = put(at, file, mapped[i]);
  if (all) return;
  const int error = errno;
  mapping_ = {};
  cannot_view(error, bytes, mapped.size());
}

void View::replace(std::uint64_t at, const MappedFile& file, FilePiece piece, Access access) {
  check_piece(file, piece);
  if (at % file.page() != 0 || reinterpret_cast<std::uintptr_t>(data()) % file.page() != 0)
    fail(Errc::internal, "byte ", at, " of this view is no beginning of a page of ", file.page(),
         " bytes");
  if (at > bytes() || piece.bytes > bytes() - at)
    fail(Errc::internal, "a piece of ", piece.bytes, " bytes from ", at, " ends beyond a view of ",
         bytes(), " bytes");
  if (piece.bytes > 0 && !put(data() + at, file, piece, access)) cannot_view(errno, piece.bytes, 1);
}

}  // namespace tonari
