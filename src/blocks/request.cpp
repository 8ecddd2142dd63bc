// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/request.hpp"

#include "blocks/agree_on_call.hpp"
#include "blocks/make_request.hpp"
#include "request/request_record.hpp"

namespace tonari {

std::shared_ptr<Prepared> prepare_blocks(SharedBlocks& blocks, const BlocksCall& call,
                                         MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  const AgreedBlocks agreed = agree_on_blocks(blocks, call, info, output);
  return build_blocks(blocks, agreed.request, start, info, Use::persistent, agreed.settings);
}

void run_blocks(SharedBlocks& blocks, const BlocksCall& call) {
  const double start = MPI_Wtime();
  const AgreedBlocks agreed = agree_on_blocks(blocks, call, MPI_INFO_NULL, inside);
  std::shared_ptr<Prepared> prepared = agreed.kept;
  if (!prepared) {
    prepared =
        build_blocks(blocks, agreed.request, start, MPI_INFO_NULL, Use::one_shot, agreed.settings);
    blocks.kept().put(agreed.number, prepared);
  }
  run_to_end(*recorded(std::move(prepared), CalledBy::one_shot));
}

}  // namespace tonari
