// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other of packed exchanges, between processes of a test.
#pragma once

#include <vector>

#include "memory/child.hpp"
#include "packing/packed_inbox.hpp"

namespace tonari::test {

template <class T>
void tell_list(Line& line, const std::vector<T>& list) {
  line.tell(list.size());
  for (const T& one : list) line.tell(one);
}
template <class T>
std::vector<T> hear_list(Line& line) {
  std::vector<T> list(line.hear<std::size_t>());
  for (T& one : list) one = line.hear<T>();
  return list;
}

inline void tell_offer(Line& line, const PackedOffer& offer) {
  line.tell(offer.memory);
  tell_list(line, offer.inbox.arrived);
  tell_list(line, offer.inbox.taken);
  tell_list(line, offer.inbox.slots);
  line.tell(offer.inbox.bytes);
}
inline PackedOffer hear_offer(Line& line) {
  PackedOffer offer;
  offer.memory = line.hear<MemoryHandle>();
  offer.inbox.arrived = hear_list<PackedFlags>(line);
  offer.inbox.taken = hear_list<PackedFlags>(line);
  offer.inbox.slots = hear_list<PackedSlots>(line);
  offer.inbox.bytes = line.hear<Bytes>();
  return offer;
}

}  // namespace tonari::test
