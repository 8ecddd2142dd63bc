// SPDX-License-Identifier: BSD-3-Clause
// The tables of one side of a packed exchange, a pair for each place where the program's memory has
// been. The last few pairs are kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"

namespace tonari {

class PlacedTables {
 public:
  using Pair = std::array<DeviceTable, 2>;  // by parity

  explicit PlacedTables(Device& device) : device_(device) { places_.reserve(most + 1); }
  ~PlacedTables() { clear(); }
  PlacedTables(const PlacedTables&) = delete;
  PlacedTables& operator=(const PlacedTables&) = delete;

  using Shifts = std::vector<std::ptrdiff_t>;  // a place

  DeviceTable table(std::size_t parity) const { return places_.front().tables[parity]; }
  // Uses the tables of this place, if they are there.
  bool use(const Shifts& shifts) {
    const auto known = std::ranges::find(places_, shifts, &Place::shifts);
    if (known == places_.end()) return false;
    std::rotate(places_.begin(), known, known + 1);
    return true;
  }
  // Whether the next one takes the place of the oldest, which no work may use then.
  bool full() const { return places_.size() == most; }
  // moves(parity, shifts): the copies. Where the device refuses them, everything stays as it was.
  template <class Moves>
  void add(Shifts shifts, int number, Moves moves) {
    Place place{std::move(shifts), {}};
    place.tables[0] = device_.make_table(number, moves(0, place.shifts));
    try {
      place.tables[1] = device_.make_table(number, moves(1, place.shifts));
    } catch (...) {
      free(place.tables[0]);
      throw;
    }
    places_.insert(places_.begin(), std::move(place));  // there is room
    if (places_.size() > most) drop(places_.back()), places_.pop_back();
  }
  void clear() {
    for (const Place& place : places_) drop(place);
    places_.clear();
  }

 private:
  struct Place {
    Shifts shifts;
    Pair tables;
  };
  static constexpr std::size_t most = 8;
  void free(DeviceTable table) {
    (void)error_of([&] { device_.free_table(table); });
  }
  void drop(const Place& place) { free(place.tables[0]), free(place.tables[1]); }

  Device& device_;
  std::vector<Place> places_;  // the one that is used comes first
};

}  // namespace tonari
