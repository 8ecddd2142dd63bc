// What a request holds of a channel that is not MPI point to point: its edges, and what they share.
#pragma once

#include <cstddef>
#include <string>

#include "channels/edge.hpp"

namespace tonari {

class Link {
 public:
  virtual ~Link() = default;
  virtual void progress() {}                       // lets the channel proceed while this rank waits
  virtual void give_up() {}                        // this rank will not go on: tells the other ends
  virtual std::string name() const = 0;            // of the channel
  virtual std::size_t messages() const = 0;        // sent per exchange
  virtual std::size_t bytes() const { return 0; }  // of shared memory held
};

}  // namespace tonari
