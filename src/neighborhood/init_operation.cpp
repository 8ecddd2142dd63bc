// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/init_operation.hpp"

#include "neighborhood/group.hpp"

namespace tonari {

int init_operation(tonari_request* request, const Call& call) {
  return init_or_collect(
      request,
      [&](Output output) {
        require(call.near, "near");
        return prepare(call, Use::persistent, output);
      },
      [&] {
        require(call.near, "near"), require_no_keys(call.info);
        return group_operation(call);
      });
}

}  // namespace tonari
