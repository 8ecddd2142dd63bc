// SPDX-License-Identifier: BSD-3-Clause
// What a one-shot call leaves on its communicator for the next one, whatever makes it.
#pragma once

namespace tonari {

class KeptExchange {
 public:
  KeptExchange() = default;
  virtual ~KeptExchange() = default;
  KeptExchange(const KeptExchange&) = delete;
  KeptExchange& operator=(const KeptExchange&) = delete;
};

}  // namespace tonari
