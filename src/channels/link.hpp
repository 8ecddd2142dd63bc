// What a request holds of a channel that is not MPI point to point: its edges, and what they share.
#pragma once

#include <cstddef>

#include "channels/edge.hpp"

namespace tonari {

class Link {
 public:
  virtual ~Link() = default;
  // Of the messages in the order given; they live as long as this does.
  virtual OutEdge& out(std::size_t k) = 0;
  virtual InEdge& in(std::size_t k) = 0;
  virtual void progress() {}                       // lets the channel proceed while this rank waits
  virtual void give_up() {}                        // this rank will not go on: tells the other ends
  virtual std::size_t messages() const = 0;        // sent per exchange
  virtual std::size_t bytes() const { return 0; }  // of shared memory held

  const char* channel = "";  // its name
};

}  // namespace tonari
