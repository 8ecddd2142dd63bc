// SPDX-License-Identifier: BSD-3-Clause
#include "grid/ghost_maps.hpp"

#include <set>

#include "channels/control_messages.hpp"
#include "engine/wait/agree.hpp"

namespace tonari {
namespace {

std::vector<int> neighbors_on_node(const GridLayout& layout, const Node& node) {
  std::set<int> found;
  const Decomposition& parts = layout.shape().parts;
  for (int s = 0; s < layout.subdomains(); ++s)
    for (const Region v : directions(parts.dims()))
      if (const auto other = parts.neighbor(layout.rank(), s, v);
          other && other->rank != layout.rank() && node.here(other->rank))
        found.insert(other->rank);
  return {found.begin(), found.end()};
}

// Behind the cells.
View words_of(const MappedFile& file) {
  return View(file, std::vector<FilePiece>{{file.bytes() - file.page(), file.page()}});
}

}  // namespace

GhostMaps::GhostMaps(const Context& context, const GridLayout& layout, const MappedFile& file,
                     std::vector<View>& storages)
    : node_(context.node()), rank_(layout.rank()) {
  const MPI_Comm comm = context.comm();
  run_collectively(comm, [&] {
    if (static_cast<std::size_t>(layout.shape().copies) > layout.shape().page / GhostTurns::apart)
      fail(Errc::argument, "a grid with mapped ghosts can have ",
           layout.shape().page / GhostTurns::apart, " copies in pages of ", layout.shape().page,
           " bytes; shape.copies is ", layout.shape().copies);
    peers_ = neighbors_on_node(layout, *node_);
    mine_ = words_of(file);
  });
  const std::map<int, FileName> names = swap_names(comm, file);
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
    map_ghosts(layout, file, storages, files);
    std::map<int, std::byte*> theirs;
    for (const auto& [peer, words] : words_) theirs[peer] = words.data();
    turns_ = std::make_unique<GhostTurns>(mine_.data(), std::move(theirs),
                                          static_cast<std::size_t>(layout.shape().copies));
  });  // nobody frees its file before all have mapped it
}

std::map<int, FileName> GhostMaps::swap_names(MPI_Comm comm, const MappedFile& file) const {
  const FileName mine = file.name();
  std::map<int, FileName> names;
  for (const int peer : peers_) names[peer] = {};
  ControlMessages messages(comm, grid_files);
  for (auto& [peer, theirs] : names) {
    messages.recv(std::span(&theirs, 1), peer);
    messages.send(std::span(&mine, 1), peer);
  }
  messages.exchange([comm] { stay_together(comm); });
  return names;
}

void GhostMaps::map_ghosts(const GridLayout& layout, const MappedFile& mine,
                           std::vector<View>& storages,
                           const std::map<int, std::shared_ptr<const MappedFile>>& files) const {
  const Decomposition& parts = layout.shape().parts;
  for (int s = 0; s < layout.subdomains(); ++s)
    for (const Region v : directions(parts.dims())) {
      const auto other = parts.neighbor(rank_, s, v);
      if (!other || !reaches(other->rank)) continue;
      const MappedFile& file = other->rank == rank_ ? mine : *files.at(other->rank);
      const std::vector<BrickPiece> here = layout.bricks(s).receive(v);
      const std::vector<BrickPiece> there =
          layout.bricks_of(parts.box(other->rank, other->subdomain))
              .send(opposite(v, parts.dims()));
      for (int c = 0; c < layout.shape().copies; ++c)
        for (std::size_t i = 0; i < here.size(); ++i) {
          storages[layout.number(s, c)].replace(
              here[i].offset, file,
              {layout.file_offset(other->rank, other->subdomain, c) + there[i].offset,
               here[i].bytes},
              View::Access::read);
        }
    }
}

void GhostMaps::check_peers() const {
  for (const int peer : peers_)
    if (node_->ended(node_->index(peer)))
      fail(Errc::peer, "rank ", peer, " has ended, and this rank waits for its part of the grid");
}

void GhostMaps::awaits(int copy, Awaited& awaited) const {
  for (const int peer : peers_)
    if (turns_->waits_for(peer, copy)) awaited.add(Awaited::What::entering, node_.get(), peer);
}

}  // namespace tonari
