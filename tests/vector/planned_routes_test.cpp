// SPDX-License-Identifier: BSD-3-Clause
// Routes by algorithms for graphs: what ranks send in each hop is what the algorithm and the ways
// of values (planners/patterns/value_ways.hpp) say, and sums are those of the direct route.
#include <cmath>
#include <map>
#include <set>

#include "planners/patterns/balanced.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/value_ways.hpp"
#include "support/counting.hpp"
#include "support/same_error.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;
using tonari::CommunicationMatrix, tonari::Flowing, tonari::MessageSchedule, tonari::NeededValue,
    tonari::ValueHop;

struct Planned {
  const char* route;
  MessageSchedule (*schedule)(const CommunicationMatrix&);
};

const Planned planned_routes[] = {
    {"balanced", [](const CommunicationMatrix& m) { return tonari::balanced(m); }},
    {"balanced/2 stages", [](const CommunicationMatrix& m) { return tonari::balanced(m); }},
    {"balanced/3 stages", [](const CommunicationMatrix& m) { return tonari::balanced(m, {3}); }},
    {"balanced/2 stages price 2 words 1.5",
     [](const CommunicationMatrix& m) { return tonari::balanced(m, {2, 2, 1.5}); }},
    {"message-sharing",
     [](const CommunicationMatrix& m) { return combine(m, tonari::share_messages(m, 2)); }},
    {"message-sharing/whole pattern phase I",
     [](const CommunicationMatrix& m) { return combine(m, tonari::share_messages(m, 1)); }},
};

// The k-th value is the one with index k.
std::vector<NeededValue> values_of(const Sharing& s) {
  std::vector<NeededValue> values(static_cast<std::size_t>(s.size));
  for (std::size_t r = 0; r < s.own.size(); ++r)
    for (std::int64_t i = 0; i < s.own[r].count; ++i)
      values[static_cast<std::size_t>(s.own[r].first + i)].owner = static_cast<std::int32_t>(r);
  for (std::size_t r = 0; r < s.needs.size(); ++r)
    for (const std::int64_t index : std::set(s.needs[r].begin(), s.needs[r].end()))
      if (!s.owns(r, index))
        values[static_cast<std::size_t>(index)].targets.push_back(static_cast<std::int32_t>(r));
  return values;
}

// What all that says of one direction.
struct Prediction {
  std::map<std::int32_t, std::set<std::int32_t>> to;  // whom this rank sends to, by stage
  std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t>> messages;  // of all ranks
  std::int64_t sent = 0, received = 0, all = 0;  // values of this rank, of all ranks
  std::int64_t blocks_sent = 0, all_blocks = 0;  // if blocks went by themselves
  int sends = 0, receives = 0;                   // messages of this rank
  std::size_t planned = 0;                       // messages of the schedule

  Prediction(Flowing what, const Sharing& s, const Planned& route) {
    const std::vector<NeededValue> values = values_of(s);
    const CommunicationMatrix matrix = tonari::matrix_of(what, world_size(), values);
    const MessageSchedule schedule = route.schedule(matrix);
    const auto me = static_cast<std::int32_t>(world_rank());
    for (const ValueHop& h : value_ways(what, matrix, schedule, values)) {
      const bool fresh = messages.emplace(h.stage, h.from, h.to).second;
      to[h.stage];  // no stage that anybody needs is left out
      if (h.from == me) to[h.stage].insert(h.to), ++sent, sends += fresh;
      if (h.to == me) ++received, receives += fresh;
      ++all;
    }
    for (const tonari::CombinedMessage& m : schedule.messages())
      for (const tonari::BlockNumber b : schedule.blocks(m)) {
        const auto words = static_cast<std::int64_t>(matrix.words(b));
        all_blocks += words;
        if (m.from == me) blocks_sent += words;
      }
    planned = schedule.messages().size();
  }
  std::vector<std::size_t> sends_of_hops() const {
    std::vector<std::size_t> all_hops;
    for (const auto& [stage, targets] : to) all_hops.push_back(targets.size());
    return all_hops;
  }
};

// The numbers behind each "sends: " of a description: of the request, and of each of its hops.
std::vector<std::size_t> told_messages(const std::string& description) {
  std::vector<std::size_t> told;
  for (std::size_t at = description.find("sends: "); at != std::string::npos;
       at = description.find("sends: ", at + 1))
    told.push_back(std::stoul(description.substr(at + 7)));
  return told;
}

tonari_vector_facts facts_of(tonari_vector vector) {
  tonari_vector_facts facts;
  must(tonari_vector_get_facts(vector, &facts));
  return facts;
}

class PlannedRoutes : public VectorTest {
 protected:
  // Of doubles, counted at the MPI.
  void expect_as_predicted(tonari_vector vector, const Sharing& s, Flowing what,
                           const Prediction& wanted) {
    const bool forward = what == Flowing::values;
    std::vector<double> x(static_cast<std::size_t>(s.mine().count), 1), ghosts(s.my_needs().size());
    const Info info{
        {"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}, {"tonari_algorithm", "linear"}};
    tonari_request request = TONARI_REQUEST_NULL;
    must(forward
             ? tonari_vector_forward_init(vector, nullptr, x.data(), ghosts.data(), info, &request)
             : tonari_vector_reverse_init(vector, nullptr, MPI_SUM, ghosts.data(), x.data(), info,
                                          &request));
    for (int start = 0; start < 3; ++start) {
      arm();
      const int codes = tonari_start(request) | tonari_wait(request);
      const Counts counts = disarm();
      EXPECT_EQ(codes, 0);
      if (start > 0) {
        EXPECT_EQ(counts.allocations, 0);
      }
      EXPECT_EQ(counts.sends, wanted.sends);
    }
    tonari_request_info about;
    must(tonari_request_get_info(request, &about));
    EXPECT_EQ(about.messages, wanted.sends);
    EXPECT_EQ(static_cast<std::int64_t>(about.bytes), 8 * wanted.sent);
    expect_told(tonari_request_describe(request), wanted, forward);
    must(tonari_request_free(&request));
  }

  void expect_as_predicted(const Sharing& s, const Planned& route) {
    tonari_vector vector = make_vector(s, route.route);
    for (const Flowing what : {Flowing::values, Flowing::sums}) {
      SCOPED_TRACE(what == Flowing::sums ? "sums" : "values");
      const Prediction wanted(what, s, route);
      EXPECT_LE(wanted.all, wanted.all_blocks);
      EXPECT_LE(wanted.messages.size(), wanted.planned);
      expect_as_predicted(vector, s, what, wanted);
      if (what == Flowing::sums) continue;
      const tonari_vector_facts facts = facts_of(vector);
      EXPECT_EQ(facts.stages, static_cast<int>(wanted.to.size()));
      EXPECT_EQ(facts.targets, wanted.sends);
      EXPECT_EQ(facts.sources, wanted.receives);
      EXPECT_EQ(facts.values_sent, wanted.sent);
      EXPECT_EQ(facts.values_received, wanted.received);
    }
    must(tonari_vector_free(&vector));
  }

 private:
  static void expect_told(const std::string& text, const Prediction& wanted, bool forward) {
    std::vector<std::size_t> told = wanted.sends_of_hops();
    told.insert(told.begin(), static_cast<std::size_t>(wanted.sends));
    EXPECT_EQ(told_messages(text), told) << text;
    const std::string sent = std::to_string(wanted.sent),
                      blocks = std::to_string(wanted.blocks_sent),
                      values = forward
                                   ? "sends values once per hop: " + sent + " instead of " + blocks
                                   : "adds on the way: sends " + sent + " sums instead of " +
                                         blocks + " values";
    EXPECT_NE(text.find(values), text.npos) << text << "\nlacks " << values;
  }
};

TEST_F(PlannedRoutes, MessagesAndValuesAreAsCounted) {
  const int cases = very_slow() ? 1 : crowded() ? 3 : 12;
  for (int k = 0; k < cases; ++k) {
    Random common(static_cast<unsigned>(500 + 100 * k + world_size()));
    const Sharing s = draw_sharing(common, all_needs[k % 4], pick(common, 1, 30));
    for (const Planned& route : planned_routes) {
      SCOPED_TRACE("case " + std::to_string(k) + ", route " + route.route);
      expect_as_predicted(s, route);
    }
  }
}

// All ranks need what rank 0 has, and a little of each other. Where ranks relieve it, each value
// goes over a hop once; and no message of the plan is left out, so they are those that
// `tonari share` counts.
TEST_F(PlannedRoutes, ContributionsThatMeetGoOnAsOne) {
  Sharing s;
  for (int r = 0; r < world_size(); ++r) {
    s.own.push_back({3 * r, 3});
    s.needs.push_back({0, 1, 2, 3 * ((r + 1) % world_size()), 3 * ((r + 2) % world_size())});
  }
  s.size = 3 * world_size();
  for (const Flowing what : {Flowing::values, Flowing::sums}) {
    const Prediction wanted(what, s, planned_routes[0]);
    EXPECT_EQ(wanted.messages.size(), wanted.planned);
    if (world_size() >= 5) {
      EXPECT_LT(wanted.all, wanted.all_blocks);
      EXPECT_EQ(wanted.to.size(), 2u);
    }
  }
  expect_as_predicted(s, planned_routes[0]);
}

template <class T>
std::vector<T> sums_by(const Sharing& s, const std::string& route, MPI_Datatype type, MPI_Op op,
                       int start_count, const std::function<T(int, std::size_t)>& value) {
  tonari_vector vector = make_vector(s, route);
  std::vector<T> owned(static_cast<std::size_t>(2 * s.mine().count)),
      ghosts(2 * s.my_needs().size()), all;
  tonari_vector_values values{};
  values.type = type, values.components = 2;
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_vector_reverse_init(vector, &values, op, ghosts.data(), owned.data(),
                                  Info{{"tonari_tune", "off"}}, &request));
  for (int start = 0; start < start_count; ++start) {
    for (std::size_t k = 0; k < ghosts.size(); ++k) ghosts[k] = value(start, k);
    std::ranges::fill(owned, static_cast<T>(start));
    if (start % 3 == 2)
      must(tonari_vector_reverse(vector, &values, op, ghosts.data(), owned.data()));
    else
      run(request);
    all.insert(all.end(), owned.begin(), owned.end());
  }
  must(tonari_request_free(&request));
  must(tonari_vector_free(&vector));
  return all;
}

// Values differ in every start, by rank, position and component; early ones are large, so that
// what is left of them would show.
template <class T>
T drawn(int start, std::size_t k) {
  const auto number =
      static_cast<double>(mix(static_cast<std::uint64_t>(start * 1000 + world_rank()) * 4096 + k) %
                          100'000) -
      50'000;
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(number / 777 * std::pow(10.0, 3 - start));
  else
    return static_cast<T>(number * (start == 0 ? 100 : 1));
}

// The largest sum of absolute values at an owner, as rounding is relative to that.
template <class T>
double bound(const Sharing& s, int start) {
  double mine = 0;
  for (std::size_t k = 0; k < 2 * s.my_needs().size(); ++k)
    mine += std::abs(static_cast<double>(drawn<T>(start, k)));
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (mine + start) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
void expect_direct_sums(const Sharing& s, const std::string& route, MPI_Datatype type, MPI_Op op) {
  const int starts = 5;
  const std::vector<T> direct = sums_by<T>(s, "direct", type, op, starts, drawn<T>),
                       planned = sums_by<T>(s, route, type, op, starts, drawn<T>);
  const std::size_t length = direct.size() / starts;
  for (int start = 0; start < starts; ++start) {
    const bool rounded = std::is_floating_point_v<T> && op == MPI_SUM;
    const double most = rounded ? 2 * bound<T>(s, start) : 0;  // all ranks: none leaves early
    std::size_t others = 0;
    for (std::size_t i = start * length; i < (start + 1) * length; ++i)
      others += std::abs(static_cast<double>(direct[i]) - static_cast<double>(planned[i])) > most;
    EXPECT_EQ(others, 0u) << "start " << start << ", " << route;
  }
}

TEST_F(PlannedRoutes, SumsAreTheDirectOnes) {
  const int cases = very_slow() ? 1 : crowded() ? 3 : 6;
  for (int k = 0; k < cases; ++k) {
    Random common(static_cast<unsigned>(900 + 100 * k + world_size()));
    const Sharing s = draw_sharing(common, all_needs[k % 3], 20);
    const std::string route = planned_routes[k % std::size(planned_routes)].route;
    const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX};
    for (const MPI_Op op : ops) {
      if (crowded() && op != ops[k % 3]) continue;  // each once
      expect_direct_sums<double>(s, route, MPI_DOUBLE, op);
      if (very_slow()) break;
      expect_direct_sums<float>(s, route, MPI_FLOAT, op);
      expect_direct_sums<std::int64_t>(s, route, MPI_INT64_T, op);
      expect_direct_sums<std::int32_t>(s, route, MPI_INT32_T, op);
    }
  }
}

// A vector that could not be made leaves nothing behind: the next one works.
TEST_F(PlannedRoutes, UnknownVariantsAreRefused) {
  const Sharing s = ring(4, 3);
  const auto create = [&](const char* route) {
    tonari_vector vector = TONARI_VECTOR_NULL;
    const int code =
        tonari_vector_create(MPI_COMM_WORLD, s.mine().first, s.mine().count,
                             static_cast<std::int64_t>(s.my_needs().size()), s.my_needs().data(),
                             Info{{"tonari_route", route}}, &vector);
    EXPECT_EQ(vector, TONARI_VECTOR_NULL);
    return code;
  };
  expect_everywhere(create("balanced/9 stages"), TONARI_ERR_ARGUMENT,
                    {"tonari_route", "'balanced/9 stages'", "'2 stages' to '8 stages'"});
  expect_everywhere(create("balanced/2 stages price -1"), TONARI_ERR_ARGUMENT,
                    {"tonari_route", "price X"});
  expect_everywhere(create("balance"), TONARI_ERR_ARGUMENT,
                    {"tonari_route", "'balance'", "direct"});
  if (world_size() > 1) {
    expect_everywhere(create("balanced/both"), TONARI_ERR_ARGUMENT,
                      {"tonari_route", "'balanced/both'", "balanced/both ends"});
    expect_everywhere(create("message-sharing/2"), TONARI_ERR_ARGUMENT,
                      {"tonari_route", "message-sharing/levelled", "message-sharing/paper"});
  }
  tonari_vector vector = make_vector(s, "balanced");
  EXPECT_STREQ(facts_of(vector).route, "balanced");
  must(tonari_vector_free(&vector));
}

// What no rank plans alone: ranks plan together, by any variant.
TEST_F(PlannedRoutes, VariantsThatRanksPlanTogether) {
  if (very_slow()) GTEST_SKIP() << "how ranks plan together does not depend on the MPI";
  Random common(static_cast<unsigned>(77 + world_size()));
  const Sharing s = draw_sharing(common, Needs::random, 20);
  for (const char* const route :
       {"balanced/receivers", "balanced/both ends", "balanced/senders twice",
        "balanced/whole pattern", "message-sharing/paper", "message-sharing/levelled phase II",
        "message-sharing/paper phase II in two steps"})
    expect_direct_sums<std::int64_t>(s, route, MPI_INT64_T, MPI_SUM);
}

}  // namespace
