// SPDX-License-Identifier: BSD-3-Clause
// The shared channel moves messages between ranks of one node: the sender writes straight into the
// receiver's memory (memory/inbox.hpp). There are no locks and no matching. Between start and
// completion there is no system call and no MPI call, except for single copies.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "channels/link.hpp"
#include "channels/node.hpp"
#include "memory/inbox.hpp"

namespace tonari {

struct SharedLimits {
  Bytes canary = 512;  // up to here, data and completion are one write
  // up to here, messages have two places of their own; longer ones travel in parts, which takes
  // longer but less memory
  Bytes whole = 1024 * 1024;
  Bytes chunk = 128 * 1024;                    // bytes of a part
  std::uint32_t cells = Lane::pipeline_cells;  // for parts, of each message
  // from here on, messages are read where they lie instead (Node::reads_memory); 0: never
  Bytes single_copy = 0;
  // slots of parts name the cells of the first round only, which later parts use in turn; cells of
  // other ranks are not touched early
  bool ring = false;
  // receive blocks are read where they arrive, so there are neither parts nor single copies
  bool views = false;
};

// It is made in three steps, so that ranks can agree in between: the constructor, attach,
// finish_attach. None of them is collective.
class SharedLink final : public Link {
 public:
  // Makes the inbox of rank number `rank`. `in` and `out` are messages from and to ranks of the
  // node. Throws Errc::memory.
  SharedLink(std::shared_ptr<const Node> node, std::int32_t rank, std::vector<EdgeMessage> in,
             std::vector<EdgeMessage> out, const SharedLimits& limits);

  SegmentName segment() const { return inbox_ ? inbox_.name() : SegmentName{}; }
  // `names` belong to all receivers; if one made no inbox, its name is empty and the result false.
  // Throws Errc::memory or Errc::mismatch.
  bool attach(const std::map<std::int32_t, SegmentName>& names);
  void finish_attach() { inbox_.finish_attach(); }  // call it when all have attached

  InEdge& in(std::size_t k) override { return *in_[k]; }
  OutEdge& out(std::size_t k) override { return *out_[k]; }
  void give_up() override;
  std::size_t messages() const override { return out_.size(); }
  std::size_t bytes() const override { return inbox_.bytes(); }

 private:
  std::shared_ptr<const Node> node_;
  std::int32_t rank_;
  bool ring_;
  std::vector<EdgeMessage> incoming_, outgoing_;
  Inbox inbox_;
  std::vector<Inbox> theirs_;  // by index on the node; empty where nothing is sent to
  std::vector<std::unique_ptr<InEdge>> in_;
  std::vector<std::unique_ptr<OutEdge>> out_;
};

}  // namespace tonari
