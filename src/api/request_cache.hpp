// What one-shot calls on a neighborhood prepared lately, for calls that come again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "channels/arguments.hpp"

namespace tonari {

struct Prepared;

// Equal bytes at equal addresses in equal order. Datatypes are told apart by their layouts, not by
// their handles: those may have been freed and given to other types since.
bool same_blocks(const Binding& a, const Binding& b);

// Changes only where all ranks change it alike, so the same entries lie in the same places
// everywhere.
class RequestCache {
 public:
  static constexpr std::size_t places = 8;

  struct Key {
    Collective collective = Collective::alltoall;
    std::uint64_t settings = 0;  // fingerprint
    Binding binding;
  };

  // Of each place, whether what lies there was prepared for this and is not in use on this rank.
  std::array<bool, places> idle_matches(Collective collective, std::uint64_t settings,
                                        const Binding& binding) const;
  // All ranks take from the same place.
  std::shared_ptr<Prepared> take(std::size_t place);
  // In the place of what was not taken for longest. A request that still uses that keeps it.
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
