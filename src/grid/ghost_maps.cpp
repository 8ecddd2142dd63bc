// SPDX-License-Identifier: BSD-3-Clause
#include "grid/ghost_maps.hpp"

#include <atomic>
#include <limits>
#include <set>

#include "channels/control_tags.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"
#include "grid/halo_grid.hpp"
#include "memory/program_stores.hpp"

namespace tonari {
namespace {

using Turn = std::uint64_t;
constexpr Turn gave_up = std::numeric_limits<Turn>::max();
// bytes from the word of one copy to that of the next: processors fetch pairs of cache lines
constexpr std::size_t apart = 128;

std::atomic_ref<Turn> word(const View& words, int copy) {
  return std::atomic_ref<Turn>(
      *reinterpret_cast<Turn*>(words.data() + apart * static_cast<std::size_t>(copy)));
}

std::vector<int> neighbors_on_node(const HaloGrid& grid) {
  std::set<int> found;
  const Decomposition& parts = grid.shape().parts;
  for (int s = 0; s < grid.subdomains(); ++s)
    for (const Region v : directions(parts.dims()))
      if (const auto other = parts.neighbor(grid.rank(), s, v);
          other && other->rank != grid.rank() && grid.context()->node()->here(other->rank))
        found.insert(other->rank);
  return {found.begin(), found.end()};
}

// Behind the cells.
View words_of(const MappedFile& file) {
  return View(file, std::vector<FilePiece>{{file.bytes() - file.page(), file.page()}});
}

}  // namespace

GhostMaps::GhostMaps(const HaloGrid& grid, std::vector<View>& storages)
    : node_(grid.context()->node()),
      rank_(grid.rank()),
      times_(static_cast<std::size_t>(grid.shape().copies)),
      since_(times_.size()) {
  const MPI_Comm comm = grid.context()->comm();
  run_collectively(comm, [&] {
    if (static_cast<std::size_t>(grid.shape().copies) > grid.shape().page / apart)
      fail(Errc::argument, "a grid with mapped ghosts can have ", grid.shape().page / apart,
           " copies in pages of ", grid.shape().page, " bytes; shape.copies is ",
           grid.shape().copies);
    peers_ = neighbors_on_node(grid);
    mine_ = words_of(grid.file());
  });
  const std::map<int, FileName> names = swap_names(grid);
  run_collectively(comm, [&] {
    std::map<int, std::shared_ptr<const MappedFile>> files;
    try {
      for (const auto& [peer, name] : names) {
        files[peer] = MappedFile::open(name);
        words_[peer] = words_of(*files[peer]);
      }
    } catch (const Error& error) {
      fail(error.code(), error.what(),
           "; or leave shape.mapped_ghosts 0: storage mapped then exchanges by messages");
    }
    map_ghosts(grid, storages, files);
  });  // nobody frees its file before all have mapped it
}

std::map<int, FileName> GhostMaps::swap_names(const HaloGrid& grid) const {
  const MPI_Comm comm = grid.context()->comm();
  const FileName mine = grid.file().name();
  std::map<int, FileName> names;
  for (const int peer : peers_) names[peer] = {};
  std::vector<MPI_Request> requests;
  requests.reserve(2 * peers_.size());
  stay_together(comm);
  constexpr int bytes = static_cast<int>(sizeof(FileName));
  for (auto& [peer, theirs] : names) {
    check_mpi(MPI_Irecv(&theirs, bytes, MPI_BYTE, peer, grid_files, comm, &requests.emplace_back()),
              "MPI_Irecv");
    check_mpi(MPI_Isend(&mine, bytes, MPI_BYTE, peer, grid_files, comm, &requests.emplace_back()),
              "MPI_Isend");
  }
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
  return names;
}

void GhostMaps::map_ghosts(const HaloGrid& grid, std::vector<View>& storages,
                           const std::map<int, std::shared_ptr<const MappedFile>>& files) const {
  const Decomposition& parts = grid.shape().parts;
  for (int s = 0; s < grid.subdomains(); ++s)
    for (const Region v : directions(parts.dims())) {
      const auto other = parts.neighbor(rank_, s, v);
      if (!other || !reaches(other->rank)) continue;
      const MappedFile& file = other->rank == rank_ ? grid.file() : *files.at(other->rank);
      const std::vector<BrickPiece> here = grid.bricks(s).receive(v);
      const std::vector<BrickPiece> there =
          grid.bricks_of(parts.box(other->rank, other->subdomain)).send(opposite(v, parts.dims()));
      for (int c = 0; c < grid.shape().copies; ++c)
        for (std::size_t i = 0; i < here.size(); ++i) {
          storages[grid.number(s, c)].replace(
              here[i].offset, file,
              {grid.file_offset(other->rank, other->subdomain, c) + there[i].offset, here[i].bytes},
              View::Access::read);
        }
    }
}

void GhostMaps::check_turn(int copy) const {
  if (gave_up_)
    fail(Errc::peer,
         "an exchange of this grid has failed before, and the neighbors know; free the grid");
  if (const Turn since = since_[static_cast<std::size_t>(copy)];
      since > 0 && since >= seen_.load(std::memory_order_relaxed))
    fail(Errc::active, "copy ", copy,
         " is exchanged twice, and no exchange of another copy that was started in between is "
         "complete; ghosts are the neighbors' pages, which may still be read: write and exchange "
         "the copies in turn");
}

void GhostMaps::publish(int copy) {
  since_[static_cast<std::size_t>(copy)] = ++publications_;
  order_program_stores();
  word(mine_, copy).store(++times_[static_cast<std::size_t>(copy)], std::memory_order_release);
}

bool GhostMaps::complete(int copy) const {
  for (const auto& [peer, words] : words_) {
    const Turn said = word(words, copy).load(std::memory_order_acquire);
    if (said == gave_up)
      fail(Errc::peer, "rank ", peer, " has given up an exchange of this grid; its error says why");
    if (said < times_[static_cast<std::size_t>(copy)]) return false;
  }
  return true;
}

// Neighbors published it after they had read their ghosts of all that this rank published earlier.
void GhostMaps::finish(int copy) {
  const Turn mine = since_[static_cast<std::size_t>(copy)];
  for (Turn seen = seen_.load(std::memory_order_relaxed); seen < mine;)
    if (seen_.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) return;
}

void GhostMaps::check_peers() const {
  for (const int peer : peers_)
    if (node_->ended(node_->index(peer)))
      fail(Errc::peer, "rank ", peer, " has ended, and this rank waits for its part of the grid");
}

void GhostMaps::give_up() {
  gave_up_ = true;
  for (std::size_t c = 0; c < times_.size(); ++c)
    word(mine_, static_cast<int>(c)).store(gave_up, std::memory_order_release);
}

}  // namespace tonari
