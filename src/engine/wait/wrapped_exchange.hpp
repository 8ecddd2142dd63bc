// SPDX-License-Identifier: BSD-3-Clause
// An exchange that holds another one, and something besides. It forwards every call, except those
// that the derived class overrides.
#pragma once

#include <memory>
#include <utility>

#include "engine/wait/exchange.hpp"

namespace tonari {

class WrappedExchange : public Exchange {
 public:
  explicit WrappedExchange(std::shared_ptr<Exchange> inner) : inner_(std::move(inner)) {}

  void check_start() const override { inner_->check_start(); }
  void start() override { inner_->start(); }
  bool test() override { return inner_->test(); }
  void wait() override { inner_->wait(); }
  Pause pause() const override { return inner_->pause(); }
  void rebind(std::span<const std::ptrdiff_t> shifts) override { inner_->rebind(shifts); }
  bool proceeds_by_itself() const override { return inner_->proceeds_by_itself(); }
  bool nothing() const override { return inner_->nothing(); }
  int messages() const override { return inner_->messages(); }
  std::string channel_mix() const override { return inner_->channel_mix(); }
  Bytes bytes() const override { return inner_->bytes(); }
  std::size_t scratch_bytes() const override { return inner_->scratch_bytes(); }
  std::size_t book_bytes() const override { return inner_->book_bytes(); }
  void give_up() override { inner_->give_up(); }
  const std::byte* view(std::size_t block) const override { return inner_->view(block); }
  void awaits(Awaited& awaited) const override { inner_->awaits(awaited); }
  void belongs_to(const std::string& call) override {
    Exchange::belongs_to(call);
    inner_->belongs_to(call);
  }

 protected:
  Exchange& inner() const { return *inner_; }
  // For one that was made without.
  void hold(std::shared_ptr<Exchange> inner) { inner_ = std::move(inner); }

 private:
  std::shared_ptr<Exchange> inner_;
};

}  // namespace tonari
