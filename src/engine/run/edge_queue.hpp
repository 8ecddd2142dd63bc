// SPDX-License-Identifier: BSD-3-Clause
// The messages of a plan that travel over edges: which of them are under way, and how far they are.
#pragma once

#include <memory>
#include <vector>

#include "channels/link.hpp"
#include "channels/p2p/program.hpp"
#include "engine/wait/awaited.hpp"

namespace tonari {

// The edges of a plan, by operation; null if a message goes by MPI, and empty if all do.
struct Edges {
  std::vector<OutEdge*> out;
  std::vector<InEdge*> in;
  std::vector<std::shared_ptr<Link>> links;  // they own the edges

  bool any() const { return !links.empty(); }
  bool has(OpId op) const { return any() && (out[op] || in[op]); }
  const std::vector<MessageSlot>& slots(OpId op) const {
    return out[op] ? out[op]->slots() : in[op]->slots();
  }
};

class EdgeQueue {
 public:
  // `program` was compiled with the edges' slots.
  EdgeQueue(Edges edges, const P2pProgram& program);

  bool any() const { return edges_.any(); }
  bool has(OpId op) const { return edges_.has(op); }
  int parity() const { return parity_; }
  int messages() const { return messages_; }
  std::size_t bytes() const;        // held by the links
  std::string channel_mix() const;  // "3 shared, 2 onesided"

  void bind();   // tells edges that move bytes themselves where these lie, in the program's pieces
  void begin();  // an exchange; gives back what was read in place after the one before
  void end();    // all operations are complete: gives back what was passed on
  // The operation may go on from now on; returns true if it is complete already.
  bool start(OpId op);
  // Advances all that are under way; complete ones leave and are appended to `done`, which has
  // room. Returns whether anything advanced.
  bool poll(std::vector<OpId>& done);
  void progress();
  void give_up();
  // peers: by operation. Throws Errc::peer if one that is under way can never complete.
  void check(std::span<const std::int32_t> peers, const Node* node) const;
  void awaits(Awaited& awaited, std::span<const std::int32_t> peers, const Node* node) const;

 private:
  bool advance(OpId op);
  bool advance_send(OpId op);
  bool advance_recv(OpId op);
  void run(const P2pProgram::Moves& moves) const;
  void give_back(const std::vector<OpId>& held);

  Edges edges_;
  const P2pProgram& program_;
  std::vector<std::uint32_t> part_;  // of each operation: the next one
  std::vector<OpId> under_way_;
  std::vector<OpId> passes_on_, viewed_;
  int messages_ = 0;
  int parity_ = 1;
  bool viewing_ = false;  // the last exchange's blocks are still in their slots
  bool went_on_ = false;
};

}  // namespace tonari
