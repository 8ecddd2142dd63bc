// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/comm_context.hpp"

namespace tonari {

std::shared_ptr<Context> context_on(const std::shared_ptr<SharedComm>& shared) {
  std::shared_ptr<Context> context = shared->context.lock();
  if (!context) shared->context = context = std::make_shared<Context>(shared);
  return context;
}

}  // namespace tonari
