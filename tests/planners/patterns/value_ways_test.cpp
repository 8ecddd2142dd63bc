// SPDX-License-Identifier: BSD-3-Clause
// Values along schedules of all kinds: forward the reference executor proves their plans, and sums
// are computed here, hop by hop, over plain memory.
#include "planners/patterns/value_ways.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "planners/graphs/relay.hpp"
#include "planners/patterns/balanced.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/patterns.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

struct Case {
  int ranks;
  std::vector<NeededValue> values;
};

// Values that few need, that those near by need, that nearly all need, or that nobody needs.
Case any_case(std::mt19937& random, int most_ranks) {
  Case all{1 + static_cast<int>(random() % static_cast<unsigned>(most_ranks)), {}};
  const unsigned kind = random() % 4;
  const int count = static_cast<int>(random() % 60);
  for (int v = 0; v < count; ++v) {
    const int owner = static_cast<int>(random() % static_cast<unsigned>(all.ranks));
    std::set<std::int32_t> targets;
    for (int r = 0; r < all.ranks; ++r) {
      const bool near = std::abs(r - owner) < 3;
      if (kind == 0   ? random() % 6 == 0
          : kind == 1 ? near && random() % 3 > 0
          : kind == 2 ? owner % 4 == 0 && random() % 8 > 0
                      : random() % 2 == 0)
        targets.insert(r);
    }
    all.values.push_back({owner, {targets.begin(), targets.end()}});
  }
  return all;
}

std::vector<MessageSchedule> schedules_of(const CommunicationMatrix& matrix) {
  std::vector<MessageSchedule> all{direct_schedule(matrix),
                                   balanced(matrix),
                                   balanced(matrix, {3}),
                                   balanced(matrix, {2, 2, 1.25}),
                                   combine(matrix, share_messages(matrix, 1)),
                                   combine(matrix, share_messages(matrix, 2))};
  if (matrix.ranks() >= 4) all.push_back(store_and_forward(matrix, 2));
  return all;
}

std::int64_t contribution(std::int32_t rank, std::uint32_t value) {
  return 1 + (rank * 7919 + static_cast<std::int64_t>(value) * 104729) % 1000003;
}

// What is at the owners once all ranks have added and passed on, stage by stage; nothing if a rank
// passes on what it does not have, or a sum is left on the way.
std::optional<std::vector<std::int64_t>> sums_of(const Case& all, std::vector<ValueHop> hops) {
  std::map<std::pair<std::int32_t, std::uint32_t>, std::int64_t> here;
  for (std::uint32_t v = 0; v < all.values.size(); ++v)
    for (const std::int32_t target : all.values[v].targets)
      here[{target, v}] += contribution(target, v);
  std::ranges::sort(hops);
  for (auto first = hops.begin(); first != hops.end();) {
    const auto last =
        std::find_if(first, hops.end(), [&](const ValueHop& h) { return h.stage != first->stage; });
    std::vector<std::tuple<std::int32_t, std::uint32_t, std::int64_t>> arriving;
    for (; first != last; ++first) {
      const auto sum = here.find({first->from, first->value});
      if (sum == here.end()) return std::nullopt;
      arriving.emplace_back(first->to, first->value, sum->second);
      here.erase(sum);
    }
    for (const auto& [rank, value, sum] : arriving) here[{rank, value}] += sum;
  }
  std::vector<std::int64_t> sums(all.values.size(), 0);
  for (const auto& [place, sum] : here) {
    if (all.values[place.second].owner != place.first) return std::nullopt;
    sums[place.second] = sum;
  }
  return sums;
}

std::vector<std::int64_t> expected_sums(const Case& all) {
  std::vector<std::int64_t> sums;
  for (std::uint32_t v = 0; v < all.values.size(); ++v) {
    sums.push_back(0);
    for (const std::int32_t target : all.values[v].targets) sums.back() += contribution(target, v);
  }
  return sums;
}

// Each value is a block of its owner, which all its targets receive.
Proof prove_forward(const Case& all, const std::vector<ValueHop>& hops, unsigned seed) {
  const auto ranks = static_cast<std::size_t>(all.ranks);
  std::vector<std::uint32_t> number;
  std::vector<Vertex> vertices(ranks);
  Delivery delivery{std::vector<std::vector<Delivery::Origin>>(ranks),
                    std::vector<std::vector<std::uint64_t>>(ranks),
                    std::vector<std::vector<std::uint64_t>>(ranks)};
  for (std::uint32_t v = 0; v < all.values.size(); ++v) {
    const NeededValue& value = all.values[v];
    number.push_back(static_cast<std::uint32_t>(delivery.send_bytes[value.owner].size()));
    delivery.send_bytes[value.owner].push_back(1 + v % 9);
    for (const std::int32_t t : value.targets) {
      vertices[t].sources.push_back(value.owner), vertices[t].origins.push_back(number[v]);
      delivery.expected[t].push_back({value.owner, number[v]});
      delivery.recv_bytes[t].push_back(1 + v % 9);
    }
  }
  std::vector<Relay> relays(ranks);
  for (const ValueHop& h : hops) {
    const BlockId block{all.values[h.value].owner, number[h.value]};
    relays[h.from].out.push_back({h.stage, h.to, block});
    relays[h.to].in.push_back({h.stage, h.from, block});
  }
  std::vector<Plan> plans;
  for (std::size_t r = 0; r < ranks; ++r) {
    vertices[r].rank = static_cast<std::int32_t>(r);
    plans.push_back(emit(vertices[r], Collective::alltoall, relays[r]));
  }
  return prove(plans, delivery, seed);
}

using Message = std::tuple<std::int32_t, std::int32_t, std::int32_t>;

std::set<Message> messages_of(const std::vector<ValueHop>& hops) {
  std::set<Message> all;
  for (const ValueHop& h : hops) all.emplace(h.stage, h.from, h.to);
  return all;
}

// Words of all messages, without a look at which values blocks have in common, and with a look at
// those of one message.
struct Words {
  std::size_t of_blocks = 0, of_messages = 0;
};

Words words_of(Flowing what, const Case& all, const CommunicationMatrix& matrix,
               const MessageSchedule& schedule) {
  Words words;
  const bool forward = what == Flowing::values;
  for (const CombinedMessage& m : schedule.messages()) {
    std::set<std::uint32_t> together;
    for (const BlockNumber b : schedule.blocks(m)) {
      const std::int32_t owner = forward ? matrix.origin(b) : matrix.target(b),
                         target = forward ? matrix.target(b) : matrix.origin(b);
      for (std::uint32_t v = 0; v < all.values.size(); ++v)
        if (all.values[v].owner == owner &&
            std::ranges::binary_search(all.values[v].targets, target))
          ++words.of_blocks, together.insert(v);
    }
    words.of_messages += together.size();
  }
  return words;
}

// Of one schedule: values arrive, or sums do, and neither words nor messages grow.
struct Savings {
  int words = 0, messages = 0;  // schedules in which trees save more than messages alone would
};

void expect_ways(Flowing what, const Case& all, unsigned seed, Savings& savings) {
  const CommunicationMatrix matrix = matrix_of(what, all.ranks, all.values);
  for (const MessageSchedule& schedule : schedules_of(matrix)) {
    const std::vector<ValueHop> hops = value_ways(what, matrix, schedule, all.values);
    if (what == Flowing::sums) {
      ASSERT_EQ(sums_of(all, hops), expected_sums(all));
    } else {
      const Proof proof = prove_forward(all, hops, seed);
      ASSERT_TRUE(proof) << proof.what;
    }
    std::set<std::pair<std::int32_t, std::uint32_t>> ends;
    for (const ValueHop& h : hops) {
      const std::int32_t end = what == Flowing::values ? h.to : h.from;
      EXPECT_TRUE(ends.emplace(end, h.value).second) << "a value is at a rank twice";
      EXPECT_NE(end, all.values[h.value].owner);
    }
    const Words words = words_of(what, all, matrix, schedule);
    ASSERT_LE(hops.size(), words.of_messages);
    ASSERT_LE(words.of_messages, words.of_blocks);
    savings.words += hops.size() < words.of_messages;
    std::set<Message> planned;
    for (const CombinedMessage& m : schedule.messages()) planned.emplace(m.stage, m.from, m.to);
    const std::set<Message> used = messages_of(hops);
    ASSERT_TRUE(std::ranges::includes(planned, used));
    savings.messages += used.size() < planned.size();
  }
}

TEST(ValueWays, SumsAndValuesArriveOnRandomNeeds) {
  std::mt19937 random(1);
  Savings savings;
  for (unsigned k = 0; k < 400; ++k) {
    SCOPED_TRACE(k);
    const Case all = any_case(random, 14);
    for (const Flowing what : {Flowing::values, Flowing::sums})
      ASSERT_NO_FATAL_FAILURE(expect_ways(what, all, k, savings));
  }
  EXPECT_GT(savings.words, 100);
  EXPECT_GT(savings.messages, 10);
}

// Every hop that is left out or taken twice is found.
TEST(ValueWays, EveryHopCounts) {
  std::mt19937 random(2);
  int mutants = 0;
  for (int k = 0; k < 60; ++k) {
    const Case all = any_case(random, 9);
    for (const Flowing what : {Flowing::values, Flowing::sums}) {
      const CommunicationMatrix matrix = matrix_of(what, all.ranks, all.values);
      const std::vector<ValueHop> hops =
          value_ways(what, matrix, balanced(matrix, {3}), all.values);
      for (std::size_t h = 0; h < hops.size(); ++h, ++mutants) {
        std::vector<ValueHop> without = hops, twice = hops;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(h));
        twice.push_back(hops[h]);
        if (what == Flowing::sums) {
          ASSERT_NE(sums_of(all, without), expected_sums(all));
          ASSERT_NE(sums_of(all, twice), expected_sums(all));
        } else {
          ASSERT_FALSE([&] {
            try {
              return prove_forward(all, without, 1).ok;
            } catch (const Error&) {
              return false;
            }
          }());
        }
      }
    }
  }
  EXPECT_GT(mutants, 1000);
}

// Ranks 1 to 3 need one value of rank 0, and rank 0 writes to rank 1 alone; or they contribute to
// it, by way of rank 1.
TEST(ValueWays, ContributionsThatMeetGoOnAsOne) {
  const Case all{4, {{0, {1, 2, 3}}}};
  const CommunicationMatrix matrix = matrix_of(Flowing::values, 4, all.values);
  const MessageSchedule schedule(
      matrix, {{0, 0, 1, 0}, {0, 0, 1, 1}, {0, 0, 1, 2}, {1, 1, 2, 1}, {1, 1, 3, 2}});
  const Words words = words_of(Flowing::values, all, matrix, schedule);
  EXPECT_EQ(words.of_blocks, 5u);
  EXPECT_EQ(words.of_messages, 3u);
  EXPECT_EQ(value_ways(Flowing::values, matrix, schedule, all.values),
            (std::vector<ValueHop>{{0, 0, 1, 0}, {1, 1, 2, 0}, {1, 1, 3, 0}}));

  const CommunicationMatrix back = matrix_of(Flowing::sums, 4, all.values);
  const MessageSchedule gathering(
      back, {{0, 2, 1, 1}, {0, 3, 1, 2}, {1, 1, 0, 0}, {1, 1, 0, 1}, {1, 1, 0, 2}});
  EXPECT_EQ(words_of(Flowing::sums, all, back, gathering).of_blocks, 5u);
  EXPECT_EQ(value_ways(Flowing::sums, back, gathering, all.values),
            (std::vector<ValueHop>{{0, 2, 1, 0}, {0, 3, 1, 0}, {1, 1, 0, 0}}));
}

// Rank 1 has both values on their way to rank 2, so it needs no message of its own; and where it
// passes on a sum later, its own part waits for that.
TEST(ValueWays, MessagesWhoseValuesGoByOthersAreLeftOut) {
  const Case all{3, {{0, {1, 2}}, {0, {2}}}};
  const CommunicationMatrix matrix = matrix_of(Flowing::values, 3, all.values);
  const MessageSchedule schedule(matrix, {{0, 0, 1, 1}, {1, 1, 2, 1}, {1, 0, 1, 0}});
  EXPECT_EQ(value_ways(Flowing::values, matrix, schedule, all.values),
            (std::vector<ValueHop>{{0, 0, 1, 0}, {0, 0, 1, 1}, {1, 1, 2, 0}, {1, 1, 2, 1}}));

  const CommunicationMatrix back = matrix_of(Flowing::sums, 3, all.values);
  const MessageSchedule gathering(back, {{0, 1, 0, 0}, {0, 2, 1, 1}, {1, 1, 0, 1}});
  EXPECT_EQ(value_ways(Flowing::sums, back, gathering, all.values),
            (std::vector<ValueHop>{{0, 2, 1, 0}, {0, 2, 1, 1}, {1, 1, 0, 0}, {1, 1, 0, 1}}));
}

TEST(ValueWays, NeedTheirBlocks) {
  const Case all{3, {{0, {1, 2}}}};
  const CommunicationMatrix other =
      matrix_of(Flowing::values, 3, std::vector<NeededValue>{{0, {1}}});
  test::expect_sentence(
      test::error_of(
          [&] { (void)value_ways(Flowing::values, other, direct_schedule(other), all.values); }),
      Errc::argument, {"from rank 0 to rank 2", "no such block"});
}

}  // namespace
}  // namespace tonari
