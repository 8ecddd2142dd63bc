// SPDX-License-Identifier: BSD-3-Clause
#include "grid/shown_surface.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tonari {
namespace {

// Ghosts that this rank owns, in whichever of its subdomains; count: of a copy, by direction.
std::vector<Alias> own_ghosts(const GridLayout& layout, std::size_t& count) {
  std::vector<Alias> all;
  const Decomposition& parts = layout.shape().parts;
  const int rank = layout.rank();
  for (int s = 0; s < layout.subdomains(); ++s)
    for (const Region v : directions(parts.dims())) {
      const auto owner = parts.neighbor(rank, s, v);
      if (!owner || owner->rank != rank) continue;
      const std::vector<BrickPiece> here = layout.bricks(s).receive(v);
      const std::vector<BrickPiece> there =
          layout.bricks(owner->subdomain).send(opposite(v, parts.dims()));
      count += std::ranges::any_of(here, [](const BrickPiece& piece) { return piece.bytes > 0; });
      for (int c = 0; c < layout.shape().copies; ++c)
        for (std::size_t i = 0; i < here.size(); ++i)
          if (here[i].bytes > 0)
            all.push_back({layout.file_offset(rank, s, c) + here[i].offset,
                           layout.file_offset(rank, owner->subdomain, c) + there[i].offset,
                           here[i].bytes});
    }
  std::ranges::sort(all, {}, &Alias::at);
  return all;
}

}  // namespace

ShownSurface::ShownSurface(GridDevice device, const GridLayout& layout, Bytes bytes)
    : device_(std::move(device)) {
  const std::vector<Alias> ghosts = own_ghosts(layout, ghosts_);
  memory_ = std::make_unique<AliasedMemory>(**device_.devices, device_.number, bytes, ghosts);
  Bytes done = 0;
  const auto fill_to = [&](Bytes end) {
    if (end > done) fill_with_zeros(device_, memory_->base() + done, end - done);
  };
  for (const Alias& alias : ghosts) {
    fill_to(alias.at);
    done = alias.at + alias.bytes;
  }
  fill_to(bytes);
}

}  // namespace tonari
