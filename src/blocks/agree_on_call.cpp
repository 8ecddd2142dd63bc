// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/agree_on_call.hpp"

#include <array>

#include "base/hash.hpp"

namespace tonari {

AgreedBlocks agree_on_blocks(SharedBlocks& blocks, const BlocksCall& call, MPI_Info info,
                             Output output) {
  AgreedBlocks agreed;
  BlocksRequest& request = agreed.request;
  const std::optional<Error> wrong = wrong_argument(output, [&] {
    request.reverse = call.direction == Direction::reverse;
    request = read_request(blocks, call);
    agreed.settings = read_settings(info);
    Hash arrays;
    for (const std::byte* array : request.arrays)
      arrays.word(reinterpret_cast<std::uintptr_t>(array));
    agreed.number.buffers = arrays.value();
  });
  const auto [direction, ghosts, reduction] = alike(blocks, request);
  const std::array things{direction, ghosts, reduction,
                          Alike{fingerprint(agreed.settings), other_settings}};
  agreed.number.call = number_of(things);
  const Compared compared =
      agree_on_arguments(blocks.context().comm(), info, wrong,
                         with_votes(things, votes_for(agreed.number, &blocks.kept())));
  agreed.kept = blocks.kept().take(compared);
  return agreed;
}

}  // namespace tonari
