// SPDX-License-Identifier: BSD-3-Clause
#include "vector/neighbor_lists.hpp"

#include <limits>
#include <map>

#include "base/checked.hpp"

namespace tonari {
namespace {

struct Names {
  const char *lists, *ranks, *counts;
};

std::int64_t count(const ListsByRank& by_rank, int list) {
  return by_rank.counts[static_cast<std::size_t>(list)];
}

std::int64_t total(const ListsByRank& by_rank) {
  std::int64_t all = 0;
  for (int i = 0; i < by_rank.lists; ++i)
    all = checked_add(all, count(by_rank, i), "values of all lists");
  return all;
}

void check_lists(const ListsByRank& given, int ranks, const Names& names) {
  check_list(given.lists, names.lists, given.ranks, names.ranks);
  check_list(given.lists, names.lists, given.counts.address(), names.counts);
  for (int i = 0; i < given.lists; ++i) {
    if (given.ranks[i] < 0 || given.ranks[i] >= ranks)
      fail(Errc::argument, "`", names.ranks, "`[", i, "] is ", given.ranks[i],
           "; ranks go from 0 to ", ranks - 1);
    if (count(given, i) < 0)
      fail(Errc::argument, "`", names.counts, "`[", i, "] is ", count(given, i),
           "; it must not be negative");
  }
}

// Values that one rank sends, in its order.
struct Stream {
  std::vector<Word> values;
  std::int64_t expected = 0;
  std::size_t taken = 0;
};

}  // namespace

void NeighborLists::check(int ranks) const {
  if (owned_ < 0) fail(Errc::argument, "`owned` is ", owned_, "; it must not be negative");
  check_lists(sends_, ranks, {"sends", "destinations", "sendcounts"});
  check_lists(receives_, ranks, {"receives", "sources", "recvcounts"});
  const std::int64_t sent = total(sends_);
  if (sent > 0 && !sends_.places)
    fail(Errc::argument, "`send_indices` is NULL, but `sendcounts` add up to ", sent);
  check_places(sends_.places, sent, owned_, "send_indices",
               text("it must be from 0 to `owned` - 1, which is ", owned_ - 1));
  if (receives_.places)
    check_places(receives_.places, total(receives_), std::numeric_limits<std::int64_t>::max(),
                 "recv_places", "it must not be negative");
}

void NeighborLists::send(BspComm& bsp, std::int64_t first) const {
  std::vector<Word> message;
  std::size_t begin = 0;
  for (int i = 0; i < sends_.lists; ++i) {
    const auto values = static_cast<std::size_t>(count(sends_, i));
    if (values == 0) continue;
    message = sends_.places.from(begin).copy(values);
    for (Word& index : message) index += first;
    begin += values;
    bsp.send(0, sends_.ranks[i], message);
  }
}

// Who sends tells which values they are, so that the owner of each is known wherever it goes.
ListedNeeds NeighborLists::needs(BspComm& bsp, const OwnedRanges& /*ranges*/,
                                 OwnedRange own) const {
  send(bsp, own.first);
  bsp.exchange();
  std::map<std::int32_t, Stream> streams;
  for (const BspMessage& m : bsp.inbox(0)) {
    std::vector<Word>& values = streams[m.from].values;
    values.insert(values.end(), m.words.begin(), m.words.end());
  }
  for (int i = 0; i < receives_.lists; ++i)
    streams[receives_.ranks[i]].expected += count(receives_, i);
  for (const auto& [source, stream] : streams)
    if (static_cast<std::int64_t>(stream.values.size()) != stream.expected)
      fail(Errc::mismatch, "rank ", source, " sends ", stream.values.size(), " values to rank ",
           bsp.here()[0], ", but rank ", bsp.here()[0], " expects ", stream.expected, " from it");
  ListedNeeds needs;
  needs.indices.reserve(static_cast<std::size_t>(total(receives_)));
  for (int i = 0; i < receives_.lists; ++i) {
    Stream& from = streams[receives_.ranks[i]];
    for (std::int64_t k = 0; k < count(receives_, i); ++k)
      needs.indices.push_back(from.values[from.taken++]);
  }
  if (receives_.places)
    needs.places = receives_.places.copy(static_cast<std::size_t>(total(receives_)));
  return needs;
}

}  // namespace tonari
