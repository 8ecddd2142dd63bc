// SPDX-License-Identifier: BSD-3-Clause
#include "channels/table.hpp"

namespace tonari {

Channels all_channels() {
  static constexpr const Channel* table[] = {&p2p_packed, &p2p_typed, &shared_memory, &one_sided,
                                             &native_collective};
  return table;
}

}  // namespace tonari
