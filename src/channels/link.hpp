// SPDX-License-Identifier: BSD-3-Clause
// One request's part of a channel other than MPI point to point: its edges, and what they share.
#pragma once

#include <cstddef>

#include "channels/edge.hpp"

namespace tonari {

class Link {
 public:
  virtual ~Link() = default;
  // The edges of the messages in the given order; they live as long as the link.
  virtual OutEdge& out(std::size_t k) = 0;
  virtual InEdge& in(std::size_t k) = 0;
  // Lets the channel proceed while this rank waits, from time to time; edges are asked more often.
  virtual void progress() {}
  // This rank has an error: tells the other ends. The request is not started again.
  virtual void give_up() {}
  virtual std::size_t messages() const = 0;        // sent per exchange
  virtual std::size_t bytes() const { return 0; }  // of shared memory held

  const char* channel = "";  // its name
};

}  // namespace tonari
