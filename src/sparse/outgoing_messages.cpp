// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/outgoing_messages.hpp"

#include <limits>

#include "copy/walk.hpp"
#include "mpi/datatype.hpp"
#include "mpi/mpi_error.hpp"
#include "request/buffer.hpp"

namespace tonari {

void OutgoingMessages::read() {
  require_usable(given_.buffer, "sendbuf");
  if (given_.sends < 0) fail(Errc::argument, "`sends` is ", given_.sends, on_rank());
  if (given_.type == MPI_DATATYPE_NULL)
    fail(Errc::argument, "`type` is MPI_DATATYPE_NULL", on_rank());
  MPI_Aint low = 0;
  check_mpi(MPI_Type_get_extent(given_.type, &low, &extent_), "MPI_Type_get_extent");
  element_ = flatten(1, given_.type);
  if (given_.sends == 0) return;
  if (!given_.destinations || !given_.counts)
    fail(Errc::argument, given_.destinations ? "`sendcounts`" : "`destinations`",
         " is NULL, but `sends` is ", given_.sends, on_rank());
  messages_.reserve(static_cast<std::size_t>(given_.sends));
  for (int i = 0; i < given_.sends; ++i) read_message(i);
  if (!dense()) pack();
}

std::string OutgoingMessages::on_rank() const { return text(" on rank ", rank_); }

// Elements follow each other without gaps.
bool OutgoingMessages::dense() const {
  return element_.contiguous() && static_cast<MPI_Aint>(element_.bytes()) == extent_;
}

void OutgoingMessages::read_message(int i) {
  const int to = given_.destinations[i];
  const MPI_Count count = given_.counts[i];
  if (to != MPI_PROC_NULL && (to < 0 || to >= ranks_))
    fail(Errc::argument, "`destinations[", i, "]` is ", to, on_rank(), "; ranks go from 0 to ",
         ranks_ - 1, ", and MPI_PROC_NULL stands for none");
  if (count < 0)
    fail(Errc::argument, "`sendcounts[", i, "]` is ", count, on_rank(),
         "; counts must not be negative");
  const MPI_Aint first = given_.displacements ? given_.displacements[i] : next_;
  next_ = checked_add<MPI_Aint>(first, count, "displacement");
  if (to == MPI_PROC_NULL) return;
  const MPI_Aint offset = checked_multiply(first, extent_, "displacement");
  checked_multiply(next_, extent_, "displacement");
  const Bytes bytes =
      checked_multiply(static_cast<Bytes>(count), element_.bytes(), "bytes of a message");
  if (bytes > std::numeric_limits<std::ptrdiff_t>::max() / 2)
    fail(Errc::overflow, "a message of ", bytes, " bytes");
  if (bytes > 0 && !given_.buffer && offset == 0)
    fail(Errc::argument, "`sendbuf` is NULL", on_rank(), ", but message ", i, " has ", count,
         " elements");
  const std::ptrdiff_t begin = dense() && bytes > 0 ? element_.runs()[0].offset : 0;
  const auto base = reinterpret_cast<std::uintptr_t>(given_.buffer);
  messages_.push_back(
      {to, reinterpret_cast<const std::byte*>(base + static_cast<std::uintptr_t>(offset + begin)),
       bytes});
}

// What does not lie in one piece is gathered before it travels.
void OutgoingMessages::pack() {
  Bytes all = 0;
  for (const SparseMessage& m : messages_) all = checked_add(all, m.bytes, "bytes to send");
  packed_ = std::make_unique_for_overwrite<std::byte[]>(all);
  std::byte* to = packed_.get();
  for (SparseMessage& m : messages_) {
    Walk(const_cast<std::byte*>(m.address), element_, extent_).gather(to, m.bytes);
    m.address = to;
    to += m.bytes;
  }
}

}  // namespace tonari
