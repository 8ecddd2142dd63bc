// SPDX-License-Identifier: BSD-3-Clause
// Memory that can be mapped several times and in another order (Zhao et al. 2021, section 4), also
// by other processes of this user on this node. It has no name that could be left behind: it ends
// with the last process that has it open or mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "memory/owned.hpp"

namespace tonari {

// Another process finds a file by this. It is trivially copyable, because it is sent as bytes.
struct FileName {
  std::int64_t process = 0;  // the process that has it open
  std::int32_t descriptor = -1;
  std::int32_t huge = 0;
  std::uint64_t bytes = 0, page = 0;
  std::uint64_t number = 0;  // random; stored in a page of its own behind the file's bytes
};

struct FilePiece {  // both multiples of the file's page
  std::uint64_t offset = 0, bytes = 0;
};

class MappedFile {
 public:
  // Makes `bytes` zeroed bytes (a multiple of `page`). All are backed by memory now, so that no
  // later touch can fail. `page` is as check_page wants it. If `huge`, the pages are huge pages of
  // that size, and TONARI_SHM_DIR does not matter. Throws Errc::memory with the need, the obstacle
  // and the remedy; nothing is left behind.
  static std::shared_ptr<const MappedFile> create(std::uint64_t bytes, std::size_t page, bool huge);
  // Opens what another process made. Throws Errc::memory if that fails or if the file is not the
  // one meant: a stranger could have sent the name.
  static std::shared_ptr<const MappedFile> open(const FileName& name);

  FileName name() const;
  std::uint64_t bytes() const { return bytes_; }
  std::size_t page() const { return page_; }
  bool huge() const { return huge_; }
  int descriptor() const { return file_.descriptor(); }

 private:
  MappedFile() = default;
  OpenFile file_;
  std::uint64_t bytes_ = 0, number_ = 0;
  std::size_t page_ = 0;
  bool huge_ = false;
};

// Shows pieces of a file at consecutive addresses, with their pages present. The same piece may
// appear in any number of views: they show the same memory. Pieces that follow each other in the
// file are mapped as one. The mappings hold the memory, so no descriptor is needed while views
// live.
class View {
 public:
  View() = default;
  // Throws Errc::memory if the system refuses (too many mappings, no address space).
  View(const MappedFile& file, std::span<const FilePiece> pieces);

  enum class Access : std::uint8_t { read, write };
  // From `at` on (a multiple of the page) the view then shows this piece of that file, which has
  // the same page size. A process that writes where it may only read gets SIGSEGV.
  void replace(std::uint64_t at, const MappedFile& file, FilePiece piece,
               Access access = Access::write);

  std::byte* data() const { return mapping_.data(); }  // a multiple of the file's page
  std::uint64_t bytes() const { return mapping_.bytes(); }

 private:
  Mapping mapping_;
};

}  // namespace tonari
