// SPDX-License-Identifier: BSD-3-Clause
// What a family of calls keeps on a communicator for its next call, whatever that is.
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
