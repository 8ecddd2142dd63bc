// SPDX-License-Identifier: BSD-3-Clause
// Sparse exchanges with unknown receivers: every message arrives, with its values, in its order, on
// random patterns that each rank computes for all ranks from one seed.
#include <tonari/sparse.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "support/ok.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tonari::test;

struct Planned {
  int from, to, count;
};

std::int64_t value(const Planned& m, std::size_t number, int element) {
  return ((static_cast<std::int64_t>(m.from) * 4096 + m.to) << 40) +
         (static_cast<std::int64_t>(number) << 24) + element;
}

// What all ranks send, by rank.
class Pattern {
 public:
  explicit Pattern(unsigned seed) : random_(seed) {
    const int ranks = world_size(), kind = pick(random_, 0, 7), one = pick(random_, 0, ranks - 1);
    static const int mosts[] = {0, 1, 5, 5, 300, 3000, 20000};
    most_ = mosts[pick(random_, 0, ranks > 5 ? 4 : 6)];
    for (int from = 0; from < ranks; ++from) {
      const int sends = kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? ranks : pick(random_, 0, 6);
      for (int i = 0; i < sends; ++i) {
        const int any = pick(random_, 0, ranks - 1);
        if (kind == 3 && from != one) continue;  // one to some
        add(from, kind == 1 ? one : kind == 2 ? (from + i) % ranks : kind == 4 ? from : any);
        if (kind == 5 && pick(random_, 0, 2) == 0) add(from, MPI_PROC_NULL);
      }
    }
  }
  const std::vector<Planned>& all() const { return all_; }
  std::vector<Planned> sent_by(int rank) const {
    std::vector<Planned> list;
    for (const Planned& m : all_)
      if (m.from == rank) list.push_back(m);
    return list;
  }

 private:
  void add(int from, int to) {
    all_.push_back({from, to, pick(random_, 0, 2) == 0 ? 0 : pick(random_, 0, most_)});
  }
  Random random_;
  int most_;
  std::vector<Planned> all_;
};

// A type with the values of `wide` integers, and gaps where it is wide.
class Element {
 public:
  explicit Element(bool wide) : wide_(wide) {
    MPI_Datatype holes = MPI_DATATYPE_NULL;
    if (!wide) return;
    MPI_Type_vector(2, 1, 3, MPI_INT64_T, &holes);
    MPI_Type_create_resized(holes, -8, 40, &type_);
    MPI_Type_free(&holes);
  }
  ~Element() {
    if (wide_) MPI_Type_free(&type_);
  }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;
  MPI_Datatype type() const { return type_; }
  int values() const { return wide_ ? 2 : 1; }
  std::size_t extent() const { return wide_ ? 5 : 1; }  // integers
  std::size_t place(int v) const { return 3u * static_cast<unsigned>(v); }

 private:
  bool wide_;
  MPI_Datatype type_ = MPI_INT64_T;
};

class Sparse : public testing::Test {
 protected:
  const int rank = world_rank(), ranks = world_size();

  static std::vector<std::string> algorithms() {
    std::vector<std::string> names{"auto", "nbx", "personalized", "store-and-forward/1"};
    if (world_size() <= 16) names.emplace_back("pairwise");
    for (int n = 2; 1 << n <= world_size(); ++n)
      names.push_back("store-and-forward/" + std::to_string(n));
    return names;
  }

  // Lists, displacements and values as a program has them; gap: between messages.
  struct Sent {
    std::vector<int> destinations;
    std::vector<MPI_Count> counts;
    std::vector<MPI_Aint> displs;
    std::vector<std::int64_t> values;
  };
  static Sent prepare(const std::vector<Planned>& list, const Element& element, int gap) {
    Sent sent;
    MPI_Aint at = 0;
    for (const Planned& m : list) {
      sent.destinations.push_back(m.to), sent.counts.push_back(m.count), sent.displs.push_back(at);
      at += m.count + gap;
    }
    sent.values.assign(static_cast<std::size_t>(at) * element.extent() + 1, -1);
    for (std::size_t i = 0; i < list.size(); ++i)
      for (int e = 0; e < list[i].count * element.values(); ++e)
        sent.values[static_cast<std::size_t>(sent.displs[i] + e / element.values()) *
                        element.extent() +
                    element.place(e % element.values())] = value(list[i], i, e);
    return sent;
  }

  void expect_arrived(const Pattern& pattern, const Element& element, tonari_messages got) {
    int k = 0;
    MPI_Count at = 0;
    for (int from = 0; from < ranks; ++from) {
      const std::vector<Planned> list = pattern.sent_by(from);
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i].to != rank) continue;
        ASSERT_LT(k, got->count);
        ASSERT_EQ(got->sources[k], from);
        ASSERT_EQ(got->counts[k], list[i].count);
        ASSERT_EQ(got->displs[k], at);
        const auto* const values =
            static_cast<const std::int64_t*>(got->data) + at * element.values();
        for (int e = 0; e < list[i].count * element.values(); ++e)
          ASSERT_EQ(values[e], value(list[i], i, e)) << "message " << k << ", value " << e;
        at += list[i].count;
        ++k;
      }
    }
    EXPECT_EQ(got->count, k);
    EXPECT_EQ(got->total, at);
    EXPECT_EQ(got->data == nullptr, at == 0);
  }

  // One exchange from its call to its end.
  struct Flight {
    Flight(unsigned seed, int rank)
        : pattern(seed),
          element(seed % 3 == 0),
          sent(prepare(pattern.sent_by(rank), element, static_cast<int>(seed % 3))) {}
    Pattern pattern;
    Element element;
    Sent sent;
    tonari_messages got = TONARI_MESSAGES_NULL;
    tonari_request request = TONARI_REQUEST_NULL;
  };
  // The lists and the type go at once.
  std::unique_ptr<Flight> start(unsigned seed, const std::string& algorithm) {
    auto flight = std::make_unique<Flight>(seed, rank);
    Sent& sent = flight->sent;
    const Element element(seed % 3 == 0);
    EXPECT_OK(tonari_sparse_ialltoallv(
        static_cast<int>(sent.destinations.size()), sent.destinations.data(), sent.counts.data(),
        sent.displs.data(), element.type(), sent.values.data(), MPI_COMM_WORLD,
        Info{{"tonari_algorithm", algorithm}}, &flight->got, &flight->request));
    std::ranges::fill(sent.destinations, -7);
    std::ranges::fill(sent.counts, -7);
    std::ranges::fill(sent.displs, -7);
    return flight;
  }
  void complete(Flight& flight, bool by_testing) {
    int done = !by_testing;
    while (!done) ASSERT_OK(tonari_test(flight.request, &done));
    ASSERT_OK(tonari_wait(flight.request));
    ASSERT_NE(flight.got, TONARI_MESSAGES_NULL);
    expect_arrived(flight.pattern, flight.element, flight.got);
    EXPECT_OK(tonari_messages_free(&flight.got));
    EXPECT_OK(tonari_request_free(&flight.request));
  }

  void run(unsigned seed, const std::string& algorithm) {
    const Pattern pattern(seed);
    const Element element(seed % 3 == 0);
    const int gap = static_cast<int>(seed % 5 == 0 ? 0 : seed % 3);
    const Sent sent = prepare(pattern.sent_by(rank), element, gap);
    tonari_messages got = TONARI_MESSAGES_NULL;
    ASSERT_OK(tonari_sparse_alltoallv(
        static_cast<int>(sent.destinations.size()), sent.destinations.data(), sent.counts.data(),
        gap == 0 ? nullptr : sent.displs.data(), element.type(), sent.values.data(), MPI_COMM_WORLD,
        Info{{"tonari_algorithm", algorithm}}, &got));
    if (algorithm != "auto") {
      EXPECT_EQ(got->algorithm, algorithm);
    }
    expect_arrived(pattern, element, got);
    EXPECT_OK(tonari_messages_free(&got));
    EXPECT_EQ(got, TONARI_MESSAGES_NULL);
  }
};

TEST_F(Sparse, RandomPatternsArrive) {
  unsigned seed = random_seed();
  for (int k = 0; k < cases(60); ++k, ++seed)
    for (const std::string& algorithm : algorithms()) {
      SCOPED_TRACE("TONARI_TEST_SEED=" + std::to_string(seed) + ", " + algorithm);
      run(seed, algorithm);
      if (HasFatalFailure()) return;
    }
}

// One call right after the other, of different algorithms: nothing of one gets into the next.
TEST_F(Sparse, CallsFollowEachOtherAtOnce) {
  const std::vector<std::string> names = algorithms();
  for (unsigned k = 0; k < static_cast<unsigned>(cases(200)); ++k) {
    SCOPED_TRACE("seed " + std::to_string(k));
    run(k, names[k % names.size()]);
    if (HasFatalFailure()) return;
  }
}

// Several at a time, completed in any order, with collective calls of other kinds in between that
// some ranks reach before the exchanges have gone on, and others afterwards.
TEST_F(Sparse, SeveralInFlight) {
  std::vector<std::string> names{"auto", "nbx", "personalized"};
  if (ranks <= 16) names.emplace_back("pairwise");
  Random mine(static_cast<unsigned>(rank));
  for (unsigned k = 0; k < static_cast<unsigned>(cases(40)); ++k) {
    SCOPED_TRACE("seed " + std::to_string(5 * k));
    std::vector<std::unique_ptr<Flight>> flights;
    for (unsigned n = 0; n < 4; ++n) {
      flights.push_back(start(5 * k + n, names[(k + n) % names.size()]));
      int done = 0;
      for (int tests = pick(mine, 0, 1) * 300; tests > 0 && !done; --tests)
        ASSERT_OK(tonari_test(flights.back()->request, &done));
      if (n == 1) run(5 * k + 4, names[k % names.size()]);
      if (n == 2) {
        const auto near =
            tonari::Neighborhood::from_destinations(MPI_COMM_WORLD, std::span<const int>());
        EXPECT_TRUE(near.handle());
      }
    }
    std::shuffle(flights.begin(), flights.end(), mine);
    for (auto& flight : flights) complete(*flight, pick(mine, 0, 1) == 0);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Sparse, WaitsForAllAtOnce) {
  std::vector<std::unique_ptr<Flight>> flights;
  std::vector<tonari_request> requests;
  for (unsigned n = 0; n < 5; ++n) {
    flights.push_back(start(n, "auto"));
    requests.push_back(flights.back()->request);
  }
  ASSERT_OK(tonari_waitall(5, requests.data()));
  tonari_request_info info;
  ASSERT_OK(tonari_request_get_info(requests[0], &info));
  EXPECT_STREQ(info.algorithm, flights[0]->got->algorithm);
  EXPECT_EQ(tonari_start(requests[0]), TONARI_ERR_ARGUMENT);
  for (auto& flight : flights) complete(*flight, false);
}

// A rank that only computes between the call and its completion keeps nobody from completing
// what it has sent before; and another may be slow to call.
TEST_F(Sparse, SlowRanksInFlight) {
  for (unsigned k = 0; k < 3; ++k) {
    if (rank == static_cast<int>(k) % ranks) usleep(20'000);
    const auto flight = start(k, "auto");
    if (rank == static_cast<int>(k + 1) % ranks) usleep(20'000);
    complete(*flight, k % 2 == 0);
  }
}

TEST_F(Sparse, InFlightInCpp) {
  const std::vector<int> to{(rank + 1) % ranks};
  const std::vector<MPI_Count> counts{2};
  const std::vector<double> values{rank + 0.5, 1.0 * rank};
  auto first = tonari::sparse_ialltoallv(MPI_COMM_WORLD, to, counts, std::span(values));
  auto second = tonari::sparse_ialltoallv(MPI_COMM_WORLD, to, counts, std::span(values));
  const int from = (rank + ranks - 1) % ranks;
  for (auto* pending : {&second, &first}) {
    const tonari::Messages<double> got = pending->wait();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].source, from);
    EXPECT_EQ(got[0].values[0], from + 0.5);
    EXPECT_EQ(got[0].values[1], from);
  }
  EXPECT_TRUE(first.wait().empty()) << "it was taken";
  // one that nobody waits for
  (void)tonari::sparse_ialltoallv(MPI_COMM_WORLD, to, counts, std::span(values));
  auto wrong = [&] {
    return tonari::sparse_ialltoallv(MPI_COMM_WORLD, to, counts,
                                     std::span(values).first(rank == ranks - 1 ? 1 : 2))
        .wait();
  };
  EXPECT_THROW(wrong(), tonari::Failure);
}

TEST_F(Sparse, AlgorithmsAreChosenByVariables) {
  setenv("TONARI_SPARSE_ALGORITHM", "nbx", 1);
  tonari_messages got = TONARI_MESSAGES_NULL;
  ASSERT_OK(tonari_sparse_alltoallv(0, nullptr, nullptr, nullptr, MPI_INT, nullptr, MPI_COMM_WORLD,
                                    Info{{"tonari_algorithm", "personalized"}}, &got));
  unsetenv("TONARI_SPARSE_ALGORITHM");
  EXPECT_STREQ(got->algorithm, "nbx");
  EXPECT_EQ(got->count, 0);
  EXPECT_EQ(got->data, nullptr);
  EXPECT_OK(tonari_messages_free(&got));
  EXPECT_OK(tonari_messages_free(&got));
}

// A rank may send columns where others send rows.
TEST_F(Sparse, TypesOfOneSizeGoTogether) {
  const Element wide(true);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT64_T, &pair);
  const int to = (rank + 1) % ranks;
  const MPI_Count count = 1;
  const std::int64_t values[5] = {rank, 7, 8, 10 + rank, 9}, two[2] = {rank, 10 + rank};
  tonari_messages got = TONARI_MESSAGES_NULL;
  ASSERT_OK(tonari_sparse_alltoallv(1, &to, &count, nullptr, rank == 0 ? wide.type() : pair,
                                    rank == 0 ? values : two, MPI_COMM_WORLD, MPI_INFO_NULL, &got));
  MPI_Type_free(&pair);
  ASSERT_EQ(got->count, 1);
  const int from = (rank + ranks - 1) % ranks;
  EXPECT_EQ(static_cast<const std::int64_t*>(got->data)[0], from);
  EXPECT_EQ(static_cast<const std::int64_t*>(got->data)[1], 10 + from);
  EXPECT_OK(tonari_messages_free(&got));
}

TEST_F(Sparse, InCpp) {
  const std::vector<int> to{0, rank};
  const std::vector<MPI_Count> counts{1, 2};
  const std::vector<double> values{rank + 0.5, 1, 2};
  const tonari::Messages<double> got =
      tonari::sparse_alltoallv(MPI_COMM_WORLD, to, counts, std::span(values));
  ASSERT_EQ(got.size(), rank == 0 ? ranks + 1u : 1u);
  std::size_t k = 0;
  for (const auto& [source, theirs] : got) {
    const bool mine = rank != 0 || k == 1;  // rank 0 sends itself two messages
    EXPECT_EQ(source, rank != 0 ? rank : k < 2 ? 0 : static_cast<int>(k) - 1);
    EXPECT_EQ(source, got.sources()[k]);
    ASSERT_EQ(theirs.size(), mine ? 2u : 1u);
    EXPECT_EQ(theirs[0], mine ? 1 : source + 0.5);
    ++k;
  }
  EXPECT_EQ(got.all().size(), rank == 0 ? ranks + 2u : 2u);
  try {
    const std::size_t kept = rank == ranks - 1 ? 2 : 3;
    (void)tonari::sparse_alltoallv(MPI_COMM_WORLD, to, counts, std::span(values).first(kept));
    ADD_FAILURE() << "values are missing on one rank";
  } catch (const tonari::Failure& failure) {
    EXPECT_EQ(failure.code(), TONARI_ERR_ARGUMENT);
    const std::string who = "rank " + std::to_string(ranks - 1) + ": ";
    EXPECT_CONTAINS(failure.what(), who + "tonari::sparse_alltoallv: there are ");
  }
  EXPECT_TRUE(tonari::Messages<double>().empty());
}

// A neighborhood of destinations alone has the sources that the oracle says, and exchanges.
TEST_F(Sparse, NeighborhoodsOfDestinations) {
  for (unsigned seed = 0; seed < static_cast<unsigned>(cases(40)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Pattern pattern(seed);
    std::vector<int> to, sources;
    for (const Planned& m : pattern.sent_by(rank)) to.push_back(m.to);
    for (const Planned& m : pattern.all())
      if (m.to == rank) sources.push_back(m.from);
    const auto near = tonari::Neighborhood::from_destinations(MPI_COMM_WORLD, to);
    int in = -1, out = -1;
    ASSERT_OK(tonari_neighborhood_degrees(near.handle(), &in, &out));
    ASSERT_EQ(in, static_cast<int>(sources.size()));
    ASSERT_EQ(out, static_cast<int>(to.size()));
    std::vector<int> targets(to.size()), found(sources.size());
    ASSERT_OK(tonari_neighborhood_ranks(near.handle(), targets.data(), found.data()));
    EXPECT_EQ(targets, to);
    EXPECT_EQ(found, sources);
    std::vector<int> sent(to.size()), got(sources.size(), -1), expected;
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = 100 * rank + static_cast<int>(i);
    for (int from = 0; from < ranks; ++from) {
      const std::vector<Planned> list = pattern.sent_by(from);
      for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i].to == rank) expected.push_back(100 * from + static_cast<int>(i));
    }
    ASSERT_OK(tonari_alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, near.handle()));
    EXPECT_EQ(got, expected);
  }
}

}  // namespace
