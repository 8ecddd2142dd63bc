// SPDX-License-Identifier: BSD-3-Clause
// The one-sided channel writes messages straight into windows of their receivers. Its protocols
// rely on a pattern that never changes (Hoefler and Schneider 2012, II-C and III-B). Ranks agree
// once, when the request is made, where messages go; an exchange matches nothing.
//
// Ready to receive (RTR, II-C1 and II-C2). Every message has two places in its receiver's window,
// for odd and even exchanges. A sender may write when the receiver has taken what was there. A word
// in the sender's own window says so: the receiver writes it (per_edge), or the receivers' tree
// does (rtr_tree.hpp).
//
// Ready to exit (RTE, II-C3). The canary of the paper, a last word that changes when the message
// has come, needs memory that is written in order, or at least word by word. MPI promises neither:
// of what a process reads while it is being written, any byte may be new and any other old. So
//   * A short message travels twice, plain and as its complement under a key:
//                              [ x ... | x ^ key ... ]
//     The key is all ones and all zeros in turn, so the two halves that lie there do not match
//     under the new key, in any byte. If some byte is new, its partner still old, and they match,
//     then the partner's new value is the old one: it does not matter which we saw. So as soon as
//     all bytes match, all are new. One operation carries data and completion, nothing needs to be
//     put back, and no message collides with a canary.
//   * A longer one is written, flushed, and announced by a flag, the number of the message, for
//     which the receiver waits. That number is seen only when all its bytes are there, too.
// Under MPI_WIN_UNIFIED the receiver looks by loads; elsewhere words are replaced and fetched by
// MPI's atomic operations, and nothing is stored in windows.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "channels/link.hpp"
#include "channels/onesided/window.hpp"

namespace tonari {

class OneSided : public Link {
 public:
  using Message = EdgeMessage;
  enum class Ready : std::uint8_t { per_edge, tree };
  struct Options {  // the same on all ranks
    Ready ready = Ready::per_edge;
    int degree = 2;           // of the trees: about L/o
    bool separate = false;    // as on a window of the separate memory model, whatever MPI says
    Bytes short_bytes = 256;  // up to here a message travels twice: cheaper than a flush
    // up to here it is packed into memory of the channel's own; longer ones are put from where they
    // lie (OutEdge::bound)
    Bytes staged_bytes = 16 * 1024;
    // The bytes that the ranks of this node, which share its memory, may take together. `node` has
    // these ranks, numbered as in the windows' communicator.
    std::uint64_t free = std::numeric_limits<std::uint64_t>::max();
    std::span<const std::int32_t> node = {};
  };

  // Collective over the windows' communicator. `out` and `in` are this rank's messages. Throws the
  // same error on all ranks, such as Errc::mpi if MPI cannot make a window, or some node lacks
  // memory for its ranks.
  static std::unique_ptr<OneSided> make(Windows& windows, std::span<const Message> out,
                                        std::span<const Message> in, const Options& options);
  // Its destructor is local; an exchange must not be running here.

  // The bytes that a rank with these messages takes, without the words that say who is ready: two
  // places for each incoming message. Throws Errc::overflow.
  static Bytes needed(std::span<const Message> out, std::span<const Message> in,
                      const Options& options);

  // Edges have one part each, or none if the message is empty. OutEdge::sent completes what was
  // written on all edges by one flush, so ask it after all writing.

  virtual bool unified() const = 0;  // looks by loads
};

}  // namespace tonari
