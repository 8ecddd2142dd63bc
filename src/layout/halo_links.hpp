// The links by which the ghosts of a copy are filled: which rank sends what to which. There is one
// per subdomain and direction, in steps.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/decomposition.hpp"

namespace tonari {

enum class Reach : std::uint8_t { all, faces };

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

// The links of `rank`, all at once.
HaloLinks halo_links(const Decomposition& parts, int rank, Reach reach);
// The links of `rank` in the step of dimension k: the two faces along it.
HaloLinks shift_links(const Decomposition& parts, int rank, int k);

}  // namespace tonari
