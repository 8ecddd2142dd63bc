// SPDX-License-Identifier: BSD-3-Clause
// The links by which the ghosts of a copy are filled: which rank sends what to which. There is one
// per subdomain and direction, in steps.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "layout/decomposition.hpp"

namespace tonari {

// The ghosts that an exchange is about: those along at most so many dimensions, no wider than this.
// What a side has is the lesser of its width and the one here.
struct Reach {
  int along = most_surface_dims;
  Cells lower = widest(), upper = widest();

  static const Reach all, faces;
  static constexpr Cells widest() {
    Cells cells{};
    cells.fill(std::numeric_limits<std::int64_t>::max());
    return cells;
  }
  GridBox narrowed(GridBox box) const;
  // Whether it has ghosts in this direction, of a subdomain with these widths.
  bool has(const GridBox& box, Region direction) const;
  friend bool operator==(const Reach&, const Reach&) = default;
};
inline constexpr Reach Reach::all{}, Reach::faces{1};

struct HaloLink {
  int subdomain = 0;     // of this rank
  Region direction = 0;  // from this subdomain to the other one, for sending and receiving alike
  int peer = 0;          // rank of the other one
  // names the message at both ends: sending subdomain's number and direction. Links are in the
  // order of their keys
  std::int64_t key = 0;
  friend bool operator==(const HaloLink&, const HaloLink&) = default;
};

struct HaloLinks {
  std::vector<HaloLink> send, receive;
};

// The links of `rank`, all at once, along as many dimensions as `reach` says.
HaloLinks halo_links(const Decomposition& parts, int rank, Reach reach);
// The links of `rank` in the step of dimension k: the two faces along it.
HaloLinks shift_links(const Decomposition& parts, int rank, int k);

}  // namespace tonari
