// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/sparse_hops.hpp"

#include <cstring>
#include <vector>

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

}  // namespace

void forward_by_hops(RankGroup& group, int rank, int dimensions,
                     std::span<const SparseMessage> messages,
                     const std::function<void(std::int32_t, std::span<const Word>)>& arrive) {
  std::vector<Word> here = from_here(rank, messages), next;
  const VirtualTopology mesh(group.ranks(), virtual_topology(group.ranks(), dimensions));
  for (std::size_t k = 0; k < mesh.dimensions(); ++k) {
    next.clear();
    each_on_its_way(here, [&](std::span<const Word> m) {
      const std::int32_t to = mesh.next(rank, static_cast<std::int32_t>(m[0]), k);
      if (to == rank)
        extend(next, m);
      else
        group.send(0, to, m);
    });
    group.exchange();
    for (const GroupMessage& m : group.inbox(0)) extend(next, m.words);
    here.swap(next);
  }
  each_on_its_way(here, [&](std::span<const Word> m) {
    arrive(static_cast<std::int32_t>(m[1]), m.subspan(way_words - 1));
  });
}

}  // namespace tonari
