// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/request.hpp"

#include "in_place/agree_on_call.hpp"
#include "in_place/make_request.hpp"

namespace tonari {

std::shared_ptr<Prepared> prepare_in_place(const InPlaceCall& call, Use use, Output output) {
  const double start = MPI_Wtime();
  require_comm(call.comm, "comm");
  AgreedInPlace agreed = agree_on_in_place(call, use, output);
  if (agreed.kept) return std::move(agreed.kept);
  return call.general ? build_general(start, agreed) : build_symmetric(call, use, start, agreed);
}

}  // namespace tonari
