// SPDX-License-Identifier: BSD-3-Clause
// Who sends what to whom: both ends of every link list it at the same place, and all ghosts that
// have an owner are filled once.
#include "layout/halo_links.hpp"

#include <gtest/gtest.h>

#include <set>

#include "layout/random_parts.hpp"

namespace tonari {
namespace {

using test::for_random_parts;

std::vector<HaloLinks> of_all_ranks(const Decomposition& parts, auto links) {
  std::vector<HaloLinks> all;
  for (int rank = 0; rank < parts.ranks.ranks(); ++rank) all.push_back(links(rank));
  return all;
}

std::vector<HaloLink> with(const std::vector<HaloLink>& links, int peer) {
  std::vector<HaloLink> some;
  for (const HaloLink& link : links)
    if (link.peer == peer) some.push_back(link);
  return some;
}

// The k-th of rank a to rank b is the k-th that b expects from a: from the subdomain, in the
// direction that a means.
void expect_mirrored(const Decomposition& parts, const std::vector<HaloLinks>& all) {
  for (int a = 0; a < parts.ranks.ranks(); ++a)
    for (int b = 0; b < parts.ranks.ranks(); ++b) {
      const std::vector<HaloLink> sent = with(all[static_cast<std::size_t>(a)].send, b),
                                  expected = with(all[static_cast<std::size_t>(b)].receive, a);
      ASSERT_EQ(sent.size(), expected.size()) << a << " to " << b;
      for (std::size_t k = 0; k < sent.size(); ++k) {
        EXPECT_EQ(sent[k].key, expected[k].key);
        const auto target = parts.neighbor(a, sent[k].subdomain, sent[k].direction);
        ASSERT_TRUE(target.has_value());
        EXPECT_EQ(target->rank, b);
        EXPECT_EQ(target->subdomain, expected[k].subdomain);
        EXPECT_EQ(opposite(sent[k].direction, parts.dims()), expected[k].direction);
      }
    }
}

// Each subdomain has one link in each of the directions in which it has a neighbor, for sending and
// for receiving; keys name them, in ascending order.
void expect_complete(const Decomposition& parts, const std::vector<HaloLinks>& all, auto used) {
  for (int rank = 0; rank < parts.ranks.ranks(); ++rank) {
    std::set<std::pair<int, Region>> wanted;
    for (int s = 0; s < parts.subdomains(); ++s)
      for (const Region v : directions(parts.dims()))
        if (used(v) && parts.neighbor(rank, s, v)) wanted.insert({s, v});
    const HaloLinks& links = all[static_cast<std::size_t>(rank)];
    for (const std::vector<HaloLink>* side : {&links.send, &links.receive}) {
      std::set<std::pair<int, Region>> found;
      for (const HaloLink& link : *side) found.insert({link.subdomain, link.direction});
      EXPECT_EQ(found, wanted);
      EXPECT_EQ(side->size(), wanted.size());
      for (std::size_t k = 1; k < side->size(); ++k) EXPECT_LT((*side)[k - 1].key, (*side)[k].key);
    }
  }
}

TEST(HaloLinks, MirrorEachOther) {
  for_random_parts(42, 8, [](const Decomposition& parts) {
    for (const Reach& reach : {Reach::all, Reach::faces}) {
      const auto all =
          of_all_ranks(parts, [&](int rank) { return halo_links(parts, rank, reach); });
      expect_mirrored(parts, all);
      expect_complete(parts, all,
                      [&](Region v) { return reach == Reach::all || is_face(v, parts.dims()); });
    }
  });
}

TEST(HaloLinks, DimensionByDimensionMirrorEachOther) {
  for_random_parts(42, 8, [](const Decomposition& parts) {
    for (int k = 0; k < parts.dims(); ++k) {
      const auto all = of_all_ranks(parts, [&](int rank) { return shift_links(parts, rank, k); });
      expect_mirrored(parts, all);
      expect_complete(parts, all, [&](Region v) {
        return is_face(v, parts.dims()) && sign(v, k, parts.dims()) != 0;
      });
    }
  });
}

}  // namespace
}  // namespace tonari
