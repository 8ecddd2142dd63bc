// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/read_call.hpp"

#include <limits>

#include "base/environment.hpp"
#include "copy/walk.hpp"
#include "mpi/datatype.hpp"
#include "planners/registry.hpp"
#include "request/buffer.hpp"
#include "request/settings.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {

void OutgoingMessages::read() {
  require_usable(given_.buffer, "sendbuf");
  if (given_.sends < 0) fail(Errc::argument, "`sends` is ", given_.sends, on_rank());
  if (given_.type == MPI_DATATYPE_NULL)
    fail(Errc::argument, "`type` is MPI_DATATYPE_NULL", on_rank());
  extent_ = extent_of(given_.type).length;
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

SparseMethod read_method(MPI_Info info, int ranks, bool forwards) {
  using Kind = SparseMethod::Kind;
  if (info == MPI_INFO_NULL && !Variables(where::sparse).any()) return {Kind::automatic};
  const std::string given = read_settings(info, where::sparse).sparse_algorithm;
  if (given == "auto") return {Kind::automatic};
  const std::string name = current_name(given);
  for (const Kind kind : {Kind::nbx, Kind::personalized})
    if (name == SparseMethod{kind}.name()) return {kind};
  const Setting& row = setting("TONARI_SPARSE_ALGORITHM");
  if (name == "pairwise") {
    if (ranks <= most_pairwise) return {Kind::pairwise};
    fail(Errc::algorithm, name_of(row), " is pairwise, which is for up to ", most_pairwise,
         " ranks, but there are ", ranks);
  }
  const int dimensions = mesh_dimensions(name);
  if (dimensions == 0) refuse_value(row, given);
  if (dimensions > most_dimensions(ranks))
    fail(Errc::algorithm, name_of(row), " is ", name, ", but ", ranks,
         ranks == 1 ? " rank has" : " ranks have", " virtual topologies of 1 to ",
         most_dimensions(ranks), " dimensions only");
  if (!forwards)
    fail(Errc::algorithm, name_of(row), " is ", name,
         ", which is for tonari_sparse_alltoallv only");
  return {Kind::store_and_forward, dimensions};
}

}  // namespace tonari
