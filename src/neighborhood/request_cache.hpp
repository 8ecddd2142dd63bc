// SPDX-License-Identifier: BSD-3-Clause
// The last exchanges that one-shot calls on a neighborhood prepared, for calls that come again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "channels/arguments.hpp"

namespace tonari {

struct Prepared;

// Calls are the same if equal bytes lie at equal addresses in equal order. Datatypes are compared
// by layout, not by handle: a handle may have been freed and given to another type.
bool same_blocks(const Binding& a, const Binding& b);

// It changes only where all ranks change it alike, so the same entries lie in the same places
// everywhere.
class RequestCache {
 public:
  static constexpr std::size_t places = 8;

  struct Key {
    Collective collective = Collective::alltoall;
    std::uint64_t settings = 0;  // fingerprint
    Binding binding;
  };

  // Tells for each place whether its entry was prepared for this and is not in use on this rank.
  std::array<bool, places> idle_matches(Collective collective, std::uint64_t settings,
                                        const Binding& binding) const;
  // All ranks take from the same place.
  std::shared_ptr<Prepared> take(std::size_t place);
  // Replaces the least recently used entry. A request that still uses that entry keeps it.
  void put(Key key, std::shared_ptr<Prepared> prepared);

 private:
  struct Entry {
    Key key;
    std::shared_ptr<Prepared> prepared;
    std::uint64_t taken = 0;
  };
  std::array<Entry, places> entries_;
  std::uint64_t now_ = 0;
};

}  // namespace tonari
