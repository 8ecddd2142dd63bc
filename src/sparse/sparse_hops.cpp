// SPDX-License-Identifier: BSD-3-Clause
// store-and-forward/N: messages hop by hop on a virtual mesh of all ranks with N dimensions, each
// hop an exchange of BspComm. Few messages per rank, many bytes.
#include <cstring>
#include <functional>
#include <vector>

#include "sparse/superstep.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {
namespace {

// Messages on their way, one after the other: target, source, bytes, and the bytes in words.
constexpr std::size_t way_words = 3;

template <class Visit>
void each_on_its_way(std::span<const Word> stream, Visit visit) {
  while (!stream.empty()) {
    const std::size_t words = way_words + words_of(static_cast<Bytes>(stream[2]));
    visit(stream.first(words));
    stream = stream.subspan(words);
  }
}

void extend(std::vector<Word>& stream, std::span<const Word> words) {
  stream.insert(stream.end(), words.begin(), words.end());
}

std::vector<Word> from_here(std::int32_t rank, std::span<const SparseMessage> messages) {
  std::vector<Word> here;
  for (const SparseMessage& m : messages) {
    const std::size_t at = here.size();
    here.resize(at + way_words + words_of(m.bytes));
    here[at] = m.to, here[at + 1] = rank, here[at + 2] = static_cast<Word>(m.bytes);
    if (m.bytes > 0) std::memcpy(&here[at + way_words], m.address, m.bytes);
  }
  return here;
}

void forward(BspComm& bsp, SparseState& state) {
  std::vector<Word> here = from_here(state.rank, state.task->messages), next;
  const VirtualTopology mesh(bsp.ranks(),
                             virtual_topology(bsp.ranks(), state.task->method.dimensions));
  for (std::size_t k = 0; k < mesh.dimensions(); ++k) {
    next.clear();
    each_on_its_way(here, [&](std::span<const Word> m) {
      const std::int32_t to = mesh.next(state.rank, static_cast<std::int32_t>(m[0]), k);
      if (to == state.rank)
        extend(next, m);
      else
        bsp.send(0, to, m);
    });
    bsp.exchange();
    for (const BspMessage& m : bsp.inbox(0)) extend(next, m.words);
    here.swap(next);
  }
  each_on_its_way(here, [&](std::span<const Word> m) {
    const std::span<const Word> packed = m.subspan(way_words - 1);
    std::ranges::copy(packed, state.inbox.add(static_cast<std::int32_t>(m[1]), packed.size()));
  });
}

}  // namespace

void forward_by_hops(BspComm& bsp, SparseState& state) {
  const auto work = [&] { forward(bsp, state); };
  // by reference: the function that is passed must not need memory, as no scope is open yet
  bsp.run_collectively(std::cref(work));
}

}  // namespace tonari
