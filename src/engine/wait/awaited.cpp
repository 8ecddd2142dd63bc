// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wait/awaited.hpp"

#include "base/error.hpp"

namespace tonari {

std::int64_t process_of(const Node* node, std::int32_t rank) {
  return node && node->here(rank) ? node->process(node->index(rank)) : 0;
}

void check_alive(const Node* node, std::int32_t rank) {
  if (node && node->here(rank) && node->ended(node->index(rank)))
    fail(Errc::peer, "rank ", rank, " (process ", node->process(node->index(rank)),
         ") has ended, and this rank waits for it");
}

void Awaited::add(What what, const Node* node, std::int32_t rank, Bytes done, Bytes bytes) {
  if (count_ == most)
    ++more_;
  else
    some_[count_++] = {what, rank, process_of(node, rank), done, bytes};
}

}  // namespace tonari
