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
  virtual void progress() {}                       // lets the channel proceed while this rank waits
  virtual void give_up() {}                        // this rank stops: tells the other ends
  virtual std::size_t messages() const = 0;        // sent per exchange
  virtual std::size_t bytes() const { return 0; }  // of shared memory held

  const char* channel = "";  // its name
};

}  // namespace tonari
