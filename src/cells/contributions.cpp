// SPDX-License-Identifier: BSD-3-Clause
#include "cells/contributions.hpp"

#include <algorithm>
#include <map>

#include "base/checked.hpp"
#include "channels/abandon.hpp"

namespace tonari {

std::size_t Contributions::add(Layout to, SpaceId space) {
  const std::size_t begin = bytes_;
  bytes_ =
      checked_add(begin, round_up(static_cast<std::size_t>(to.bytes())), "bytes that are combined");
  all_.push_back({begin, std::move(to), space});
  return all_.size() - 1;
}

void Contributions::add_local(Layout to, SpaceId space, Layout from, SpaceId from_space) {
  all_.push_back({0, std::move(to), space, true, std::move(from), from_space});
}

void Contributions::allocate() {
  memory_ = Memory(bytes_);
  for (const Contribution& c : all_) {
    Layout arrived;
    arrived.add(0, static_cast<std::size_t>(c.to.bytes()));
    make_moves(moves_, nullptr, c.to, c.local ? nullptr : memory_.data() + c.begin,
               c.local ? c.from : arrived);
    const auto number = static_cast<std::size_t>(&c - all_.data());
    owners_.resize(moves_.size(), {number, c.space, c.from_space});
    shifts_.resize(std::max<std::size_t>({shifts_.size(), c.space + 1U, c.from_space + 1U}));
  }
}

void Contributions::read_by(std::span<const Arrival> arrivals) {
  std::map<const std::byte*, std::size_t> numbers;
  for (const Arrival& arrival : arrivals)
    if (arrival.bytes > 0) numbers[arrival.address] = arrival.number;
  for (Contribution& c : all_)
    if (const auto found = numbers.find(memory_.data() + c.begin);
        !c.local && found != numbers.end())
      c.block = found->second;
}

std::ptrdiff_t Contributions::view_of(const Contribution& contribution,
                                      const Exchange* bring) const {
  if (!bring || !contribution.block) return 0;
  const std::byte* const view = bring->view(*contribution.block);
  return view ? distance(memory_.data() + contribution.begin, view) : 0;
}

void Contributions::combine(const Reduction& reduction, const Exchange* bring) const {
  std::size_t current = all_.size();
  std::ptrdiff_t further = 0;
  for (std::size_t k = 0; k < moves_.size(); ++k) {
    const Owner& owner = owners_[k];
    if (owner.contribution != current) further = view_of(all_[current = owner.contribution], bring);
    Move move = moves_[k];
    move.to = moved(move.to, shifts_[owner.to]);
    move.from = moved(move.from, shifts_[owner.from] + further);
    reduction.combine_move(move);
  }
}

void Contributions::rebind(Shifts shifts) {
  std::copy_n(shifts.begin(), shifts_.size(), shifts_.begin());
}

void CombiningWork::give_up() {
  leak(std::move(contributions_));
}  // receives may still write to it

void CombiningExchange::start() {
  inner().start();
  combined_ = false;
}

bool CombiningExchange::test() {
  if (!combined_ && inner().test()) combine();
  return combined_;
}

void CombiningExchange::wait() {
  if (combined_) return;
  inner().wait();
  combine();
}

void CombiningExchange::combine() {
  contributions_->combine(reduction_, &inner());
  combined_ = true;
}

void CombiningExchange::rebind(Shifts shifts) {
  inner().rebind(shifts);
  contributions_->rebind(shifts);
}

void CombiningExchange::give_up() {
  inner().give_up();
  leak(contributions_);  // receives may still write to it; it is described all the same
}

}  // namespace tonari
