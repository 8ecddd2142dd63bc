// SPDX-License-Identifier: BSD-3-Clause
#include "channels/shared/swap.hpp"

#include <algorithm>

namespace tonari {
namespace {

class SharedSwap final : public Swap {
 public:
  SharedSwap(const SwapBlock& block, std::shared_ptr<SharedLink> link, OutEdge& out, InEdge& in)
      : block_(block),
        bytes_(block.bytes),
        link_(std::move(link)),
        out_edge_(out),
        in_edge_(in),
        out_(block_.walk()),
        in_(block_.walk()) {}

  void start() override {
    out_.restart(), in_.restart();
    sent_ = received_ = {};
  }

  std::size_t book_bytes() const override { return sizeof *this; }
  void move(std::ptrdiff_t by) override {
    block_.move(by);
    out_ = block_.walk(), in_ = block_.walk();
  }

  // Output and input alternate, so that a copied chunk is still in the cache when another replaces
  // it. One call goes once round the ring, because other swaps wait, too.
  State advance() override {
    bool went_on = false, goes_on = true;
    for (std::size_t k = 0; goes_on && k < out_edge_.slots().size(); ++k) {
      goes_on = false;
      if (sent_.at < bytes_ && out_edge_.may_write(sent_.part, 0)) send(), goes_on = true;
      if (received_.at < bytes_ && may_overwrite() && in_edge_.arrived(received_.part, 0))
        receive(), goes_on = true;
      went_on |= goes_on;
    }
    if (received_.at == bytes_) return State::complete;
    return went_on ? State::went_on : State::idle;
  }

  void leave() override { out_edge_.leave(), in_edge_.leave(); }
  void check() const override {
    if (sent_.at < bytes_) out_edge_.check();
    in_edge_.check();
  }

 private:
  struct Progress {
    Bytes at = 0;
    std::size_t part = 0;
  };

  // The cells are used in turn: the slots are those of the first round.
  std::size_t size(const std::vector<MessageSlot>& ring, const Progress& here) const {
    return std::min<Bytes>(bytes_ - here.at, ring[0].end);
  }
  static std::byte* cell(const std::vector<MessageSlot>& ring, const Progress& here) {
    return ring[here.part % ring.size()].at[0];
  }

  // The chunk has been copied out.
  bool may_overwrite() const {
    return received_.at + size(in_edge_.slots(), received_) <= sent_.at;
  }

  void send() {
    const std::size_t n = size(out_edge_.slots(), sent_);
    out_.gather(cell(out_edge_.slots(), sent_), n);
    out_edge_.written(sent_.part++, 0);
    sent_.at += n;
  }

  void receive() {
    const std::size_t n = size(in_edge_.slots(), received_);
    in_.scatter(cell(in_edge_.slots(), received_), n);
    in_edge_.taken(received_.part++, 0);
    received_.at += n;
  }

  SwapBlock block_;
  Bytes bytes_;
  std::shared_ptr<SharedLink> link_;
  OutEdge& out_edge_;
  InEdge& in_edge_;
  Walk out_, in_;
  Progress sent_, received_;
};

}  // namespace

std::unique_ptr<Swap> make_shared_swap(const SwapBlock& block, std::shared_ptr<SharedLink> link,
                                       OutEdge& out, InEdge& in) {
  return std::make_unique<SharedSwap>(block, std::move(link), out, in);
}

}  // namespace tonari
