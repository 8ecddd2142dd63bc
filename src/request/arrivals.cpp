// SPDX-License-Identifier: BSD-3-Clause
#include "request/arrivals.hpp"

namespace tonari {

std::vector<Arrival> arrivals(const LocalTopology& topology, const Binding& binding) {
  std::vector<Arrival> all(as_given(topology).sources.size());
  for (std::size_t i = 0; i < binding.recv.size(); ++i)
    if (const std::size_t number = given_number(topology, Buffer::recv, i); number < all.size())
      all[number] = {binding.recv[i].address, binding.recv[i].bytes, i};
  return all;
}

}  // namespace tonari
