// SPDX-License-Identifier: BSD-3-Clause
#include "vector/request.hpp"

#include "vector/agree_on_call.hpp"
#include "vector/make_request.hpp"

namespace tonari {

std::shared_ptr<Prepared> prepare_vector(SharedVector& vector, const VectorCall& call,
                                         MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  const AgreedValues agreed = agree_on_values(vector, call, info, output, nullptr);
  // what is only timed shall not choose meanwhile
  const Use use = output.name && !agreed.by_thread ? Use::part : Use::persistent;
  return build_exchange(vector, call.direction, start, agreed.values, info, use, agreed.by_thread);
}

}  // namespace tonari
