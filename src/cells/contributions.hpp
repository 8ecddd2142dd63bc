// SPDX-License-Identifier: BSD-3-Clause
// What arrives in a reverse exchange, and is combined with the values of the program.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cells/combine.hpp"
#include "channels/arguments.hpp"
#include "engine/wait/wrapped_exchange.hpp"
#include "memory/memory.hpp"
#include "request/stepped_exchange.hpp"

namespace tonari {

// Contributions of other ranks arrive in memory of their own, or are read where a channel has them;
// those of this rank are combined from where they are. They are combined one after the other, so a
// result does not depend on what arrives first, nor on how it travels.
class Contributions {
 public:
  // To bytes at absolute addresses, which lie in this space. Returns its number, from 0 on.
  std::size_t add(Layout to, SpaceId space);
  // Of this rank, as many bytes.
  void add_local(Layout to, SpaceId space, Layout from, SpaceId from_space);
  void allocate();  // once all are there
  std::byte* arrival(std::size_t number) const { return memory_.data() + all_[number].begin; }
  std::uint64_t bytes(std::size_t number) const { return all_[number].to.bytes(); }

  // From now on: receive blocks of an exchange, by address, are the contributions.
  void read_by(std::span<const Arrival> arrivals);
  // bring: the exchange of which read_by was told; null: all are in the memory.
  void combine(const Reduction& reduction, const Exchange* bring = nullptr) const;
  void rebind(Shifts shifts);  // the program's buffers
  bool empty() const { return moves_.empty(); }
  std::size_t memory() const { return memory_.bytes(); }

 private:
  struct Contribution {
    std::size_t begin;  // in the memory
    Layout to;
    SpaceId space;
    bool local = false;
    Layout from = {};
    SpaceId from_space = fixed_space;
    std::optional<std::size_t> block = {};  // of the exchange that brings it
  };
  struct Owner {
    std::size_t contribution;
    SpaceId to, from;
  };
  // How far what it is combined from lies from the memory.
  std::ptrdiff_t view_of(const Contribution& contribution, const Exchange* bring) const;

  std::vector<Contribution> all_;
  std::vector<Move> moves_;             // as they were made
  std::vector<Owner> owners_;           // of each of them
  std::vector<std::ptrdiff_t> shifts_;  // by space
  std::size_t bytes_ = 0;
  Memory memory_;
};

// The same in a group, where other calls' blocks come with them.
class CombiningWork : public LocalWork {
 public:
  CombiningWork(Contributions contributions, const Reduction& reduction)
      : contributions_(std::move(contributions)), reduction_(reduction) {}
  void end() override { contributions_.combine(reduction_); }
  std::size_t scratch_bytes() const override { return contributions_.memory(); }
  void give_up() override;

 private:
  Contributions contributions_;
  Reduction reduction_;
};

class CombiningExchange final : public WrappedExchange {
 public:
  // `inner` brings the contributions. Others may bring the same ones, one exchange at a time.
  CombiningExchange(std::shared_ptr<Exchange> inner, std::shared_ptr<Contributions> contributions,
                    const Reduction& reduction)
      : WrappedExchange(std::move(inner)),
        contributions_(std::move(contributions)),
        reduction_(reduction) {}

  void start() override;
  bool test() override;
  void wait() override;
  bool proceeds_by_itself() const override { return false; }
  bool nothing() const override { return inner().nothing() && contributions_->empty(); }
  // All that bring the same ones hold their memory once.
  std::size_t scratch_bytes() const override {
    return inner().scratch_bytes() +
           contributions_->memory() / static_cast<std::size_t>(contributions_.use_count());
  }
  void rebind(Shifts shifts) override;
  void give_up() override;

 private:
  void combine();

  std::shared_ptr<Contributions> contributions_;
  Reduction reduction_;
  bool combined_ = true;
};

}  // namespace tonari
