// SPDX-License-Identifier: BSD-3-Clause
// Vectors in groups: exchanges of random vectors, all ways and over any routes, beside random
// operations, against what each would do alone; how many messages they take; what is refused.
#include <tonari/group.hpp>
#include <tonari/vector.hpp>

#include <set>

#include "support/beside.hpp"
#include "support/same_error.hpp"
#include "vector/neighbor_case.hpp"

namespace {

using namespace tonari::test;

// One vector of a group, with its fields.
class Member {
 public:
  Member(Random& common, const std::string& route) : drawn_(draw_neighbor_case(common)) {
    const FieldType types[] = {
        {MPI_DOUBLE, 8, 1}, {MPI_FLOAT, 4, 2}, {MPI_INT64_T, 8, 3}, {MPI_INT32_T, 4, 4}};
    const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX};
    vector_ = drawn_.make(route);
    reverse_ = !drawn_.links.forward || pick(common, 0, 1), op_ = ops[pick(common, 0, 2)];
    combine_ = drawn_.links.forward && !places_meet(drawn_.links) && pick(common, 0, 2) == 0;
    Random own(common() + 31u * static_cast<unsigned>(world_rank()));
    for (int f = 0, count = pick(common, 1, 2); f < count; ++f)
      memories_.emplace_back(common, own, drawn_.links, types[pick(common, 0, 3)], f);
  }
  ~Member() { must(tonari_vector_free(&vector_)); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  void collect() {
    std::vector<tonari_vector_field> fields;
    for (FieldMemory& memory : memories_) fields.push_back(memory.field());
    const int count = static_cast<int>(fields.size());
    must(combine_   ? tonari_vector_combine_fields_init(vector_, count, fields.data(), op_,
                                                        MPI_INFO_NULL, nullptr)
         : reverse_ ? tonari_vector_reverse_fields_init(vector_, count, fields.data(), op_,
                                                        MPI_INFO_NULL, nullptr)
                    : tonari_vector_forward_fields_init(vector_, count, fields.data(),
                                                        MPI_INFO_NULL, nullptr));
  }
  void prepare(int round) {
    wanted_.clear();
    for (FieldMemory& memory : memories_) {
      fill(drawn_.links, memory, round);
      wanted_.push_back(combine_   ? after_combine(drawn_.links, memory, round, op_)
                        : reverse_ ? after_reverse(drawn_.links, memory, round, op_)
                                   : after_forward(drawn_.links, memory, round));
    }
  }
  void expect_done() const {
    for (std::size_t f = 0; f < memories_.size(); ++f)
      EXPECT_EQ(memories_[f].memory, wanted_[f])
          << (combine_   ? "combine"
              : reverse_ ? "reverse"
                         : "forward")
          << ", field " << f << ", arrays " << static_cast<int>(drawn_.links.arrays);
  }
  // Those that get a message in a step, of a direct route.
  void add_peers(std::set<int>& peers, int step) const {
    if (step == 1 && !combine_) return;
    const bool back = combine_ ? step == 0 : reverse_;
    for (const Link& link : drawn_.links.all) {
      const int from = back ? link.to : link.from, to = back ? link.from : link.to;
      if (from == world_rank() && to != from) peers.insert(to);
    }
  }

 private:
  NeighborCase drawn_;
  tonari_vector vector_ = TONARI_VECTOR_NULL;
  bool reverse_ = false, combine_ = false;
  MPI_Op op_ = MPI_SUM;
  std::vector<FieldMemory> memories_;
  std::vector<std::vector<unsigned char>> wanted_;
};

class VectorGroups : public VectorTest {
 protected:
  // In the order of the calls, with the operation in between.
  static tonari_request make(std::vector<std::unique_ptr<Member>>& members, Beside& beside,
                             MPI_Info info) {
    must(tonari_group_start(MPI_COMM_WORLD));
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (k == 1) beside.collect();
      members[k]->collect();
    }
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_group_end(info, &request));
    return request;
  }

  void expect_exchanges(Random& common, const std::vector<std::string>& names, bool linear) {
    std::vector<std::unique_ptr<Member>> members;
    for (const std::string& route : names)
      members.push_back(std::make_unique<Member>(common, route));
    Beside beside(common);
    const Info info{{"tonari_tune", "off"},
                    {"tonari_algorithm", linear ? "linear" : "auto"},
                    {"tonari_channel", random_channel(common)}};
    tonari_request request = make(members, beside, info);
    for (int round = 0; round < 2; ++round) {
      for (const auto& m : members) m->prepare(round);
      beside.b.prepare(world_rank(), round);
      run(request, (round + world_rank()) % 2);
      for (const auto& m : members) m->expect_done();
      if (members.size() > 1) {
        EXPECT_EQ(beside.wrong(round), "");
      }
    }
    if (linear) {
      std::set<int> peers, later;
      for (const auto& m : members) m->add_peers(peers, 0), m->add_peers(later, 1);
      if (members.size() > 1)
        for (const int t : beside.graph.of[static_cast<std::size_t>(world_rank())].targets)
          if (t >= 0 && t != world_rank()) peers.insert(t);
      tonari_request_info facts;
      must(tonari_request_get_info(request, &facts));
      EXPECT_EQ(facts.messages, static_cast<int>(peers.size() + later.size()));
    }
    must(tonari_request_free(&request));
  }
};

TEST_F(VectorGroups, ValuesAndBlocksTravelTogether) {
  const unsigned seed = random_seed();
  SCOPED_TRACE("TONARI_TEST_SEED=" + std::to_string(seed));
  Random common(seed);
  const int count = very_slow() ? 2 : crowded() ? 10 : 40;
  for (int k = 0; k < count && !HasFailure(); ++k)
    expect_exchanges(
        common, std::vector<std::string>(static_cast<std::size_t>(pick(common, 1, 3)), "direct"),
        true);
}

TEST_F(VectorGroups, RoutesOfSeveralHopsMeet) {
  const unsigned seed = random_seed();
  SCOPED_TRACE("TONARI_TEST_SEED=" + std::to_string(seed));
  Random common(seed);
  const std::vector<std::string> all = routes();
  const int count = very_slow() ? 1 : crowded() ? 4 : 10;
  for (int k = 0; k < count && !HasFailure(); ++k) {
    std::vector<std::string> names;
    for (int m = pick(common, 2, 4); m > 0; --m) names.push_back(all[common() % all.size()]);
    expect_exchanges(common, names, false);
  }
}

// The ring of all ranks: own values at 0 to 3, the neighbors' last and first at 4 and 5.
tonari::DistributedVector ring_of_all() {
  const int me = world_rank(), n = world_size();
  const std::int64_t first = 4 * me, all = 4 * n,
                     needed[] = {(first + all - 1) % all, (first + 4) % all};
  return tonari::DistributedVector(MPI_COMM_WORLD, first, 4, needed);
}

TEST_F(VectorGroups, OfOneArrayThatIsReadTwice) {
  const auto one = ring_of_all(), other = ring_of_all();
  const int me = world_rank(), n = world_size();
  std::vector<double> x{4.0 * me, 4.0 * me + 1, 4.0 * me + 2, 4.0 * me + 3}, g(2), h(2);
  tonari::Group group(MPI_COMM_WORLD);
  group.add(one.forward_init(std::span<const double>(x), std::span(g)));
  group.add(other.forward_init(std::span<const double>(x), std::span(h)));
  tonari::Request both = group.end();
  both.start(), both.wait();
  const std::vector<double> wanted{(4.0 * me + 4 * n - 1) - (me == 0 ? 0 : 4 * n),
                                   me == n - 1 ? 0.0 : 4.0 * me + 4};
  EXPECT_EQ(g, wanted);
  EXPECT_EQ(h, wanted);
}

TEST_F(VectorGroups, WhatIsWrong) {
  const auto vector = ring_of_all();
  std::vector<double> x(4), g(2), h(2);
  const auto refused = [&](int code, std::initializer_list<std::string> words, auto collect) {
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_group_start(MPI_COMM_WORLD));
    collect();
    expect_everywhere(tonari_group_end(MPI_INFO_NULL, &request), code, words);
    EXPECT_EQ(request, TONARI_REQUEST_NULL);
  };
  const bool last = world_rank() == world_size() - 1;
  refused(TONARI_ERR_BUFFERS, {"call 0 (forward exchange of a vector)", "overlap in memory"}, [&] {
    must(tonari_vector_forward_init(vector.handle(), nullptr, x.data(), g.data(), MPI_INFO_NULL,
                                    nullptr));
    must(tonari_vector_forward_init(vector.handle(), nullptr, x.data(), g.data(), MPI_INFO_NULL,
                                    nullptr));
  });
  refused(TONARI_ERR_BUFFERS, {"call 0", "call 1 (reverse exchange of a vector)"}, [&] {
    must(tonari_vector_forward_init(vector.handle(), nullptr, x.data(), g.data(), MPI_INFO_NULL,
                                    nullptr));
    must(tonari_vector_reverse_init(vector.handle(), nullptr, MPI_SUM, h.data(), x.data(),
                                    MPI_INFO_NULL, nullptr));
  });
  std::vector<double> y(4);
  for (const bool owned : {true, false})  // what is read, and what is written
    refused(TONARI_ERR_BUFFERS, {"call 0", "call 1 (combining exchange of a vector)"}, [&] {
      must(owned ? tonari_vector_forward_init(vector.handle(), nullptr, x.data(), g.data(),
                                              MPI_INFO_NULL, nullptr)
                 : tonari_vector_reverse_init(vector.handle(), nullptr, MPI_SUM, h.data(), y.data(),
                                              MPI_INFO_NULL, nullptr));
      must(tonari_vector_combine_init(vector.handle(), nullptr, MPI_SUM, x.data(), h.data(),
                                      MPI_INFO_NULL, nullptr));
    });
  refused(TONARI_ERR_ARGUMENT, {"in call 1 of the group", "`owned` is NULL"}, [&] {
    must(tonari_vector_forward_init(vector.handle(), nullptr, x.data(), g.data(), MPI_INFO_NULL,
                                    nullptr));
    must(tonari_vector_forward_init(vector.handle(), nullptr, last ? nullptr : x.data(), h.data(),
                                    MPI_INFO_NULL, nullptr));
  });
  if (world_size() > 1) {
    const tonari_vector_values pairs{MPI_DOUBLE, last ? 2 : 1, 1, 0, 0, {}};
    std::vector<double> z(8), k(4);
    refused(TONARI_ERR_MISMATCH, {"in call 0 of the group", "same number of bytes"}, [&] {
      must(tonari_vector_forward_init(vector.handle(), &pairs, z.data(), k.data(), MPI_INFO_NULL,
                                      nullptr));
    });
  }
}

// A span that is too short leaves the scope of the group on one rank.
TEST_F(VectorGroups, AShortSpanOnOneRank) {
  const auto vector = ring_of_all();
  std::vector<double> x(4), g(2);
  const bool last = world_rank() == world_size() - 1;
  try {
    tonari::Group group(MPI_COMM_WORLD);
    group.add(vector.forward_init(std::span<const double>(x), std::span(g).first(last ? 1 : 2)));
    (void)group.end();
    ADD_FAILURE() << "the group was made";
  } catch (const tonari::Failure& failure) {
    EXPECT_EQ(failure.code(), TONARI_ERR_ARGUMENT);
  }
}

}  // namespace
