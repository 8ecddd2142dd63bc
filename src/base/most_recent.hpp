// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tonari {

// Objects held by pointers, those used last first, so that a search for one of them ends soon.
// Where there are more than `most`, the one that was not used for the longest time goes.
template <class Pointer, std::size_t most>
class MostRecent {
 public:
  using Object = typename Pointer::element_type;

  MostRecent() { all_.reserve(most + 1); }  // no call needs memory

  // The first object that fits, which is the first one from then on; null if none fits.
  template <class Fits>
  Object* find(Fits fits) {
    const auto found = std::ranges::find_if(all_, [&](const Pointer& each) { return fits(*each); });
    if (found == all_.end()) return nullptr;
    if (found != all_.begin()) std::rotate(all_.begin(), found, found + 1);
    return all_.front().get();
  }
  Object& add(Pointer object) {
    all_.insert(all_.begin(), std::move(object));
    if (all_.size() > most) all_.pop_back();
    return *all_.front();
  }

 private:
  std::vector<Pointer> all_;
};

}  // namespace tonari
